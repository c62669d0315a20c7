//! The rules for single words, which implement the steps of a chain; see `schema/chain.rs` for the syntax of
//! chains.
//!
//! A rule only depends on the word, so `rewrite.rs` can remember the results for frequent words. Words are
//! bytes: invalid UTF-8 is unchanged, and stemmers ignore words with invalid UTF-8. Some rules depend on the
//! spelling of the rules before them: folding keeps lower case, and a list of stop words is spelled like the
//! words.

use std::collections::HashSet;
use std::mem::swap;
use std::ops::RangeInclusive;

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::Fold;
use super::porter::Porter;
use super::stop::stop_words;
use crate::schema::MAX_TOKEN;
use crate::schema::{Analyzer, Base, Step, StopWords};

/// The stemmers of [`LANGUAGES`](crate::schema::LANGUAGES), in their order. Greek is left out, because its
/// stemmer cuts beyond the end of some words, such as ισαισα, and panics.
const ALGORITHMS: [Algorithm; 17] = [
    Algorithm::Arabic,
    Algorithm::Danish,
    Algorithm::Dutch,
    Algorithm::English,
    Algorithm::Finnish,
    Algorithm::French,
    Algorithm::German,
    Algorithm::Hungarian,
    Algorithm::Italian,
    Algorithm::Norwegian,
    Algorithm::Portuguese,
    Algorithm::Romanian,
    Algorithm::Russian,
    Algorithm::Spanish,
    Algorithm::Swedish,
    Algorithm::Tamil,
    Algorithm::Turkish,
];

/// The maximum length of a word for a Snowball stemmer, in bytes; longer words are unchanged. Stemmers copy
/// the rest of a word for each letter that they change, so a word of 32 KiB would take up to 50 ms, and no
/// language has such words.
const LONGEST_STEMMED: usize = 256;

/// The endings of an English possessive.
const POSSESSIVES: [&str; 6] = ["'s", "'S", "\u{2019}s", "\u{2019}S", "\u{ff07}s", "\u{ff07}S"];

/// A step that is ready to be applied.
pub(super) enum WordRule {
    Lowercase,
    Fold(Fold),
    Possessive,
    Stop(HashSet<Box<[u8]>>),
    Porter(Porter),
    Snowball(Stemmer),
    Length(RangeInclusive<usize>),
}

impl WordRule {
    /// The rule of a step; `spelled` are the rules that spell the words before it. `None` for n-grams, which
    /// turn one word into several.
    fn new(step: &Step, spelled: &mut [WordRule]) -> Option<Self> {
        Some(match step {
            Step::Lowercase => WordRule::Lowercase,
            Step::Fold => {
                WordRule::Fold(Fold::new(spelled.iter().any(|before| matches!(before, WordRule::Lowercase))))
            }
            Step::Possessive => WordRule::Possessive,
            Step::Stop(StopWords::Of(language)) => {
                WordRule::stop(stop_words(*language).iter().map(AsRef::as_ref), spelled)
            }
            Step::Stop(StopWords::Words(words)) => WordRule::stop(words.iter().map(String::as_str), spelled),
            Step::Porter => WordRule::Porter(Porter::default()),
            Step::Snowball(language) => {
                let algorithm = ALGORITHMS.get(language.number()).copied().unwrap_or(Algorithm::English);
                WordRule::Snowball(Stemmer::create(algorithm))
            }
            Step::Length { min, max } => WordRule::Length(usize::from(*min)..=usize::from(*max)),
            Step::Grams(_) => return None,
        })
    }

    /// Removes words as they are listed, and as the rules before spell them.
    fn stop<'a>(words: impl Iterator<Item = &'a str>, spelled: &mut [WordRule]) -> Self {
        let (mut set, mut spare) = (HashSet::new(), Vec::new());
        for listed in words {
            let mut word = listed.as_bytes().to_vec();
            spelled.iter_mut().for_each(|before| before.apply(&mut word, &mut spare));
            set.insert(listed.as_bytes().into());
            set.insert(word.into_boxed_slice());
        }
        WordRule::Stop(set)
    }

    /// True if words of unchanged length keep their bytes in place.
    pub(super) fn keeps_places(&self) -> bool {
        !matches!(self, WordRule::Fold(_) | WordRule::Snowball(_))
    }

    /// Changes a word; a removed word becomes empty. `spare` is overwritten.
    pub(super) fn apply(&mut self, word: &mut Vec<u8>, spare: &mut Vec<u8>) {
        match self {
            WordRule::Lowercase if word.is_ascii() => word.make_ascii_lowercase(),
            WordRule::Lowercase => rewrite(word, spare, lower),
            WordRule::Fold(_) if word.is_ascii() => {}
            WordRule::Fold(fold) => rewrite(word, spare, |text, out| fold.apply(text, out)),
            WordRule::Possessive => {
                if let Some(ending) = POSSESSIVES.iter().find(|ending| word.ends_with(ending.as_bytes())) {
                    word.truncate(word.len() - ending.len());
                }
            }
            WordRule::Stop(words) => {
                if words.contains(word.as_slice()) {
                    word.clear();
                }
            }
            WordRule::Porter(porter) => porter.apply(word),
            WordRule::Snowball(stemmer) => snowball(stemmer, word),
            WordRule::Length(allowed) => {
                if !allowed.contains(&characters(word)) {
                    word.clear();
                }
            }
        }
    }
}

/// The rules of an analyzer, in order.
pub(super) fn rules(analyzer: &Analyzer) -> Vec<WordRule> {
    let (base, steps) = (analyzer.base(), analyzer.steps());
    let rule = |(at, step)| WordRule::new(step, &mut spelling_rules(base, &steps[..at]));
    steps.iter().enumerate().filter_map(rule).collect()
}

/// The rules that a tokenizer and `steps` apply to every character of a word.
fn spelling_rules(base: Base, steps: &[Step]) -> Vec<WordRule> {
    let mut rules = Vec::new();
    if matches!(base, Base::Standard | Base::Code) {
        rules.push(WordRule::Lowercase);
    }
    for step in steps.iter().filter(|step| matches!(step, Step::Lowercase | Step::Fold)) {
        let rule = WordRule::new(step, &mut rules);
        rules.extend(rule);
    }
    rules
}

/// Replaces the parts of a word that are UTF-8; a word that gets too long is cut.
fn rewrite(word: &mut Vec<u8>, spare: &mut Vec<u8>, mut each: impl FnMut(&str, &mut Vec<u8>)) {
    spare.clear();
    for chunk in word.utf8_chunks() {
        each(chunk.valid(), spare);
        spare.extend_from_slice(chunk.invalid());
    }
    spare.truncate(MAX_TOKEN);
    swap(word, spare);
}

/// Appends a text in lower case, one character for one, as [`Base::Standard`](crate::schema::Base) does.
fn lower(text: &str, out: &mut Vec<u8>) {
    for c in text.chars().filter_map(|c| c.to_lowercase().next()) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn snowball(stemmer: &Stemmer, word: &mut Vec<u8>) {
    if word.len() > LONGEST_STEMMED {
        return;
    }
    // Invalid UTF-8 is not stemmed.
    if let Ok(text) = std::str::from_utf8(word) {
        let stem = stemmer.stem(text);
        if stem != text && !stem.is_empty() {
            let stem = stem.into_owned();
            word.clear();
            word.extend_from_slice(stem.as_bytes());
        }
    }
}

/// Number of characters of a word; a byte that starts none belongs to the character before, as in n-grams.
fn characters(word: &[u8]) -> usize {
    word.iter().enumerate().filter(|(at, byte)| *at == 0 || **byte & 0xc0 != 0x80).count()
}

/// Spells a part of a term, from a pattern for example, as the analyzer spells terms: character for
/// character. Rules that look at whole words, such as stemmers, are not applied.
pub(crate) fn spelling(analyzer: &Analyzer, text: &str) -> String {
    let (mut part, mut spare) = (text.as_bytes().to_vec(), Vec::new());
    for mut rule in spelling_rules(analyzer.base(), &analyzer.steps()) {
        let before = part.clone();
        rule.apply(&mut part, &mut spare);
        // A lone accent is not a term, and must not become a prefix of all terms.
        if part.is_empty() {
            part = before;
        }
    }
    String::from_utf8_lossy(&part).into_owned()
}

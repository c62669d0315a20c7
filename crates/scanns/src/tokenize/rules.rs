//! What a step of a chain makes of one word; see `schema/chain.rs` for how chains are written.
//!
//! A rule sees nothing but the word, so what becomes of a frequent word can be remembered (`rewrite.rs`). Words are
//! bytes: what is no UTF-8 stays as it is, and stemmers leave such words alone. What a rule does depends on how the words
//! that come to it are spelled: folding keeps lower case, and a list of stop words is spelled as they are.

use std::collections::HashSet;
use std::mem::swap;
use std::ops::RangeInclusive;

use rust_stemmers::{Algorithm, Stemmer};

use super::MAX_TOKEN;
use super::fold::Fold;
use super::porter::Porter;
use super::stop::stop_words;
use crate::schema::{Analyzer, Base, Step, StopWords};

/// The stemmers of [`LANGUAGES`](crate::schema::LANGUAGES), in their order. That of Greek is left out: on some words,
/// such as ισαισα, it cuts beyond the end of the word and panics.
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

/// Longest word that a Snowball stemmer gets, in bytes; longer ones stay as they are. Stemmers copy the rest of a word
/// with each letter that they change, so that one of 32 KiB takes up to 50 ms, and no language has such words.
const LONGEST_STEMMED: usize = 256;

/// The endings of an English possessive.
const POSSESSIVES: [&str; 6] = ["'s", "'S", "\u{2019}s", "\u{2019}S", "\u{ff07}s", "\u{ff07}S"];

/// A step, ready to work.
pub(super) enum Rule {
    Lowercase,
    Fold(Fold),
    Possessive,
    Stop(HashSet<Box<[u8]>>),
    Porter(Porter),
    Snowball(Stemmer),
    Length(RangeInclusive<usize>),
}

impl Rule {
    /// That of a step, with the rules that have spelled the words before it; `None` for n-grams, which make several words
    /// of one.
    fn new(step: &Step, spelled: &mut [Rule]) -> Option<Self> {
        Some(match step {
            Step::Lowercase => Rule::Lowercase,
            Step::Fold => {
                Rule::Fold(Fold::new(spelled.iter().any(|before| matches!(before, Rule::Lowercase))))
            }
            Step::Possessive => Rule::Possessive,
            Step::Stop(StopWords::Of(language)) => {
                Rule::stop(stop_words(*language).iter().map(AsRef::as_ref), spelled)
            }
            Step::Stop(StopWords::Words(words)) => Rule::stop(words.iter().map(String::as_str), spelled),
            Step::Porter => Rule::Porter(Porter::default()),
            Step::Snowball(language) => {
                let algorithm = ALGORITHMS.get(language.number()).copied().unwrap_or(Algorithm::English);
                Rule::Snowball(Stemmer::create(algorithm))
            }
            Step::Length { min, max } => Rule::Length(usize::from(*min)..=usize::from(*max)),
            Step::Grams(_) => return None,
        })
    }

    /// Leaves out words as they are listed, and as they come spelled.
    fn stop<'a>(words: impl Iterator<Item = &'a str>, spelled: &mut [Rule]) -> Self {
        let (mut set, mut spare) = (HashSet::new(), Vec::new());
        for listed in words {
            let mut word = listed.as_bytes().to_vec();
            spelled.iter_mut().for_each(|before| before.apply(&mut word, &mut spare));
            set.insert(listed.as_bytes().into());
            set.insert(word.into_boxed_slice());
        }
        Rule::Stop(set)
    }

    /// True if each byte that is left stands where it did, as far as the length is the same.
    pub(super) fn keeps_places(&self) -> bool {
        !matches!(self, Rule::Fold(_) | Rule::Snowball(_))
    }

    /// Changes a word; nothing is left of one that is left out. `spare` is overwritten.
    pub(super) fn apply(&mut self, word: &mut Vec<u8>, spare: &mut Vec<u8>) {
        match self {
            Rule::Lowercase if word.is_ascii() => word.make_ascii_lowercase(),
            Rule::Lowercase => rewrite(word, spare, lower),
            Rule::Fold(_) if word.is_ascii() => {}
            Rule::Fold(fold) => rewrite(word, spare, |text, out| fold.apply(text, out)),
            Rule::Possessive => {
                if let Some(ending) = POSSESSIVES.iter().find(|ending| word.ends_with(ending.as_bytes())) {
                    word.truncate(word.len() - ending.len());
                }
            }
            Rule::Stop(words) => {
                if words.contains(word.as_slice()) {
                    word.clear();
                }
            }
            Rule::Porter(porter) => porter.apply(word),
            Rule::Snowball(stemmer) => snowball(stemmer, word),
            Rule::Length(allowed) => {
                if !allowed.contains(&characters(word)) {
                    word.clear();
                }
            }
        }
    }
}

/// The rules of an analyzer, in their order.
pub(super) fn rules(analyzer: &Analyzer) -> Vec<Rule> {
    let (base, steps) = (analyzer.base(), analyzer.steps());
    let rule = |(at, step)| Rule::new(step, &mut spelling_rules(base, &steps[..at]));
    steps.iter().enumerate().filter_map(rule).collect()
}

/// What a tokenizer and the steps after it do to each character of a word.
fn spelling_rules(base: Base, steps: &[Step]) -> Vec<Rule> {
    let mut rules = Vec::new();
    if matches!(base, Base::Standard | Base::Code) {
        rules.push(Rule::Lowercase);
    }
    for step in steps.iter().filter(|step| matches!(step, Step::Lowercase | Step::Fold)) {
        let rule = Rule::new(step, &mut rules);
        rules.extend(rule);
    }
    rules
}

/// Replaces what of a word is UTF-8; a word that is too long then is cut.
fn rewrite(word: &mut Vec<u8>, spare: &mut Vec<u8>, mut each: impl FnMut(&str, &mut Vec<u8>)) {
    spare.clear();
    for chunk in word.utf8_chunks() {
        each(chunk.valid(), spare);
        spare.extend_from_slice(chunk.invalid());
    }
    spare.truncate(MAX_TOKEN);
    swap(word, spare);
}

/// Appends a text in lower case: one character for one, as [`Base::Standard`](crate::schema::Base) does.
fn lower(text: &str, out: &mut Vec<u8>) {
    for c in text.chars().filter_map(|c| c.to_lowercase().next()) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn snowball(stemmer: &Stemmer, word: &mut Vec<u8>) {
    if word.len() > LONGEST_STEMMED {
        return;
    }
    // What is no text is not stemmed.
    if let Ok(text) = std::str::from_utf8(word) {
        let stem = stemmer.stem(text);
        if stem != text && !stem.is_empty() {
            let stem = stem.into_owned();
            word.clear();
            word.extend_from_slice(stem.as_bytes());
        }
    }
}

/// Characters of a word; a byte that begins none belongs to the one before, as in n-grams.
fn characters(word: &[u8]) -> usize {
    word.iter().enumerate().filter(|(at, byte)| *at == 0 || **byte & 0xc0 != 0x80).count()
}

/// A part of a term, as in a pattern, spelled as the terms of an analyzer are: character for character. What stemmers
/// cut off, and what else looks at a whole word, is not done to a part.
pub(crate) fn spelling(analyzer: &Analyzer, text: &str) -> String {
    let (mut part, mut spare) = (text.as_bytes().to_vec(), Vec::new());
    for mut rule in spelling_rules(analyzer.base(), &analyzer.steps()) {
        let before = part.clone();
        rule.apply(&mut part, &mut spare);
        // A lone accent is no term, and must not become the beginning of all.
        if part.is_empty() {
            part = before;
        }
    }
    String::from_utf8_lossy(&part).into_owned()
}

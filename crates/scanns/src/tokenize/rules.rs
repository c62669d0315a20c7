//! What a step of a chain makes of one word; see `schema/chain.rs` for how chains are written.
//!
//! A rule sees nothing but the word, so what becomes of a frequent word can be remembered (`rewrite.rs`). Words are
//! bytes: what is no UTF-8 stays as it is, and stemmers leave such words alone.

use std::collections::HashSet;
use std::mem::swap;
use std::ops::RangeInclusive;

use rust_stemmers::{Algorithm, Stemmer};

use super::MAX_TOKEN;
use super::fold::fold;
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

/// The endings of an English possessive.
const POSSESSIVES: [&str; 6] = ["'s", "'S", "\u{2019}s", "\u{2019}S", "\u{ff07}s", "\u{ff07}S"];

/// A step, ready to work.
pub(super) enum Rule {
    Lowercase,
    Fold(String),
    Possessive,
    Stop(HashSet<Box<[u8]>>),
    Porter(Porter),
    Snowball(Stemmer),
    Length(RangeInclusive<usize>),
}

impl Rule {
    /// That of a step; `None` for n-grams, which make several words of one.
    pub(super) fn new(step: &Step) -> Option<Self> {
        let set = |words: &mut dyn Iterator<Item = &str>| {
            Rule::Stop(words.map(|word| word.as_bytes().into()).collect())
        };
        Some(match step {
            Step::Lowercase => Rule::Lowercase,
            Step::Fold => Rule::Fold(String::new()),
            Step::Possessive => Rule::Possessive,
            Step::Stop(StopWords::Of(language)) => set(&mut stop_words(*language).iter().copied()),
            Step::Stop(StopWords::Words(words)) => set(&mut words.iter().map(String::as_str)),
            Step::Porter => Rule::Porter(Porter::default()),
            Step::Snowball(language) => {
                let algorithm = ALGORITHMS.get(language.number()).copied().unwrap_or(Algorithm::English);
                Rule::Snowball(Stemmer::create(algorithm))
            }
            Step::Length { min, max } => Rule::Length(usize::from(*min)..=usize::from(*max)),
            Step::Grams(_) => return None,
        })
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
            Rule::Fold(buffer) => rewrite(word, spare, |text, out| fold(text, out, buffer)),
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
    // A word that was cut off may end within a character.
    if let Ok(text) = std::str::from_utf8(word) {
        let stem = stemmer.stem(text);
        if stem != text && !stem.is_empty() {
            let stem = stem.into_owned();
            word.clear();
            word.extend_from_slice(stem.as_bytes());
            word.truncate(MAX_TOKEN);
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
    let lower = matches!(analyzer.base(), Base::Standard | Base::Code).then_some(Rule::Lowercase);
    let steps = analyzer.steps();
    let same = steps.iter().filter(|step| matches!(step, Step::Lowercase | Step::Fold)).filter_map(Rule::new);
    for mut rule in lower.into_iter().chain(same) {
        let before = part.clone();
        rule.apply(&mut part, &mut spare);
        // A lone accent is no term, and must not become the beginning of all.
        if part.is_empty() {
            part = before;
        }
    }
    String::from_utf8_lossy(&part).into_owned()
}

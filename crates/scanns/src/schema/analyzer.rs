//! The ways to find terms in text: what they are called, where they allow a cut, what of them stands in an index.
//!
//! An analyzer is a name and its parameters; what it does is in `tokenize/`. Names are for people and may get synonyms,
//! the numbers in files never change.

use super::Delimiters;
use crate::error::{Error, Result};

/// The names that [`Analyzer::parse`] knows, for messages.
const NAMES: &str = "standard, english, snowball:LANGUAGE, whitespace, paths, ancestors, code, keyword, ngram:MIN-MAX or \
                     edge-ngram:MIN-MAX";

/// How terms are found in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Analyzer {
    /// Unicode words (UAX #29), lower-cased; invalid UTF-8 is replaced.
    Standard,
    /// What stands between delimiter bytes, kept byte for byte.
    Bytes(Delimiters),
    /// The words of [`Analyzer::Standard`] without an English possessive `'s`, without Lucene's 33 English stop words,
    /// stemmed by Porter's algorithm: what Lucene's `EnglishAnalyzer` does. A stop word leaves a gap in the positions, and
    /// does not count in the length of its document.
    English,
    /// The words of [`Analyzer::Standard`], stemmed by the Snowball algorithm of a language. No word is left out.
    Snowball(Language),
    /// Runs of characters of the words of [`Analyzer::Standard`], each at a position of its own; a word with fewer
    /// characters is kept.
    Grams(Grams),
    /// Identifiers of programs, lower-cased: what consists of letters, digits and `_`, and, if there are several, its
    /// parts as `camelCase`, `HTTPServer` and `snake_case` show them. The first part has the position of the whole.
    Code,
    /// Every line is a path: it, and every directory above it that it names.
    Ancestors,
    /// The whole text of a value, byte for byte.
    Keyword,
}

/// The languages that have a stemmer, in the order of their numbers in files.
pub const LANGUAGES: [&str; 17] = [
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
];

/// A language that has a stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(u8);

impl Language {
    /// Finds one of [`LANGUAGES`].
    ///
    /// # Errors
    /// [`Error::Options`] for another name.
    pub fn parse(name: &str) -> Result<Self> {
        let found = LANGUAGES.iter().position(|known| *known == name);
        found.and_then(|number| u8::try_from(number).ok()).map(Language).ok_or_else(|| {
            let all = LANGUAGES.join(", ");
            Error::Options(format!("there is no stemmer for '{name}': use one of {all}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        LANGUAGES.get(self.number()).copied().unwrap_or_default()
    }

    /// Its place in [`LANGUAGES`].
    pub(crate) fn number(self) -> usize {
        usize::from(self.0)
    }
}

/// Which runs of characters of a word are terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grams {
    min: u8,
    max: u8,
    edge: bool,
}

/// Most characters of a run.
const MAX_GRAM: u8 = 16;

/// Most lengths of runs, so that a text is not multiplied beyond what an index thread has room for.
const MAX_LENGTHS: u8 = 8;

impl Grams {
    /// Runs of `min` to `max` characters; with `edge` only those at the beginning of a word.
    ///
    /// # Errors
    /// [`Error::Options`] unless 1 ≤ `min` ≤ `max` ≤ 16, and, without `edge`, for more than eight lengths.
    pub fn new(min: u8, max: u8, edge: bool) -> Result<Self> {
        let fits = 0 < min && min <= max && max <= MAX_GRAM && (edge || max - min < MAX_LENGTHS);
        fits.then_some(Grams { min, max, edge }).ok_or_else(|| {
            Error::Options(format!(
                "n-grams of {min} to {max} characters: use 1 to {MAX_GRAM}, and at most {MAX_LENGTHS} lengths, or \
                 edge-ngram"
            ))
        })
    }

    /// Reads `3` or `2-3`.
    fn parse(text: &str, edge: bool) -> Result<Self> {
        let (min, max) = text.split_once('-').unwrap_or((text, text));
        match (min.parse(), max.parse()) {
            (Ok(min), Ok(max)) => Grams::new(min, max, edge),
            _ => Err(Error::Options(format!(
                "n-grams of '{text}' characters: write a number, or two as in 2-3"
            ))),
        }
    }

    /// Fewest characters.
    pub fn min(&self) -> usize {
        usize::from(self.min)
    }

    /// Most characters.
    pub fn max(&self) -> usize {
        usize::from(self.max)
    }

    /// True if only those at the beginning of a word are taken.
    pub fn edge(&self) -> bool {
        self.edge
    }
}

/// What separates identifiers: every ASCII character that is no letter, digit or `_`.
pub(crate) const CODE_BREAKS: Delimiters =
    Delimiters::from_words([0xfc00_ffff_ffff_ffff, 0xf800_0001_7800_0001, 0, 0]);

/// What separates paths.
pub(crate) const LINE_ENDS: Delimiters = Delimiters::new(b"\n\r\0");

impl Analyzer {
    /// Parses a name: `standard`, `english`, `snowball:german`, `whitespace`, `paths`, `ancestors`, `code`, `keyword`,
    /// `ngram:2-3` or `edge-ngram:1-8`, with any language of [`LANGUAGES`] and other numbers.
    ///
    /// # Errors
    /// [`Error::Options`] for another name, which lists those that there are.
    pub fn parse(name: &str) -> Result<Self> {
        let (name, parameter) = name.split_once(':').map_or((name, None), |(name, of)| (name, Some(of)));
        match (name, parameter) {
            ("standard", None) => Ok(Analyzer::Standard),
            ("english", None) => Ok(Analyzer::English),
            ("snowball", Some(language)) => Language::parse(language).map(Analyzer::Snowball),
            ("paths", None) => Ok(Analyzer::Bytes(Delimiters::paths())),
            ("whitespace", None) => Ok(Analyzer::Bytes(Delimiters::whitespace())),
            ("ancestors", None) => Ok(Analyzer::Ancestors),
            ("code", None) => Ok(Analyzer::Code),
            ("keyword", None) => Ok(Analyzer::Keyword),
            ("ngram", Some(lengths)) => Grams::parse(lengths, false).map(Analyzer::Grams),
            ("edge-ngram", Some(lengths)) => Grams::parse(lengths, true).map(Analyzer::Grams),
            ("snowball", None) => {
                let all = LANGUAGES.join(", ");
                Err(Error::Options(format!(
                    "analyzer 'snowball' needs a language, as in snowball:german: {all}"
                )))
            }
            ("ngram" | "edge-ngram", None) => {
                Err(Error::Options(format!("analyzer '{name}' needs lengths, as in {name}:2-3")))
            }
            (_, None) => Err(Error::Options(format!("analyzer '{name}' is unknown: use {NAMES}"))),
            (_, Some(of)) => Err(Error::Options(format!("analyzer '{name}:{of}' is unknown: use {NAMES}"))),
        }
    }

    /// A name for people, which [`Analyzer::parse`] reads, or `delimiters "…"`.
    pub fn name(&self) -> String {
        match self {
            Analyzer::Standard => "standard".into(),
            Analyzer::Bytes(set) if *set == Delimiters::paths() => "paths".into(),
            Analyzer::Bytes(set) if *set == Delimiters::whitespace() => "whitespace".into(),
            Analyzer::Bytes(set) => format!("delimiters \"{set}\""),
            Analyzer::English => "english".into(),
            Analyzer::Snowball(language) => format!("snowball:{}", language.name()),
            Analyzer::Grams(Grams { min, max, edge }) => {
                let kind = if *edge { "edge-ngram" } else { "ngram" };
                format!("{kind}:{min}-{max}")
            }
            Analyzer::Code => "code".into(),
            Analyzer::Ancestors => "ancestors".into(),
            Analyzer::Keyword => "keyword".into(),
        }
    }

    /// True if text may be cut between `last` and `next` without changing the tokens on either side.
    ///
    /// For Unicode words (UAX #29) there are three such places: after a line break (WB3a); between an ASCII byte that
    /// is neither part of a word nor joins two, and ASCII, since a mark that is not ASCII would attach to it (WB4);
    /// and before a Chinese character, which joins with nothing before it (WB999).
    #[inline]
    pub fn may_cut(&self, last: u8, next: u8) -> bool {
        match self {
            Analyzer::Standard | Analyzer::English | Analyzer::Snowball(_) | Analyzer::Grams(_) => {
                let word =
                    last.is_ascii_alphanumeric() || matches!(last, b'_' | b':' | b'.' | b'\'' | b',' | b';');
                let line = matches!(last, b'\n' | 0x0b | 0x0c) || (last == b'\r' && next != b'\n');
                // U+4000 to U+9FFF: ideographs and hexagrams, which no rule of words names.
                line || (last.is_ascii() && !word && next.is_ascii()) || matches!(next, 0xe4..=0xe9)
            }
            Analyzer::Bytes(set) => set.contains(last),
            Analyzer::Code => CODE_BREAKS.contains(last),
            Analyzer::Ancestors => LINE_ENDS.contains(last),
            Analyzer::Keyword => false,
        }
    }

    /// The number that stands for it in files, and its parameters.
    pub(crate) fn code(&self) -> (u32, [u64; 4]) {
        match self {
            Analyzer::Standard => (0, [0; 4]),
            Analyzer::Bytes(delimiters) => (1, delimiters.words()),
            Analyzer::English => (2, [0; 4]),
            Analyzer::Snowball(language) => (3, [u64::from(language.0), 0, 0, 0]),
            Analyzer::Grams(Grams { min, max, edge }) => {
                (4, [u64::from(*min), u64::from(*max), u64::from(*edge), 0])
            }
            Analyzer::Code => (5, [0; 4]),
            Analyzer::Ancestors => (6, [0; 4]),
            Analyzer::Keyword => (7, [0; 4]),
        }
    }

    /// What a number and parameters in a file stand for.
    pub(crate) fn from_code(code: u32, parameters: [u64; 4]) -> Option<Self> {
        let small = |number: u64| u8::try_from(number).ok();
        let [first, second, third, _] = parameters;
        let found = match code {
            0 => Analyzer::Standard,
            1 => Analyzer::Bytes(Delimiters::from_words(parameters)),
            2 => Analyzer::English,
            3 => Analyzer::Snowball(
                small(first).filter(|&of| usize::from(of) < LANGUAGES.len()).map(Language)?,
            ),
            4 => Analyzer::Grams(Grams::new(small(first)?, small(second)?, third == 1).ok()?),
            5 => Analyzer::Code,
            6 => Analyzer::Ancestors,
            7 => Analyzer::Keyword,
            _ => return None,
        };
        // What is not read must be what is written.
        (found.code() == (code, parameters)).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_numbers_too() {
        let names = ["standard", "english", "whitespace", "paths", "ancestors", "code", "keyword"];
        let more = ["ngram:2-3", "ngram:16-16", "edge-ngram:1-16"];
        let languages = LANGUAGES.map(|language| format!("snowball:{language}"));
        for name in names.into_iter().chain(more).chain(languages.iter().map(String::as_str)) {
            let analyzer = Analyzer::parse(name).unwrap();
            assert_eq!(analyzer.name(), name);
            let (code, parameters) = analyzer.code();
            assert_eq!(Analyzer::from_code(code, parameters), Some(analyzer.clone()));
            let odd = [parameters[0], parameters[1], parameters[2], parameters[3] + 1];
            assert_eq!(
                Analyzer::from_code(code, odd).is_some(),
                matches!(analyzer, Analyzer::Bytes(_)),
                "{name}"
            );
        }
        assert_eq!(Analyzer::parse("ngram:3").unwrap().name(), "ngram:3-3");
        assert_eq!(Analyzer::from_code(3, [18, 0, 0, 0]), None);
        assert_eq!(Analyzer::from_code(4, [3, 2, 0, 0]), None);
        assert_eq!(Analyzer::from_code(8, [0; 4]), None);
    }

    #[test]
    fn unknown_names_are_refused_with_those_that_there_are() {
        for (name, hint) in [
            ("klingon", "edge-ngram"),
            ("english:gb", "snowball:LANGUAGE"),
            ("snowball", "swedish"),
            ("snowball:klingon", "swedish"),
            ("ngram", "ngram:2-3"),
            ("ngram:x", "2-3"),
            ("ngram:0-3", "1 to 16"),
            ("ngram:1-9", "edge-ngram"),
            ("edge-ngram:3-17", "1 to 16"),
        ] {
            let error = Analyzer::parse(name).unwrap_err().to_string();
            assert!(error.contains(hint), "{name}: {error}");
        }
    }

    #[test]
    fn identifiers_break_at_every_ascii_byte_that_is_not_part_of_one() {
        for byte in 0..=255u8 {
            let part = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
            assert_eq!(CODE_BREAKS.contains(byte), !part, "byte {byte}");
        }
    }
}

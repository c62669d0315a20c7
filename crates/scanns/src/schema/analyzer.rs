//! Analyzers, which find terms in text: their names, the places where text may be cut, and their form in an
//! index.
//!
//! An analyzer is a name with parameters, or a chain (`chain.rs`); `tokenize/` implements it. Names are for
//! display and may get synonyms. The numbers in files and the text of a chain never change.

use std::borrow::Cow;
use std::str::FromStr;

use super::chain::{Base, Chain, Step, StopWords};
use super::{Delimiters, Grams, Language};
use crate::error::{Error, Result};

/// The names that [`Analyzer::parse`] accepts, for messages.
const NAMES: &str = "standard, english, snowball:LANGUAGE, whitespace, paths, delimiters:BYTES, ancestors, \
    code, keyword, ngram:MIN-MAX, edge-ngram:MIN-MAX or a chain as in 'standard | fold | porter'";

/// A method to find terms in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Analyzer {
    /// Unicode words (UAX #29) as Lucene finds them, lower-cased; invalid UTF-8 is replaced.
    Standard,
    /// The bytes between delimiters, unchanged.
    Bytes(Delimiters),
    /// The words of [`Analyzer::Standard`] without an English possessive `'s` and without Lucene's 33 English
    /// stop words, stemmed by Porter's algorithm, like Lucene's `EnglishAnalyzer`. A stop word leaves a gap
    /// in the positions, and does not count in the length of its document.
    English,
    /// The words of [`Analyzer::Standard`], stemmed by the Snowball algorithm of a language. Stop words are
    /// kept.
    Snowball(Language),
    /// The character n-grams of the words of [`Analyzer::Standard`], each at its own position. A word that is
    /// too short for an n-gram is kept.
    Grams(Grams),
    /// Identifiers of programs, lower-cased: runs of letters, digits and `_`. An identifier with several
    /// parts, as in `camelCase`, `HTTPServer` and `snake_case`, also yields its parts. The first part has the
    /// position of the identifier.
    Code,
    /// Every line is a path. The terms are the path and all directories above it in the path.
    Ancestors,
    /// The whole text of a value, unchanged.
    Keyword,
    /// A tokenizer followed by steps, as given by a user.
    Chain(Chain),
}

/// The number of a chain in files.
pub(crate) const CHAIN: u32 = 8;

impl Analyzer {
    /// Parses a name: `standard`, `english`, `snowball:german`, `whitespace`, `paths`, `delimiters:BYTES`,
    /// `ancestors`, `code`, `keyword`, `ngram:2-3` or `edge-ngram:1-8`, with any language of
    /// [`LANGUAGES`](super::LANGUAGES) and other numbers; or a chain, as in `whitespace | lowercase |
    /// fold | stop:the,of`.
    ///
    /// A chain begins with one of `standard`, `whitespace`, `paths`, `delimiters:BYTES`, `ancestors`, `code`
    /// and `keyword`. Each step gets the words that the previous step returned:
    /// - `lowercase`: Unicode lower case, one character for one;
    /// - `fold`: removes diacritics, and replaces compatibility forms and special Latin letters by plain
    ///   letters, which are in lower case if the words are;
    /// - `possessive`: removes an English `'s`;
    /// - `stop:LANGUAGE`, `stop:WORD,WORD`: removes the words of a list; the list is lower-cased and folded
    ///   if the words are (a single word is written `stop:WORD,`);
    /// - `porter`, `snowball:LANGUAGE`: replaces words by their stems; Snowball leaves words of more than 256
    ///   bytes unchanged;
    /// - `length:MIN-MAX`: removes words whose number of characters is not in this range;
    /// - `ngram:MIN-MAX`, `edge-ngram:MIN-MAX`, as the last step: replaces words by their character n-grams.
    ///
    /// A word that is removed or becomes empty leaves a gap in the positions.
    ///
    /// # Errors
    /// [`Error::InvalidAnalyzer`] for an unknown name (the message lists the known names), for an invalid
    /// chain (the message names the step), and for more than 16 steps or 64 KiB.
    pub fn parse(name: &str) -> Result<Self> {
        if name.contains('|') {
            return Chain::parse(name).map(Analyzer::Chain);
        }
        if let Some(base) = Base::parse(name)? {
            return Ok(match base {
                Base::Standard => Analyzer::Standard,
                Base::Bytes(delimiters) => Analyzer::Bytes(delimiters),
                Base::Code => Analyzer::Code,
                Base::Ancestors => Analyzer::Ancestors,
                Base::Keyword => Analyzer::Keyword,
            });
        }
        let refuse = |why: &str| {
            Err(Error::InvalidAnalyzer { part: format!("analyzer '{name}'"), problem: why.to_owned() })
        };
        match (Step::parse(name), name.split(':').next()) {
            _ if name == "english" => Ok(Analyzer::English),
            (Ok(Step::Snowball(language)), _) => Ok(Analyzer::Snowball(language)),
            (Ok(Step::Grams(grams)), _) => Ok(Analyzer::Grams(grams)),
            (Ok(_), _) => refuse(&format!("is a step of a chain: write standard | {name}")),
            (Err(why), Some("snowball" | "ngram" | "edge-ngram")) => {
                refuse(&format!("is not complete: {why}"))
            }
            _ => refuse(&format!("is unknown: use {NAMES}")),
        }
    }

    /// The name that [`Analyzer::parse`] accepts.
    pub fn name(&self) -> String {
        match self {
            Analyzer::English => "english".into(),
            Analyzer::Snowball(_) | Analyzer::Grams(_) => self.steps().iter().map(Step::to_string).collect(),
            Analyzer::Chain(chain) => chain.to_string(),
            _ => self.base().to_string(),
        }
    }

    /// The tokenizer, which finds the words.
    #[inline]
    pub(crate) fn base(&self) -> Base {
        match self {
            Analyzer::Standard | Analyzer::English | Analyzer::Snowball(_) | Analyzer::Grams(_) => {
                Base::Standard
            }
            Analyzer::Bytes(delimiters) => Base::Bytes(*delimiters),
            Analyzer::Code => Base::Code,
            Analyzer::Ancestors => Base::Ancestors,
            Analyzer::Keyword => Base::Keyword,
            Analyzer::Chain(chain) => chain.base(),
        }
    }

    /// The steps after the tokenizer, in order.
    pub(crate) fn steps(&self) -> Cow<'_, [Step]> {
        match self {
            Analyzer::English => {
                vec![Step::Possessive, Step::Stop(StopWords::Of(Language::ENGLISH)), Step::Porter].into()
            }
            Analyzer::Snowball(language) => vec![Step::Snowball(*language)].into(),
            Analyzer::Grams(grams) => vec![Step::Grams(*grams)].into(),
            Analyzer::Chain(chain) => chain.steps().into(),
            _ => [].as_slice().into(),
        }
    }

    /// True if text may be cut between `last` and `next` without changing the tokens on either side.
    ///
    /// Unicode words (UAX #29) allow a cut in three places: after a line break (WB3a); between two ASCII
    /// bytes of which the first is neither part of a word nor joins two words (a mark that is not ASCII would
    /// attach to it, WB4); and before a Chinese character, which never joins with the character before it
    /// (WB999). Steps see one word at a time.
    #[inline]
    pub fn may_cut(&self, last: u8, next: u8) -> bool {
        self.base().may_cut(last, next)
    }

    /// The number of the analyzer in files, and its parameters. The text of a chain, [`CHAIN`], follows them.
    pub(crate) fn code(&self) -> (u32, [u64; 4]) {
        match self {
            Analyzer::Standard => (0, [0; 4]),
            Analyzer::Bytes(delimiters) => (1, delimiters.words()),
            Analyzer::English => (2, [0; 4]),
            Analyzer::Snowball(language) => (3, [language.number() as u64, 0, 0, 0]),
            Analyzer::Grams(grams) => (4, grams.parameters()),
            Analyzer::Code => (5, [0; 4]),
            Analyzer::Ancestors => (6, [0; 4]),
            Analyzer::Keyword => (7, [0; 4]),
            Analyzer::Chain(_) => (CHAIN, [0; 4]),
        }
    }

    /// The analyzer with a number and parameters in a file. [`Chain::from_stored`] reads chains.
    pub(crate) fn from_code(code: u32, parameters: [u64; 4]) -> Option<Self> {
        let small = |number: u64| u8::try_from(number).ok();
        let [first, second, third, _] = parameters;
        let found = match code {
            0 => Analyzer::Standard,
            1 => Analyzer::Bytes(Delimiters::from_words(parameters)),
            2 => Analyzer::English,
            3 => Analyzer::Snowball(Language::from_number(small(first)?)?),
            4 => Analyzer::Grams(Grams::new(small(first)?, small(second)?, third == 1).ok()?),
            5 => Analyzer::Code,
            6 => Analyzer::Ancestors,
            7 => Analyzer::Keyword,
            _ => return None,
        };
        // Only accept what [`Self::code`] writes.
        (found.code() == (code, parameters)).then_some(found)
    }
}

impl FromStr for Analyzer {
    type Err = Error;

    /// Parses a name as [`Analyzer::parse`] does.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LANGUAGES;

    #[test]
    fn names_parse_back_and_numbers_too() {
        let names = ["standard", "english", "whitespace", "paths", "ancestors", "code", "keyword"];
        let more = ["ngram:2-3", "ngram:16-16", "edge-ngram:1-16", "delimiters:,;\\x7c"];
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
        assert_eq!(Analyzer::from_code(CHAIN, [0; 4]), None);
        assert_eq!(Language::ENGLISH.name(), "english");
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
            ("lowercase", "standard | lowercase"),
            ("delimiters:", "at least one"),
        ] {
            let error = Analyzer::parse(name).unwrap_err().to_string();
            assert!(error.contains(hint), "{name}: {error}");
        }
    }
}

//! The languages of stemmers and lists of stop words.
//!
//! A language is stored as its number, which never changes; `tokenize/` contains the data of each language.

use std::str::FromStr;

use crate::error::{Error, Result};

/// The languages with a stemmer, in the order of their numbers in files.
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

/// A language with a stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(u8);

impl Language {
    /// The language of [`Analyzer::English`](super::Analyzer::English).
    pub(super) const ENGLISH: Self = Language(3);

    /// Finds one of [`LANGUAGES`].
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another name.
    pub fn parse(name: &str) -> Result<Self> {
        let found = LANGUAGES.iter().position(|known| *known == name);
        found.and_then(|number| u8::try_from(number).ok()).map(Language).ok_or_else(|| Error::UnknownName {
            what: "language",
            name: name.into(),
            known: LANGUAGES.join(", "),
        })
    }

    /// The name of the language.
    pub fn name(self) -> &'static str {
        LANGUAGES.get(self.number()).copied().unwrap_or_default()
    }

    /// The language at a place in [`LANGUAGES`].
    pub(super) fn from_number(number: u8) -> Option<Self> {
        (usize::from(number) < LANGUAGES.len()).then_some(Language(number))
    }

    /// The place of the language in [`LANGUAGES`].
    pub(crate) fn number(self) -> usize {
        usize::from(self.0)
    }
}

impl FromStr for Language {
    type Err = Error;

    /// Parses a name as [`Language::parse`] does.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

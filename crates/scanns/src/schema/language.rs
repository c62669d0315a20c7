//! The languages that stemmers and lists of stop words are for.
//!
//! A language is its number in files, which never changes; `tokenize/` has what is known of it.

use std::str::FromStr;

use crate::error::{Error, Result};

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
    /// That of [`Analyzer::English`](super::Analyzer::English).
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

    /// Its name.
    pub fn name(self) -> &'static str {
        LANGUAGES.get(self.number()).copied().unwrap_or_default()
    }

    /// That of a place in [`LANGUAGES`].
    pub(super) fn from_number(number: u8) -> Option<Self> {
        (usize::from(number) < LANGUAGES.len()).then_some(Language(number))
    }

    /// Its place in [`LANGUAGES`].
    pub(crate) fn number(self) -> usize {
        usize::from(self.0)
    }
}

impl FromStr for Language {
    type Err = Error;

    /// See [`Language::parse`].
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

//! How the bytes of an index are to be understood: which analyzer finds terms, what a document is.
//!
//! These values travel with the index (they stand in its manifest), so that a query is analyzed as the
//! documents were. `fields.rs` says of what fields documents consist, `document.rs` is one; `delimiters.rs` is the byte set that separates tokens.

mod delimiters;
mod document;
mod fields;
mod stored;

pub use delimiters::Delimiters;
pub(crate) use document::decode_stored;
pub use document::{Document, Value};
pub use fields::{Field, FieldEntry, FieldKind, MAX_FIELDS, Schema};
pub use stored::{Compression, Store, Stored};

use crate::error::{Error, Result};

/// What one document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// One document per file.
    File,
    /// One document per line, empty ones included, so that line numbers and documents go together.
    Lines,
}

impl Records {
    /// Parses `file` or `lines`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "file" => Ok(Records::File),
            "lines" => Ok(Records::Lines),
            other => Err(Error::Options(format!("records '{other}' is unknown: use file or lines"))),
        }
    }
}

/// What is kept of a term in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Postings {
    /// How often it occurs there.
    #[default]
    Frequencies,
    /// Where it stands too: the numbers, from 0, of the tokens of the document that are the term.
    Positions,
    /// That it occurs there, and no more.
    Documents,
    /// Positions, and of each occurrence where it begins and ends in the text.
    ///
    /// That is in bytes of the text as it was read: of a file, of a line, of a value of the field. Where a document has
    /// several values of a field, each goes on one byte after the end of the one before. From 2³² - 1 on, offsets are that.
    Offsets,
}

impl Postings {
    /// The number that stands for it in files.
    pub(crate) fn code(self) -> u32 {
        match self {
            Postings::Frequencies => 0,
            Postings::Positions => 1,
            Postings::Documents => 2,
            Postings::Offsets => 3,
        }
    }

    /// What a number in a file stands for.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        [Postings::Frequencies, Postings::Positions, Postings::Documents, Postings::Offsets]
            .into_iter()
            .find(|kept| kept.code() == code)
    }

    /// True if positions are kept.
    pub fn has_positions(self) -> bool {
        matches!(self, Postings::Positions | Postings::Offsets)
    }

    /// True if offsets are kept.
    pub fn has_offsets(self) -> bool {
        self == Postings::Offsets
    }
}

/// How terms are found in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Analyzer {
    /// Unicode words (UAX #29), lower-cased; invalid UTF-8 is replaced.
    Standard,
    /// What stands between delimiter bytes, kept byte for byte.
    Bytes(Delimiters),
}

impl Analyzer {
    /// Parses `standard`, `paths` or `whitespace`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "standard" => Ok(Analyzer::Standard),
            "paths" => Ok(Analyzer::Bytes(Delimiters::paths())),
            "whitespace" => Ok(Analyzer::Bytes(Delimiters::whitespace())),
            other => Err(Error::Options(format!(
                "analyzer '{other}' is unknown: use standard, paths or whitespace"
            ))),
        }
    }

    /// A name for people: `standard`, `paths`, `whitespace` or `delimiters "…"`.
    pub fn name(&self) -> String {
        match self {
            Analyzer::Standard => "standard".into(),
            Analyzer::Bytes(set) if *set == Delimiters::paths() => "paths".into(),
            Analyzer::Bytes(set) if *set == Delimiters::whitespace() => "whitespace".into(),
            Analyzer::Bytes(set) => format!("delimiters \"{set}\""),
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
            Analyzer::Standard => {
                let word =
                    last.is_ascii_alphanumeric() || matches!(last, b'_' | b':' | b'.' | b'\'' | b',' | b';');
                let line = matches!(last, b'\n' | 0x0b | 0x0c) || (last == b'\r' && next != b'\n');
                // U+4000 to U+9FFF: ideographs and hexagrams, which no rule of words names.
                line || (last.is_ascii() && !word && next.is_ascii()) || matches!(next, 0xe4..=0xe9)
            }
            Analyzer::Bytes(set) => set.contains(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for name in ["standard", "paths", "whitespace"] {
            assert_eq!(Analyzer::parse(name).unwrap().name(), name);
        }
        assert!(Analyzer::parse("klingon").is_err());
        assert!(Records::parse("page").is_err());
    }
}

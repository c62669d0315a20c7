//! What an index keeps of its documents beside what searching needs.

use std::str::FromStr;

use crate::error::{Error, Result};

/// What is kept of the text of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// Nothing.
    #[default]
    None,
    /// Where it is: it is read from the input again, as long as that has not changed.
    Reference,
    /// Its bytes, in compressed blocks.
    Content,
}

impl Store {
    /// Parses `none`, `reference` or `content`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "none" => Ok(Store::None),
            "reference" => Ok(Store::Reference),
            "content" => Ok(Store::Content),
            other => Err(Error::UnknownName {
                what: "store",
                name: other.into(),
                known: "none, reference or content".into(),
            }),
        }
    }

    /// The name that [`Store::parse`] takes.
    pub fn name(self) -> &'static str {
        match self {
            Store::None => "none",
            Store::Reference => "reference",
            Store::Content => "content",
        }
    }
}

impl FromStr for Store {
    type Err = Error;

    /// See [`Store::parse`].
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// How stored blocks are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4: costs least.
    #[default]
    Lz4,
    /// Zstandard with this level, 1 to 19: takes less space.
    Zstd(u8),
}

impl Compression {
    /// The level of `zstd` without a number.
    pub const ZSTD: Self = Compression::Zstd(1);

    /// Parses `none`, `lz4`, `zstd` or `zstd:LEVEL`.
    pub fn parse(name: &str) -> Result<Self> {
        let level = |level: &str| level.parse().ok().filter(|level| (1..=19).contains(level));
        match (name, name.strip_prefix("zstd:").and_then(level)) {
            ("none", _) => Ok(Compression::None),
            ("lz4", _) => Ok(Compression::Lz4),
            ("zstd", _) => Ok(Compression::ZSTD),
            (_, Some(level)) => Ok(Compression::Zstd(level)),
            (other, None) => Err(Error::UnknownName {
                what: "compression",
                name: other.into(),
                known: "lz4, zstd, zstd:LEVEL with a level from 1 to 19, or none".into(),
            }),
        }
    }

    /// The name that [`Compression::parse`] takes.
    pub fn name(self) -> String {
        match self {
            Compression::None => "none".into(),
            Compression::Lz4 => "lz4".into(),
            Compression::Zstd(level) => format!("zstd:{level}"),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// See [`Compression::parse`].
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// What is kept of documents, in all segments of an index alike; only the compression may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// What is kept of their text.
    pub store: Store,
    /// How what is kept is compressed.
    pub compression: Compression,
    /// Whether the terms of each document are kept, in order, with their places.
    pub vectors: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for store in [Store::None, Store::Reference, Store::Content] {
            assert_eq!(Store::parse(store.name()).unwrap(), store);
        }
        let all = [Compression::None, Compression::Lz4, Compression::Zstd(1), Compression::Zstd(19)];
        for compression in all {
            assert_eq!(Compression::parse(&compression.name()).unwrap(), compression);
        }
        assert_eq!(Compression::parse("zstd").unwrap(), Compression::ZSTD);
        for wrong in ["", "zstd:", "zstd:0", "zstd:20", "zstd:-1", "gzip"] {
            assert!(Compression::parse(wrong).is_err() && Store::parse(wrong).is_err(), "{wrong}");
        }
    }
}

//! The data of documents that an index stores in addition to its search structures.

use std::str::FromStr;

use crate::error::{Error, Result};

/// How an index stores the text of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// The text is not stored.
    #[default]
    None,
    /// The text is read from its input again, as long as the input has not changed.
    Reference,
    /// The bytes of the text are stored in compressed blocks.
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

    /// The name that [`Store::parse`] accepts.
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

    /// Parses a name as [`Store::parse`] does.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// The compression of stored blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// LZ4: the fastest.
    #[default]
    Lz4,
    /// Zstandard with this level, 1 to 19: smaller.
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

    /// The name that [`Compression::parse`] accepts.
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

    /// Parses a name as [`Compression::parse`] does.
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// What an index stores of its documents. All segments of an index agree, except for the compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// How the text is stored.
    pub store: Store,
    /// The compression of stored data.
    pub compression: Compression,
    /// Whether the terms of each document are stored, in order, with their positions.
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

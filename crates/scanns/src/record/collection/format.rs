//! The formats of collections.

use crate::schema::Records;

/// The format of the records of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionFormat {
    /// Records of web archives: WARC and ARC.
    Warc,
    /// Documents of TREC collections in SGML, and web pages of TREC.
    Trec,
    /// Documents of the SMART system, such as CACM.
    Smart,
    /// Messages of mailboxes, or single messages.
    Mbox,
    /// Pages of a dump of MediaWiki.
    MediaWiki,
}

impl CollectionFormat {
    /// The format of records; `None` if they have no fields, or fields that are found out from a sample.
    pub fn of(records: Records) -> Option<Self> {
        Some(match records {
            Records::Warc => CollectionFormat::Warc,
            Records::Trec => CollectionFormat::Trec,
            Records::Smart => CollectionFormat::Smart,
            Records::Mbox => CollectionFormat::Mbox,
            Records::MediaWiki => CollectionFormat::MediaWiki,
            Records::File | Records::Lines | Records::Jsonl | Records::Csv => return None,
        })
    }

    /// True if every record says in which character encoding it is. Others are files of text in one encoding.
    pub fn has_encodings(self) -> bool {
        matches!(self, CollectionFormat::Warc | CollectionFormat::Mbox)
    }
}

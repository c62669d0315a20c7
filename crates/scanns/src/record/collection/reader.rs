//! Reads one record of a collection.

use super::format::CollectionFormat;
use super::note::RecordNote;
use crate::record::corpus::mbox::MboxReader;
use crate::record::corpus::mediawiki::MediaWikiReader;
use crate::record::corpus::smart::SmartReader;
use crate::record::corpus::trec::TrecReader;
use crate::record::error::RecordError;
use crate::record::log::{AccessReader, JournalReader, SyslogReader};
use crate::record::made_record::MadeRecord;
use crate::record::warc::{WarcContent, WarcReader};

/// Reads the records of a collection.
pub enum CollectionReader {
    Warc(Box<WarcReader>),
    Trec(Box<TrecReader>),
    Smart(SmartReader),
    Mbox(Box<MboxReader>),
    MediaWiki(Box<MediaWikiReader>),
    Access(Box<AccessReader>),
    Syslog(Box<SyslogReader>),
    Journal(Box<JournalReader>),
}

impl CollectionReader {
    /// `now` is the time of the build, in seconds since 1970: logs leave out the year of their dates.
    pub fn new(format: CollectionFormat, now: i64) -> Self {
        match format {
            CollectionFormat::Warc => CollectionReader::Warc(Box::default()),
            CollectionFormat::Trec => CollectionReader::Trec(Box::default()),
            CollectionFormat::Smart => CollectionReader::Smart(SmartReader::default()),
            CollectionFormat::Mbox => CollectionReader::Mbox(Box::new(MboxReader::with_charsets(to_utf8))),
            CollectionFormat::MediaWiki => CollectionReader::MediaWiki(Box::default()),
            CollectionFormat::Access => CollectionReader::Access(Box::default()),
            CollectionFormat::Syslog => CollectionReader::Syslog(Box::new(SyslogReader::new(now))),
            CollectionFormat::Journal => CollectionReader::Journal(Box::default()),
        }
    }

    /// The names of values, by number.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            CollectionReader::Warc(_) => &WarcReader::NAMES,
            CollectionReader::Trec(_) => &TrecReader::NAMES,
            CollectionReader::Smart(_) => &SmartReader::NAMES,
            CollectionReader::Mbox(_) => &MboxReader::NAMES,
            CollectionReader::MediaWiki(_) => &MediaWikiReader::NAMES,
            CollectionReader::Access(_) => &AccessReader::NAMES,
            CollectionReader::Syslog(_) => &SyslogReader::NAMES,
            CollectionReader::Journal(_) => &JournalReader::NAMES,
        }
    }

    /// Makes the values of a record; returns false if it is not a document. What is unusual about it goes to
    /// `notes`.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn read(
        &mut self,
        record: &[u8],
        into: &mut MadeRecord,
        notes: &mut Vec<RecordNote>,
    ) -> Result<bool, RecordError> {
        into.clear();
        notes.clear();
        let is_document = match self {
            CollectionReader::Warc(reader) => match reader.read(record, into)? {
                WarcContent::Document => true,
                WarcContent::LeftOut(kind) => {
                    notes.push(RecordNote::LeftOut(kind));
                    false
                }
            },
            CollectionReader::Trec(reader) => reader.read(record, into)?,
            CollectionReader::Smart(reader) => reader.read(record, into)?,
            CollectionReader::Mbox(reader) => reader.read(record, into)?,
            CollectionReader::MediaWiki(reader) => reader.read(record, into)?,
            CollectionReader::Access(reader) => reader.read(record, into)?,
            CollectionReader::Syslog(reader) => reader.read(record, into)?,
            CollectionReader::Journal(reader) => reader.read(record, into)?,
        };
        let deviations = match self {
            CollectionReader::Warc(reader) => reader.deviations(),
            CollectionReader::Trec(reader) => reader.deviations(),
            CollectionReader::Smart(reader) => reader.deviations(),
            CollectionReader::Mbox(reader) => reader.deviations(),
            CollectionReader::MediaWiki(reader) => reader.deviations(),
            CollectionReader::Access(reader) => reader.deviations(),
            CollectionReader::Syslog(reader) => reader.deviations(),
            CollectionReader::Journal(reader) => reader.deviations(),
        };
        notes.extend(deviations.iter().map(|&kind| RecordNote::Remark(kind)));
        Ok(is_document)
    }
}

/// Appends bytes in the character set with this label as UTF-8; false if it is not known.
fn to_utf8(label: &[u8], bytes: &[u8], into: &mut Vec<u8>) -> bool {
    let Some(encoding) = encoding_rs::Encoding::for_label(label) else { return false };
    into.extend_from_slice(encoding.decode_without_bom_handling(bytes).0.as_bytes());
    true
}

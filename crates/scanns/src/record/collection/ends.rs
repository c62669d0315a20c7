//! Where the records of collections end.

use super::format::CollectionFormat;
use crate::record::corpus::mbox::MboxEnds;
use crate::record::corpus::mediawiki::MediaWikiEnds;
use crate::record::corpus::smart::SmartEnds;
use crate::record::corpus::trec::TrecEnds;
use crate::record::log::LogEnds;
use crate::record::warc::{LongClaim, WarcEnds, WarcSkip};

/// Finds the ends of the records of one file.
#[derive(Clone, Debug)]
pub struct CollectionEnds {
    format: CollectionFormat,
    kind: EndsKind,
}

#[derive(Clone, Debug)]
enum EndsKind {
    Warc(WarcEnds),
    Trec(TrecEnds),
    Smart(SmartEnds),
    Mbox(MboxEnds),
    MediaWiki(MediaWikiEnds),
    Log(LogEnds),
}

impl CollectionEnds {
    /// Starts a file, or a part of a file that begins with a record.
    pub fn new(format: CollectionFormat) -> Self {
        let kind = match format {
            CollectionFormat::Warc => EndsKind::Warc(WarcEnds::new()),
            CollectionFormat::Trec => EndsKind::Trec(TrecEnds::new()),
            CollectionFormat::Smart => EndsKind::Smart(SmartEnds::new()),
            CollectionFormat::Mbox => EndsKind::Mbox(MboxEnds::new()),
            CollectionFormat::MediaWiki => EndsKind::MediaWiki(MediaWikiEnds::new()),
            CollectionFormat::Syslog => EndsKind::Log(LogEnds::with_indented()),
            CollectionFormat::Access | CollectionFormat::Journal => EndsKind::Log(LogEnds::new()),
        };
        CollectionEnds { format, kind }
    }

    /// The same for the start of another file.
    pub fn restarted(&self) -> Self {
        CollectionEnds::new(self.format)
    }

    /// Returns the length of the record that `bytes` begins with, or `None` if it continues after them. If it
    /// does, the same bytes must come again, with more behind them. If `is_end`, nothing follows, and every
    /// byte belongs to a record.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        match &mut self.kind {
            EndsKind::Warc(ends) => ends.next_end(bytes, is_end),
            EndsKind::Trec(ends) => ends.next_end(bytes, is_end),
            EndsKind::Smart(ends) => ends.next_end(bytes, is_end),
            EndsKind::Mbox(ends) => ends.next_end(bytes, is_end),
            EndsKind::MediaWiki(ends) => ends.next_end(bytes, is_end),
            EndsKind::Log(ends) => ends.next_end(bytes, is_end),
        }
    }

    /// The numbers that the last record takes: of its lines in logs, so that the number of an entry is the
    /// one of its line; else one.
    pub fn numbers(&self) -> u64 {
        match &self.kind {
            EndsKind::Log(ends) => ends.lines(),
            _ => 1,
        }
    }

    /// Waits for the end of the record that `start` begins, after which `next_end` needed more bytes, if the
    /// record says where it ends.
    pub fn long_claim(&self, start: &[u8]) -> Option<LongClaim> {
        match &self.kind {
            EndsKind::Warc(ends) => ends.long_claim(start),
            _ => None,
        }
    }

    /// Takes the end that the current record claims for wrong.
    pub fn distrust(&mut self) {
        if let EndsKind::Warc(ends) = &mut self.kind {
            ends.distrust();
        }
    }

    /// Skips the record that `start` begins, after which `next_end` needed more bytes; `None` if its end
    /// cannot be found without its bytes.
    pub(super) fn skip(&self, start: &[u8]) -> Option<WarcSkip> {
        match &self.kind {
            EndsKind::Warc(ends) => ends.skip(start),
            _ => None,
        }
    }

    /// Starts a record after one that was not given to its end.
    pub fn start_record(&mut self) {
        match &mut self.kind {
            EndsKind::Warc(ends) => ends.start_record(),
            EndsKind::Trec(ends) => ends.start_record(),
            EndsKind::Smart(ends) => ends.start_record(),
            EndsKind::Mbox(ends) => ends.start_record(),
            EndsKind::MediaWiki(ends) => ends.start_record(),
            EndsKind::Log(ends) => ends.start_record(),
        }
    }
}

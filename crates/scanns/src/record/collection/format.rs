//! The formats of collections.

use crate::content::{CollectionKind, ContentOptions, Extraction, is_message};
use crate::record::log::LogKind;
use crate::record::raw::BYTE_ORDER_MARK;
use crate::schema::Records;

/// The number of first bytes that tell the format of a file.
const DETECTED: usize = 4 << 10;

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
    /// Lines of access logs of web servers.
    Access,
    /// Lines of syslog.
    Syslog,
    /// Entries of journals of systemd.
    Journal,
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
            Records::Access => CollectionFormat::Access,
            Records::Syslog => CollectionFormat::Syslog,
            Records::Journal => CollectionFormat::Journal,
            Records::File | Records::Lines | Records::Jsonl | Records::Csv => return None,
        })
    }

    /// The format of a collection that may be a file among others.
    pub(super) fn of_kind(kind: CollectionKind) -> Self {
        match kind {
            CollectionKind::Warc => CollectionFormat::Warc,
            CollectionKind::Trec => CollectionFormat::Trec,
            CollectionKind::Mbox => CollectionFormat::Mbox,
            CollectionKind::MediaWiki => CollectionFormat::MediaWiki,
        }
    }

    /// The records of the format.
    pub fn records(self) -> Records {
        match self {
            CollectionFormat::Warc => Records::Warc,
            CollectionFormat::Trec => Records::Trec,
            CollectionFormat::Smart => Records::Smart,
            CollectionFormat::Mbox => Records::Mbox,
            CollectionFormat::MediaWiki => Records::MediaWiki,
            CollectionFormat::Access => Records::Access,
            CollectionFormat::Syslog => Records::Syslog,
            CollectionFormat::Journal => Records::Journal,
        }
    }

    /// True if every record says in which character encoding it is. Others are files of text in one encoding.
    pub fn has_encodings(self) -> bool {
        matches!(self, CollectionFormat::Warc | CollectionFormat::Mbox)
    }

    /// The format of a file with these first bytes, after decompression; `None` if they are not certain.
    pub fn detect(head: &[u8]) -> Option<Self> {
        let head = head.get(..DETECTED).unwrap_or(head);
        let kind = LogKind::detect(head).map(|kind| match kind {
            LogKind::Access => CollectionFormat::Access,
            LogKind::Syslog => CollectionFormat::Syslog,
            LogKind::Journal => CollectionFormat::Journal,
        });
        kind.or_else(|| Self::by_start(head))
    }

    /// The format of a file that is not a log.
    fn by_start(head: &[u8]) -> Option<Self> {
        if let Some(kind) = CollectionKind::of(head) {
            return Some(Self::of_kind(kind));
        }
        if is_message(head) {
            return Some(CollectionFormat::Mbox);
        }
        let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
        let mut lines = text.split(|&byte| byte == b'\n');
        let (first, second) = (lines.next()?, lines.next()?.trim_ascii_end());
        let number = first.strip_prefix(b".I ").map(<[u8]>::trim_ascii);
        let has_number =
            number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit));
        (has_number && matches!(second, [b'.', b'A'..=b'Z'])).then_some(CollectionFormat::Smart)
    }
}

/// How files of such records are read: as they are, without looking for pages, archives and others in
/// them. Records with fields say by themselves whether they are records, one by one, and those of some
/// collections in which encoding they are.
pub(crate) fn contents_of_records(contents: ContentOptions, records: Records) -> ContentOptions {
    let has_encodings = CollectionFormat::of(records).is_some_and(CollectionFormat::has_encodings);
    ContentOptions {
        skip_binary: contents.skip_binary && !records.have_fields(),
        transcode: contents.transcode && !has_encodings,
        extract: if records == Records::File { contents.extract } else { Extraction::None },
        ..contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: &str = "192.0.2.1 - ada [01/May/2024:10:00:00 +0200] \"GET / HTTP/1.1\" 200 5\n";

    #[test]
    fn formats_are_detected_by_what_they_begin_with() {
        for (head, expected) in [
            ("WARC/1.0\r\nWARC-Type: warcinfo\r\n", Some(CollectionFormat::Warc)),
            ("WARC/next", None),
            ("filedesc://IA-001.arc 0.0.0.0 19960923142103 text/plain 76\n", Some(CollectionFormat::Warc)),
            ("\n<DOC>\n<DOCNO> AP-1 </DOCNO>", Some(CollectionFormat::Trec)),
            ("<doc>\n<title>", None),
            ("<!DOCTYPE html><doc>", None),
            ("\u{feff}<mediawiki xmlns=\"x\">", Some(CollectionFormat::MediaWiki)),
            (".I 1\n.T\nPreliminary Report", Some(CollectionFormat::Smart)),
            (".I am\n.T\n", None),
            ("From ada@example.org Sat Jan  3 01:05:34 1996\nSubject: hi\n", Some(CollectionFormat::Mbox)),
            ("From: a@b\nDate: today\nSubject: hi\n\n", Some(CollectionFormat::Mbox)),
            ("From the start it was clear.\nSubject: hi\n", None),
            ("From ada 01:05:34\nIt was: late\n", None),
            ("", None),
            (".I 1", None),
            (ACCESS, Some(CollectionFormat::Access)),
            ("<34>Oct 11 22:14:15 web1 su[12]: failed\n", Some(CollectionFormat::Syslog)),
        ] {
            assert_eq!(CollectionFormat::detect(head.as_bytes()), expected, "{head}");
        }
    }
}

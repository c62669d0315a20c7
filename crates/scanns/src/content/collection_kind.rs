//! Collections: files that hold many records, each of which is a document, by their first bytes.
//!
//! A single message of mail is a record, too.

use super::charset::BYTE_ORDER_MARK;

/// The number of first bytes that tell the kind of a file.
const DETECTED: usize = 4 << 10;

/// Names in the head of a message.
const MESSAGE_NAMES: [&[u8]; 14] = [
    b"from",
    b"date",
    b"message-id",
    b"received",
    b"return-path",
    b"mime-version",
    b"to",
    b"subject",
    b"delivered-to",
    b"content-type",
    b"content-transfer-encoding",
    b"in-reply-to",
    b"references",
    b"cc",
];

/// The kind of a collection of which each record is a document of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    /// Records of web archives: WARC and ARC.
    Warc,
    /// Documents of TREC collections in SGML, and web pages of TREC.
    Trec,
    /// Messages of a mailbox.
    Mbox,
    /// Pages of a dump of MediaWiki.
    MediaWiki,
}

impl CollectionKind {
    /// The kind of a file with these first bytes, after decompression; `None` if they are not certain.
    pub fn of(head: &[u8]) -> Option<Self> {
        let head = head.get(..DETECTED).unwrap_or(head);
        let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
        let begins = |start: &[u8]| text.get(..start.len()).is_some_and(|t| t.eq_ignore_ascii_case(start));
        if let Some([b'0'..=b'9', b'.', b'0'..=b'9', ..]) = text.strip_prefix(b"WARC/") {
            return Some(CollectionKind::Warc);
        }
        if text.starts_with(b"filedesc:") {
            return Some(CollectionKind::Warc);
        }
        if begins(b"<doc>") && memchr::memmem::find(&head.to_ascii_lowercase(), b"<docno>").is_some() {
            return Some(CollectionKind::Trec);
        }
        if begins(b"<mediawiki") {
            return Some(CollectionKind::MediaWiki);
        }
        // From name@host Sat Jan  3 01:05:34 1996
        let mut lines = text.split(|&byte| byte == b'\n');
        let (first, second) = (lines.next()?, lines.next()?.trim_ascii_end());
        let is_time = |word: &[u8]| word.len() >= 5 && word.get(2) == Some(&b':');
        let dated = first.starts_with(b"From ") && first.split(|&byte| byte == b' ').any(is_time);
        (dated && header_name(second).is_some()).then_some(CollectionKind::Mbox)
    }

    /// What such a file is called in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CollectionKind::Warc => "web archive",
            CollectionKind::Trec => "TREC collection",
            CollectionKind::Mbox => "mailbox",
            CollectionKind::MediaWiki => "MediaWiki dump",
        }
    }

    /// What a record of it is called in the field `format`.
    pub(crate) fn record_name(self) -> &'static str {
        match self {
            CollectionKind::Warc => "web archive record",
            CollectionKind::Trec => "TREC document",
            CollectionKind::Mbox => "mail",
            CollectionKind::MediaWiki => "wiki page",
        }
    }

    /// True if every record says in which character encoding it is. Others are files of text in one encoding.
    pub(crate) fn has_encodings(self) -> bool {
        matches!(self, CollectionKind::Warc | CollectionKind::Mbox)
    }
}

/// True if a file with these first bytes is a single message of mail: it begins with a head of three or more
/// fields that messages have, `From` and a date, an identity or a subject among them, and with nothing else.
pub fn is_message(head: &[u8]) -> bool {
    let head = head.get(..DETECTED).unwrap_or(head);
    let (mut has_from, mut has_date, mut has_subject, mut known) = (false, false, false, 0);
    let mut lines = head.split(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        // The last line may continue behind the first bytes.
        let is_cut = lines.peek().is_none();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let continues = known > 0 && matches!(line.first(), Some(b' ' | b'\t'));
        if line.is_empty() || is_cut {
            break;
        }
        if continues {
            continue;
        }
        let Some(name) = header_name(line) else { return false };
        let name = name.to_ascii_lowercase();
        known += usize::from(MESSAGE_NAMES.contains(&name.as_slice()));
        has_subject |= name == b"subject";
        has_from |= name == b"from" || name == b"return-path";
        has_date |= matches!(name.as_slice(), b"date" | b"message-id" | b"received" | b"mime-version");
        // Before the first known name stand only those that programs of mail have added.
        if known == 0 && !name.starts_with(b"x-") && !name.starts_with(b"arc-") && !name.starts_with(b"dkim-")
        {
            return false;
        }
    }
    has_from && (has_date || has_subject) && known >= 3
}

/// The name of a field in the head of a message: what stands before a colon, if it has no white space.
fn header_name(line: &[u8]) -> Option<&[u8]> {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    let is_name = !name.is_empty() && name.len() < line.len() && name.iter().all(u8::is_ascii_graphic);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_texts_that_begin_alike() {
        for (head, expected) in [
            ("From: a@b\nDate: Fri, 27 Nov 2026 01:02:03 +0100\nSubject: hi\n\nwords", true),
            ("From: a@b\r\nTo: b\r\nMessage-ID: <1@b>\r\n\r\n", true),
            ("Return-Path: <a@b>\nReceived: from c\n\tby d;\n today\nFrom: a@b\n\nwords", true),
            ("X-Account-Key: 1\nReceived: from c\nFrom: a\nTo: b\n\n", true),
            ("DKIM-Signature: v=1;\n", false),
            ("From: a@b\nSubject: no date\nTo: b\n\n", true),
            ("From: a@b\nTo: b\nCc: c\n\n", false),
            ("From: here\nthe date: unknown\n", false),
            ("Subject: a\nDate: b\nTo: c\n\n", false),
            ("Package: mutt\nFrom: a\nDate: b\nTo: c\n\n", false),
            ("From: a\nDate: b\n\n", false),
            ("From: a\nDate: b\nTo: c\nno name\n\n", false),
            (" From: a\nDate: b\nTo: c\n\n", false),
            ("", false),
            (":", false),
        ] {
            assert_eq!(is_message(head.as_bytes()), expected, "{head}");
        }
        let long = format!("From: a\nDate: b\nTo: c\nX-Long: {}\n\n", "x".repeat(10_000));
        assert!(is_message(long.as_bytes()));
    }
}

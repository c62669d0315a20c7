//! Mail: mbox files, and files that are one message (RFC 5322).
//!
//! ```text
//! mbox    = ( "From " … LF message LF )*     lines ">*From " of the message have one more ">"
//! message = ( name ":" value LF ( blank value LF )* )* LF body
//! ```
//! A line that begins with `From ` begins a message if it is the first line of the file or follows an empty
//! line. A file whose first line that is not blank does not begin so is one message. `mboxo` escapes only
//! `From ` and `mboxrd` also `>From `: one `>` is removed in both. Values of headers are unfolded and their
//! encoded words (RFC 2047) are decoded. "date" is in UTC as in RFC 3339, "message_id" and "list_id" are
//! without `<` and `>`, "text" has a value for each part that is text or HTML, and "attachment" the name of
//! each other part that has one. Read [`MboxReader::read`] first, then `mime.rs`.

mod charset;
mod encoded_word;
mod header;
mod mime;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
mod transfer;

pub use charset::CharsetHook;

use crate::content::html::HtmlPage;
use crate::record::error::RecordError;
use crate::record::made_record::MadeRecord;
use crate::schema::rfc2822_in_rfc3339;
use charset::MailText;
use header::Headers;
use memchr::memmem;
use std::borrow::Cow;

/// Finds the ends of the messages of an mbox file, or of a file with one message.
#[derive(Clone, Debug, Default)]
pub struct MboxEnds {
    /// The bytes of the record that were searched.
    searched: usize,
    /// Whether the file is an mbox, once that is known.
    is_mbox: Option<bool>,
}

impl MboxEnds {
    /// Begins at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// The length of the record that `bytes` begins with, or None if it continues after them; then the same
    /// bytes must come again with more behind them. If `is_end`, nothing follows: Some for all non-empty
    /// bytes. No byte is searched twice for one record, but for the last five of a piece.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let is_mbox = self.is_mbox(bytes);
        let end = if is_mbox { self.search(bytes) } else { None };
        let end = end.or_else(|| (is_end && !bytes.is_empty()).then_some(bytes.len()));
        if end.is_some() {
            self.searched = 0;
        }
        end
    }

    /// Starts a record after one that was not given to `next_end` to its end.
    pub fn start_record(&mut self) {
        self.searched = 0;
    }

    /// Whether the file is known to be an mbox.
    fn is_mbox(&mut self, bytes: &[u8]) -> bool {
        if let Some(is_mbox) = self.is_mbox {
            return is_mbox;
        }
        let rest = bytes.get(self.searched..).unwrap_or_default().trim_ascii_start();
        let start = bytes.len() - rest.len();
        if rest.len() >= FROM.len() || !FROM.starts_with(rest) {
            let begins_line = start == 0 || bytes.get(start - 1) == Some(&b'\n');
            self.is_mbox = Some(begins_line && rest.starts_with(FROM));
        }
        // The first message may begin after blank lines: its own first line is no end.
        self.searched = if self.is_mbox.is_some() { start } else { start.saturating_sub(1) };
        self.is_mbox == Some(true)
    }

    fn search(&mut self, bytes: &[u8]) -> Option<usize> {
        let finder = memmem::Finder::new(b"\nFrom ");
        while let Some(at) = finder.find(bytes.get(self.searched..)?) {
            let at = self.searched + at;
            let before = bytes.get(..at).unwrap_or_default();
            if before.strip_suffix(b"\r").unwrap_or(before).ends_with(b"\n") {
                return Some(at + 1);
            }
            self.searched = at + 1;
        }
        self.searched = self.searched.max(bytes.len().saturating_sub(FROM.len()));
        None
    }
}

const FROM: &[u8] = b"From ";
const SUBJECT: u32 = 3;
const DATE: u32 = 4;
const TEXT: u32 = 7;
const ATTACHMENT: u32 = 8;

/// Headers with text, and the names of their values.
const TEXT_HEADERS: [(&[u8], u32); 4] = [(b"from", 0), (b"to", 1), (b"cc", 2), (b"subject", SUBJECT)];
/// Headers with an identifier, and the names of their values.
const ID_HEADERS: [(&[u8], u32); 2] = [(b"message-id", 5), (b"list-id", 6)];

/// Reads messages.
#[derive(Clone, Debug, Default)]
pub struct MboxReader {
    page: HtmlPage,
    text: MailText,
    /// How many more parts of the message are read.
    parts_left: usize,
}

impl MboxReader {
    /// The names of the values.
    pub const NAMES: [&'static str; 9] =
        ["from", "to", "cc", "subject", "date", "message_id", "list_id", "text", "attachment"];

    /// A reader that asks `hook` for charsets other than UTF-8, US-ASCII and ISO-8859-1.
    pub fn with_charsets(hook: CharsetHook) -> Self {
        Self { text: MailText::new(hook), ..Self::default() }
    }

    /// Reads a record. Returns false if it has no message.
    pub fn read(&mut self, record: &[u8], into: &mut MadeRecord) -> Result<bool, RecordError> {
        into.clear();
        self.text.deviations.clear();
        let record = record.trim_ascii_start();
        if record.is_empty() {
            return Ok(false);
        }
        let message = if record.starts_with(FROM) { Cow::Owned(unescape(record)) } else { record.into() };
        let headers = Headers::read(&message);
        if headers.is_empty() {
            return Err(RecordError::Lacks { what: "header of lines 'name: value'" });
        }
        if !headers.is_closed {
            self.text.deviations.add("header without an empty line after it");
        }
        self.put_headers(&headers, into);
        self.put_parts(&headers, into);
        Ok(true)
    }

    /// The deviations of the last record.
    pub fn deviations(&self) -> &[&'static str] {
        self.text.deviations.kinds()
    }

    fn put_headers(&mut self, headers: &Headers<'_>, into: &mut MadeRecord) {
        for (header, name) in TEXT_HEADERS {
            for value in headers.all(header) {
                into.make(name, |bytes| self.text.push_header(value, bytes));
            }
        }
        for (header, name) in ID_HEADERS {
            if let Some(value) = headers.first(header) {
                into.make(name, |bytes| self.text.push(b"", in_angle_brackets(value), bytes));
            }
        }
        if let Some(value) = headers.first(b"date") {
            self.put_date(value, into);
        }
    }

    fn put_date(&mut self, value: &[u8], into: &mut MadeRecord) {
        if let Some(date) = rfc2822_in_rfc3339(value) {
            into.put(DATE, date.as_bytes());
        } else {
            self.text.deviations.add("date that cannot be read");
            into.make(DATE, |bytes| self.text.push_header(value, bytes));
        }
    }
}

/// A message of an mbox without its first line and without the `>` before `From `.
fn unescape(record: &[u8]) -> Vec<u8> {
    let start = memchr::memchr(b'\n', record).map_or(record.len(), |at| at + 1);
    let message = record.get(start..).unwrap_or_default();
    let mut into = Vec::with_capacity(message.len());
    let mut copied = 0;
    for at in memmem::find_iter(message, b">From ") {
        let before = message.get(..at).unwrap_or_default();
        let line = before.iter().rev().find(|byte| **byte != b'>');
        if line.is_none_or(|byte| *byte == b'\n') {
            into.extend_from_slice(message.get(copied..at).unwrap_or_default());
            copied = at + 1;
        }
    }
    into.extend_from_slice(message.get(copied..).unwrap_or_default());
    into
}

/// The last text between `<` and `>`, or all of it.
fn in_angle_brackets(value: &[u8]) -> &[u8] {
    let inside = memchr::memrchr(b'<', value).and_then(|start| value.get(start + 1..));
    let Some(inside) = inside else {
        return value.trim_ascii();
    };
    let end = memchr::memchr(b'>', inside).unwrap_or(inside.len());
    inside.get(..end).unwrap_or(inside).trim_ascii()
}

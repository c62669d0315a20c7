//! The answer that a parser fills. It is built as one frame, so the text is not copied again, and it never
//! holds more than the request allows.

use std::fmt::Display;
use std::io::{self, Write};

use scanns::extraction::ExtractLimits;
use scanns::extraction::frame::{FrameHeader, FrameKind, HEADER_BYTES, META_BYTES, put_bytes};

/// The longest name of a format.
const FORMAT_BYTES: usize = 64;
/// The longest reason of a failure.
const REASON_BYTES: usize = 1000;
/// Room for fields: `META_BYTES` less the format, its length and the flag.
const FIELD_BYTES: usize = META_BYTES - FORMAT_BYTES - 5;

/// The text and the fields of one file, or the reason why there are none.
pub struct Answer {
    kind: FrameKind,
    /// A header's room, then the text.
    frame: Vec<u8>,
    text_limit: usize,
    format: String,
    fields: Vec<u8>,
    fields_left: u64,
    reason: String,
    cut: bool,
    passing: bool,
}

impl Answer {
    pub(super) fn new(limits: &ExtractLimits) -> Self {
        let text_limit = usize::try_from(limits.text.min(u64::from(u32::MAX))).unwrap_or(usize::MAX);
        Self {
            kind: FrameKind::Extracted,
            frame: vec![0; HEADER_BYTES],
            text_limit,
            format: String::new(),
            fields: Vec::new(),
            fields_left: limits.fields,
            reason: String::new(),
            cut: false,
            passing: false,
        }
    }

    /// Names the format, such as `pdf`.
    pub fn format(&mut self, name: &str) {
        self.format.clear();
        self.format.push_str(head(name, FORMAT_BYTES));
    }

    /// Appends text. `false` if not all of it fits: the answer takes no more then.
    pub fn push_text(&mut self, text: &str) -> bool {
        let fitting = if self.cut { "" } else { head(text, self.text_room()) };
        self.frame.extend_from_slice(fitting.as_bytes());
        self.cut |= fitting.len() < text.len();
        !self.cut
    }

    /// Bytes of text that still fit.
    pub fn text_room(&self) -> usize {
        self.text_limit.saturating_sub(self.frame.len() - HEADER_BYTES)
    }

    /// Appends a field. `false` if it does not fit: it is left out then.
    pub fn push_field(&mut self, name: &str, value: &str) -> bool {
        let bytes = 8 + name.len() + value.len();
        if self.fields_left == 0 || bytes > FIELD_BYTES - self.fields.len() {
            self.cut = true;
            return false;
        }
        self.fields_left -= 1;
        put_bytes(&mut self.fields, name.as_bytes());
        put_bytes(&mut self.fields, value.as_bytes());
        true
    }

    /// A limit of the parser itself ended the text or the fields.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// An error of the machine had a part in the answer: the same file may have another one later.
    pub fn passing(&mut self) {
        self.passing = true;
    }

    /// The file has no format that the parsers know. What was filled is dropped.
    pub fn not_a_document(&mut self) {
        self.refuse(FrameKind::NotADocument);
    }

    /// The file cannot be read. What was filled is dropped.
    pub fn fail(&mut self, reason: impl Display) {
        self.refuse(FrameKind::Failed);
        let reason = reason.to_string();
        self.reason.push_str(head(&reason, REASON_BYTES));
    }

    fn refuse(&mut self, kind: FrameKind) {
        self.kind = kind;
        self.reason.clear();
        self.frame.truncate(HEADER_BYTES);
    }

    pub(super) fn send(mut self, mut to: impl Write, last: bool) -> io::Result<()> {
        let too_large = |_| io::Error::other("an answer larger than its limits");
        let text = u32::try_from(self.frame.len() - HEADER_BYTES).map_err(too_large)?;
        match self.kind {
            FrameKind::Extracted => {
                put_bytes(&mut self.frame, self.format.as_bytes());
                self.frame.push(u8::from(self.cut));
                self.frame.extend_from_slice(&self.fields);
            }
            _ => self.frame.extend_from_slice(self.reason.as_bytes()),
        }
        let meta = u32::try_from(self.frame.len() - HEADER_BYTES).map_err(too_large)? - text;
        let header = FrameHeader { kind: self.kind, last, passing: self.passing, text, meta }.encode();
        if let Some(room) = self.frame.first_chunk_mut() {
            *room = header;
        }
        to.write_all(&self.frame)
    }
}

/// The longest beginning of `text` with at most `limit` bytes that ends between characters.
fn head(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scanns::extraction::frame::ExtractedMeta;

    fn sent(answer: Answer) -> (FrameHeader, Vec<u8>) {
        let mut bytes = Vec::new();
        answer.send(&mut bytes, false).unwrap();
        let body = bytes.split_off(HEADER_BYTES);
        (FrameHeader::decode(*bytes.first_chunk().unwrap()).unwrap(), body)
    }

    #[test]
    fn text_is_cut_between_characters_and_then_takes_no_more() {
        let mut answer = Answer::new(&ExtractLimits { text: 4, ..Default::default() });
        assert!(answer.push_text("ab"));
        assert!(!answer.push_text("xäö"));
        assert!(!answer.push_text("z"));
        let (header, body) = sent(answer);
        assert_eq!(&body[..header.text as usize], b"abx");
        assert!(ExtractedMeta::decode(&body[header.text as usize..], 0).unwrap().cut);
    }

    #[test]
    fn fields_end_at_their_number_and_at_their_bytes() {
        let mut answer = Answer::new(&ExtractLimits { fields: 2, ..Default::default() });
        assert!(!answer.push_field("large", &"x".repeat(META_BYTES)));
        assert!(answer.push_field("a", &"x".repeat(META_BYTES - 100)));
        assert!(!answer.push_field("b", &"x".repeat(100)));
        assert!(answer.push_field("c", ""));
        assert!(!answer.push_field("d", ""));
        answer.format(&"f".repeat(100));
        let (header, body) = sent(answer);
        assert_eq!(header.text, 0);
        let meta = ExtractedMeta::decode(&body, 2).unwrap();
        assert!(meta.cut);
        assert_eq!(meta.fields.iter().map(|field| field.0.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(meta.format.len(), FORMAT_BYTES);
    }

    #[test]
    fn a_failure_drops_the_text_before_it() {
        let mut answer = Answer::new(&ExtractLimits::default());
        answer.push_text("half");
        answer.push_field("a", "b");
        answer.fail("bad cross-reference table");
        let (header, body) = sent(answer);
        assert_eq!((header.kind, header.text), (FrameKind::Failed, 0));
        assert_eq!(body, b"bad cross-reference table");
    }
}

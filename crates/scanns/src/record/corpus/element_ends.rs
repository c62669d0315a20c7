//! Where records end that are elements of one name, such as `<DOC> … </DOC>`.
//!
//! A record ends after the end tag of its element. Text before an element belongs to the element's record.
//! An element that is not closed ends before the next start tag of its name that begins a line; tags inside
//! of a line do not count then, because the text of a document may have them.

use memchr::memchr;

/// Finds the ends of records that are elements.
#[derive(Clone, Debug)]
pub struct ElementEnds {
    /// The name in lower case.
    name: &'static [u8],
    /// The bytes of the record that were searched.
    searched: usize,
    /// Whether the element of the record has begun.
    is_open: bool,
}

/// What a `<` begins.
enum Mark {
    Start,
    End,
    Other,
    /// The bytes end before this is clear.
    Unknown,
}

impl ElementEnds {
    /// Searches for elements with a name, which is in lower case.
    pub fn new(name: &'static [u8]) -> Self {
        Self { name, searched: 0, is_open: false }
    }

    /// Starts a record.
    pub fn start_record(&mut self) {
        self.searched = 0;
        self.is_open = false;
    }

    /// The length of the record that `bytes` begins with, or None if it continues after them.
    pub fn next_end(&mut self, bytes: &[u8], is_end: bool) -> Option<usize> {
        let end = self.search(bytes).or_else(|| (is_end && !bytes.is_empty()).then_some(bytes.len()));
        if end.is_some() {
            self.start_record();
        }
        end
    }

    fn search(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(at) = memchr(b'<', bytes.get(self.searched..)?) {
            let at = self.searched + at;
            match self.mark(bytes.get(at..)?) {
                Mark::Unknown => {
                    self.searched = at;
                    return None;
                }
                Mark::End if self.is_open => return Some(at + self.name.len() + 3),
                Mark::Start if self.is_open && begins_line(bytes, at) => return Some(at),
                Mark::Start => self.is_open = true,
                Mark::End | Mark::Other => {}
            }
            self.searched = at + 1;
        }
        self.searched = bytes.len();
        None
    }

    fn mark(&self, bytes: &[u8]) -> Mark {
        let is_end = bytes.get(1) == Some(&b'/');
        let named = bytes.get(1 + usize::from(is_end)..).unwrap_or_default();
        let matched = named.iter().zip(self.name).take_while(|&(a, b)| a.to_ascii_lowercase() == *b).count();
        if matched < self.name.len() {
            return if matched == named.len() { Mark::Unknown } else { Mark::Other };
        }
        match named.get(self.name.len()) {
            None => Mark::Unknown,
            Some(b'>') if is_end => Mark::End,
            Some(byte) if !is_end && (*byte == b'>' || byte.is_ascii_whitespace()) => Mark::Start,
            Some(_) => Mark::Other,
        }
    }
}

/// Whether only blanks stand between a place and the line break before it.
fn begins_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| *byte == b'\n')
}

//! Lines of mtree, the lines that are joined to them, and their words.

use crate::record::dump::input::{DumpInput, Halt};

/// The greatest number of bytes of a line with the lines that are joined to it.
const LONGEST: usize = 1 << 20;

/// The lines of a specification.
pub(super) struct MtreeLines<'i> {
    pub input: DumpInput<'i>,
    /// The current line with the lines that are joined to it.
    pub line: Vec<u8>,
    part: Vec<u8>,
}

impl<'i> MtreeLines<'i> {
    /// The lines of `input`.
    pub fn new(input: DumpInput<'i>) -> Self {
        MtreeLines { input, line: Vec::new(), part: Vec::new() }
    }

    /// Reads the next line into `line`; false if it is longer than 1 MiB. A last line without its end is
    /// [`Halt::End`], unless it is empty or a comment.
    pub fn next(&mut self) -> Result<bool, Halt> {
        self.line.clear();
        let mut fits = true;
        loop {
            if let Err(halt) = self.input.until(b'\n', &mut self.part, LONGEST).map(|part| fits &= part) {
                let part = self.part.trim_ascii();
                let harmless = self.line.is_empty() && (part.is_empty() || part.starts_with(b"#"));
                return if matches!(halt, Halt::End) && harmless { Ok(true) } else { Err(halt) };
            }
            // A comment does not continue.
            let comment = self.line.is_empty() && self.part.trim_ascii_start().starts_with(b"#");
            let continued = self.part.strip_suffix(b"\r").unwrap_or(&self.part).len();
            let continues = !comment && continues(self.part.get(..continued).unwrap_or_default());
            if continues {
                self.part.truncate(continued - 1);
            }
            let room = LONGEST - self.line.len();
            fits &= self.part.len() <= room;
            self.line.extend_from_slice(self.part.get(..room).unwrap_or(&self.part));
            if !continues {
                return Ok(fits);
            }
        }
    }
}

/// True if the next line continues `line`: it ends with a backslash that belongs to no escape.
fn continues(line: &[u8]) -> bool {
    if !line.ends_with(b"\\") {
        return false;
    }
    let word = memchr::memrchr2(b' ', b'\t', line).map_or(0, |blank| blank + 1);
    let mut rest = line.get(word..).unwrap_or_default();
    while let Some(slash) = memchr::memchr(b'\\', rest) {
        let escape = rest.get(slash..).unwrap_or_default();
        let len = match escape {
            [_] => return true,
            [_, b'M', b'-' | b'^', ..] => 4,
            [_, b'^', ..] => 3,
            _ => 2,
        };
        rest = escape.get(len..).unwrap_or_default();
    }
    false
}

/// `line` without a comment that follows a blank in it.
pub(super) fn without_comment(line: &[u8]) -> &[u8] {
    let begins =
        |at: &usize| at.checked_sub(1).is_none_or(|before| matches!(line.get(before), Some(b' ' | b'\t')));
    memchr::memchr_iter(b'#', line).find(begins).and_then(|at| line.get(..at)).unwrap_or(line)
}

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty())
}

/// The last word of a line of several words.
pub(super) fn last_word(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    line.get(memchr::memrchr2(b' ', b'\t', line)? + 1..)
}

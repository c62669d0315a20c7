//! The lines that wait to be written, and what could not be written into them.

/// The most bytes of one line. A longer row ends the table: small files can describe rows without end.
pub(super) const MOST_LINE: usize = 256 << 20;

/// JSON Lines in memory.
#[derive(Default)]
pub(super) struct LineBuffer {
    pub(super) bytes: Vec<u8>,
    /// Numbers that were left out because JSON has no NaN and no infinity.
    pub(super) not_finite: u64,
    /// Bytes that were left out because they are not UTF-8.
    pub(super) not_text: u64,
    /// Where the last line begins.
    line: usize,
}

impl LineBuffer {
    /// Writes quotes around what `push` writes, which needs no escape.
    pub(super) fn quoted(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(b'"');
        push(&mut self.bytes);
        self.bytes.push(b'"');
    }

    /// Ends a line.
    pub(super) fn end_line(&mut self) {
        self.bytes.push(b'\n');
        self.line = self.bytes.len();
    }

    /// Forgets a line that has not ended.
    pub(super) fn drop_line(&mut self) {
        self.bytes.truncate(self.line);
    }

    /// Forgets the bytes.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.line = 0;
    }

    /// True if the last line has become too long. Nothing more should be added to it.
    pub(super) fn is_too_long(&self) -> bool {
        self.bytes.len() - self.line > MOST_LINE
    }
}

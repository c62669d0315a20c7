//! The text of a page as it grows: pieces of text, and breaks between them.
//!
//! A break is only noted. It is written with the next text, so two breaks are never written in a row,
//! and none at the start. The blanks around a break are left out. Other blanks are copied as they are: to
//! make each run of them one space costs 10 to 20 percent of the speed.

use super::tokens::is_blank;

/// What stands between two pieces of text. The greater of two breaks counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum TextBreak {
    #[default]
    Nothing,
    Tab,
    Line,
}

/// Writes pieces of text and the breaks between them.
pub(super) struct LineWriter<'o> {
    out: &'o mut Vec<u8>,
    pending: TextBreak,
}

impl<'o> LineWriter<'o> {
    /// A writer to an empty buffer.
    pub(super) fn new(out: &'o mut Vec<u8>) -> LineWriter<'o> {
        out.clear();
        LineWriter { out, pending: TextBreak::Line }
    }

    /// Notes a break before the next text.
    #[inline]
    pub(super) fn note(&mut self, text_break: TextBreak) {
        self.pending = self.pending.max(text_break);
    }

    /// Adds a piece of text. The blanks at the start of a line are left out.
    #[inline]
    pub(super) fn put(&mut self, piece: &[u8]) {
        if self.pending == TextBreak::Nothing {
            self.out.extend_from_slice(piece);
        } else if let Some(start) = piece.iter().position(|&byte| !is_blank(byte)) {
            self.begin_line().extend_from_slice(piece.get(start..).unwrap_or_default());
        }
    }

    /// Adds a piece of text with all its blanks.
    pub(super) fn put_verbatim(&mut self, piece: &[u8]) {
        if !piece.is_empty() {
            self.begin_line().extend_from_slice(piece);
        }
    }

    /// Writes the break before a text, and returns the buffer to which to append the text.
    #[inline]
    pub(super) fn begin_line(&mut self) -> &mut Vec<u8> {
        let mark = match std::mem::take(&mut self.pending) {
            TextBreak::Nothing => return self.out,
            TextBreak::Tab => b'\t',
            TextBreak::Line => b'\n',
        };
        self.trim();
        if !self.out.is_empty() {
            self.out.push(mark);
        }
        self.out
    }

    /// Removes the blanks at the end.
    pub(super) fn trim(&mut self) {
        let blanks = self.out.iter().rev().take_while(|&&byte| is_blank(byte)).count();
        self.out.truncate(self.out.len() - blanks);
    }
}

/// Makes each run of blanks one space, and removes those at the start and the end.
pub(super) fn collapse_blanks(text: &mut Vec<u8>) {
    let mut length = 0;
    let mut after_blank = true;
    for at in 0..text.len() {
        let Some(&byte) = text.get(at) else { break };
        let blank = is_blank(byte);
        if blank && after_blank {
            continue;
        }
        if let Some(place) = text.get_mut(length) {
            *place = if blank { b' ' } else { byte };
        }
        length += 1;
        after_blank = blank;
    }
    if length > 0 && after_blank {
        length -= 1;
    }
    text.truncate(length);
}

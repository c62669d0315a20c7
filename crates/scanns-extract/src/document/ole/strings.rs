//! Strings of BIFF, which may go on in records of the type CONTINUE.
//!
//! A string of BIFF 8 is `length, flags u8, [runs u16], [size u32], letters, runs, extra`. Where its letters
//! go on in the next record, that record begins with new flags.

use super::super::bytes::utf16;

/// Flags: letters are UTF-16; extra data follows; runs of formatting follow.
const IS_WIDE: u8 = 1;
const HAS_EXTRA: u8 = 4;
const HAS_RUNS: u8 = 8;

/// The bodies of a record and its continuations, read one after the other.
pub(super) struct Chunks<'r> {
    bodies: Vec<&'r [u8]>,
    at: usize,
}

impl<'r> Chunks<'r> {
    /// Starts at the first body.
    pub(super) fn new(bodies: Vec<&'r [u8]>) -> Self {
        Self { bodies: bodies.into_iter().rev().collect(), at: 0 }
    }

    /// The rest of the current body, and of the next ones when it is used up.
    fn rest(&mut self) -> Option<&'r [u8]> {
        loop {
            let rest = self.bodies.last()?.get(self.at..).unwrap_or_default();
            if !rest.is_empty() {
                return Some(rest);
            }
            self.bodies.pop();
            self.at = 0;
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.rest()?.first().copied();
        self.at += 1;
        byte
    }

    /// A number of `size` bytes.
    pub(super) fn number(&mut self, size: u32) -> Option<usize> {
        let mut value = 0_usize;
        for place in 0..size {
            value |= usize::from(self.byte()?).checked_shl(8 * place)?;
        }
        Some(value)
    }

    /// Passes over bytes.
    pub(super) fn skip(&mut self, count: usize) -> Option<()> {
        let mut left = count;
        while left > 0 {
            let step = self.rest()?.len().min(left);
            self.at += step;
            left -= step;
        }
        Some(())
    }

    /// A string of BIFF 8 whose length takes `size` bytes. What a cut-off string has is taken.
    pub(super) fn string(&mut self, size: u32) -> Option<String> {
        let length = self.number(size)?;
        let flags = self.byte()?;
        let runs = if flags & HAS_RUNS == 0 { 0 } else { self.number(2)? };
        let extra = if flags & HAS_EXTRA == 0 { 0 } else { self.number(4)? };
        let text = self.letters(length, flags);
        let _ = self.skip(runs.saturating_mul(4).saturating_add(extra));
        Some(text)
    }

    /// Letters, whose width may change at a continuation.
    pub(super) fn letters(&mut self, length: usize, flags: u8) -> String {
        let mut text = String::new();
        let (mut left, mut flags) = (length, flags);
        while left > 0 {
            let body = self.bodies.len();
            let Some(rest) = self.rest() else { break };
            if self.bodies.len() != body && left < length {
                let Some(new) = self.byte() else { break };
                flags = new;
                continue;
            }
            let width = if flags & IS_WIDE == 0 { 1 } else { 2 };
            let count = (rest.len() / width).min(left);
            if count == 0 {
                self.at += rest.len();
                continue;
            }
            let bytes = rest.get(..count * width).unwrap_or_default();
            if width == 2 {
                text.push_str(&utf16(bytes));
            } else {
                text.extend(bytes.iter().copied().map(char::from));
            }
            self.at += count * width;
            left -= count;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_letters_may_change_at_a_continuation() {
        let mut chunks = Chunks::new(vec![
            b"\x05\0\0ab",
            b"\x01c\0\x3f\x04",
            b"\0d\x01\0\x08\x02\0e\0\0\0\0\0\0\0\0",
            b"f",
        ]);
        assert_eq!(chunks.string(2).as_deref(), Some("abc\u{43f}d"));
        assert_eq!(chunks.string(2).as_deref(), Some("e"));
        assert_eq!(chunks.number(1), Some(usize::from(b'f')));
        assert_eq!(chunks.string(2), None);
    }
}

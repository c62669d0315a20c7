//! Many strings one after the other in one buffer, so that they can be searched together.

use std::ops::Range;

use super::super::fsst::{LONGEST, SymbolTable};

/// Bytes that are copied at once from one string to the next. Most shared prefixes are shorter.
const CHUNK: usize = 32;

/// Strings without gaps between them; memory is reused.
#[derive(Debug, Default)]
pub struct StringBatch {
    /// The strings, then bytes without meaning.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl StringBatch {
    /// Creates a batch without strings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all strings.
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// Returns the number of strings.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no strings.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns all strings, concatenated.
    #[inline]
    pub fn text(&self) -> &[u8] {
        self.text.get(..self.end()).unwrap_or_default()
    }

    /// Returns the end of each string in [`text`](Self::text).
    #[inline]
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Returns string `i`, or an empty one if there are fewer.
    #[inline]
    pub fn get(&self, i: usize) -> &[u8] {
        self.ends.get(i).and_then(|&end| self.text.get(self.start(i)..end)).unwrap_or_default()
    }

    /// Appends a string.
    pub fn push(&mut self, string: &[u8]) {
        self.text.truncate(self.end());
        self.text.extend_from_slice(string);
        self.ends.push(self.text.len());
    }

    /// Appends a string that begins with the first `shared` bytes of the last one and continues with the text
    /// of `codes`. Returns `None` and appends nothing if the last string is shorter, if codes are invalid, or
    /// if the string has more than `most` bytes.
    #[inline]
    pub fn push_codes(
        &mut self,
        shared: usize,
        codes: &[u8],
        table: &SymbolTable,
        most: usize,
    ) -> Option<()> {
        let start = self.end();
        let last = self.start(self.ends.len().saturating_sub(1));
        if shared > start - last || shared > most {
            return None;
        }
        let room = start + shared.next_multiple_of(CHUNK) + CHUNK + LONGEST * codes.len();
        if self.text.len() < room {
            self.text.resize(room.next_power_of_two(), 0);
        }
        self.copy(last..last + shared, start);
        let own = table.decompress_to(codes, self.text.get_mut(start + shared..)?)?;
        if shared + own > most {
            return None;
        }
        self.ends.push(start + shared + own);
        Some(())
    }

    /// Copies bytes to `to`, in whole chunks; the bytes behind them are overwritten.
    #[inline]
    fn copy(&mut self, from: Range<usize>, to: usize) {
        let mut done = 0;
        while done < from.len() {
            let at = from.start + done;
            let chunk: Option<[u8; CHUNK]> = self.text.get(at..).and_then(|all| all.first_chunk().copied());
            let target = self.text.get_mut(to + done..).and_then(|all| all.first_chunk_mut());
            if let (Some(chunk), Some(target)) = (chunk, target) {
                *target = chunk;
            }
            done += CHUNK;
        }
    }

    /// The end of the last string.
    #[inline]
    fn end(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The start of string `i`.
    #[inline]
    fn start(&self, i: usize) -> usize {
        i.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0)
    }
}

//! Reads chains of postings back, for a flush and for a search in memory.

use super::chunks::Chunks;

/// Reads the postings of one term back, starting with the first document.
pub struct PostingsIter<'a> {
    arena: &'a [u8],
    parts: std::slice::Iter<'a, (usize, usize)>,
    at: usize,
    end: usize,
    doc: u32,
    /// The posting in the entry; taken when it is returned.
    last: Option<(u32, u32)>,
    /// Documents that are void, ascending.
    void: &'a [u32],
}

impl<'a> PostingsIter<'a> {
    /// The postings of the chain in `parts`, then `last`, unless its document is `limit` or more: only the
    /// latest posting can belong to a document that has not ended.
    pub(super) fn new(
        chunks: &'a Chunks,
        parts: &'a [(usize, usize)],
        last: (u32, u32),
        limit: u32,
        void: &'a [u32],
    ) -> PostingsIter<'a> {
        let last = Some(last).filter(|&(doc, _)| doc < limit);
        let mut iter =
            PostingsIter { arena: chunks.arena(), parts: parts.iter(), at: 0, end: 0, doc: 0, last, void };
        if !parts.is_empty() {
            iter.doc = iter.varint();
        }
        iter
    }

    /// The only posting of a term, if it has at most one and no chain must be read to find that out.
    #[inline(always)]
    pub fn only(&self) -> Option<(u32, u32)> {
        self.last.filter(|_| self.parts.len() == 0 && self.at == self.end && self.void.is_empty())
    }

    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        while self.at == self.end {
            (self.at, self.end) = *self.parts.next()?;
        }
        let byte = self.arena[self.at];
        self.at += 1;
        Some(byte)
    }

    /// A varint that `Chunks::append` wrote; zero past the end.
    #[inline(always)]
    fn varint(&mut self) -> u32 {
        let (mut value, mut shift) = (0, 0);
        while let Some(byte) = self.byte() {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        u32::try_from(value).unwrap_or(u32::MAX)
    }

    /// Returns the next posting of any document, and false if the document is void.
    #[inline]
    pub fn next_of_all(&mut self) -> Option<((u32, u32), bool)> {
        let posting = self.record()?;
        Some((posting, self.void.is_empty() || self.void.binary_search(&posting.0).is_err()))
    }

    #[inline(always)]
    fn record(&mut self) -> Option<(u32, u32)> {
        if self.at == self.end && self.parts.len() == 0 {
            return self.last.take();
        }
        let (mut value, mut shift) = (0u64, 0);
        while let Some(byte) = self.byte() {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let freq = if value & 1 == 1 { 1 } else { self.varint() };
        let doc = self.doc;
        self.doc = doc.wrapping_add(u32::try_from(value >> 1).unwrap_or(0));
        Some((doc, freq))
    }
}

impl Iterator for PostingsIter<'_> {
    type Item = (u32, u32);

    /// Returns the next document and term frequency.
    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        loop {
            if let (posting, true) = self.next_of_all()? {
                return Some(posting);
            }
        }
    }

    /// Visits all postings, faster than `next`: records of one byte, which are nearly all records of a
    /// frequent term, have their own loop.
    #[inline]
    fn fold<B, F: FnMut(B, (u32, u32)) -> B>(mut self, init: B, mut give: F) -> B {
        let mut all = init;
        loop {
            let bytes = &self.arena[self.at..self.end];
            let plain = bytes.iter().take_while(|&&byte| byte < 0x80 && byte & 1 == 1);
            if self.void.is_empty() {
                let mut taken = 0;
                for &byte in plain {
                    all = give(all, (self.doc, 1));
                    self.doc = self.doc.wrapping_add(u32::from(byte >> 1));
                    taken += 1;
                }
                self.at += taken;
            }
            match self.next() {
                Some(posting) => all = give(all, posting),
                None => return all,
            }
        }
    }
}

//! Postings as bytes: per term a chain of growing chunks in one arena, linked backwards.
//!
//! The latest posting of a term is in its entry. When the term occurs in a later document, one record is
//! appended to the chain: the gap to that document and the frequency in the one before, as varints of `gap <<
//! 1 | (freq == 1)` and, unless it is 1, the frequency. The first record of a chain is preceded by the term's
//! first document. Chunks have 16, 32, … 4,096 bytes; the last four bytes of a chunk point to the chunk
//! before. A term in many documents wastes at most half of its last chunk; with 4 KiB at the end, a reader
//! rarely follows a link.

use crate::codec::Occurrence;
use crate::error::Result;
use crate::sys::{PageSize, Slab, prefetch};

/// The largest chunk is `16 << LAST_CLASS` bytes.
const LAST_CLASS: u32 = 8;
const LINK: usize = 4;
/// Chunks start at multiples of this, so that 31 bits of a link reach 32 GiB.
const UNIT: usize = 16;
/// Bytes written by one store, which must be backed after the last chunk.
const SPARE: usize = 16;

/// The end of a chain, packed as in [`super::entry::TermEntry::tail`]: 40 bits of address, 12 of free bytes,
/// 4 of class.
#[derive(Clone, Copy)]
struct Tail {
    at: usize,
    left: usize,
    class: u32,
}

impl Tail {
    #[inline(always)]
    fn unpack(tail: u64) -> Tail {
        Tail {
            at: (tail & ((1 << 40) - 1)) as usize,
            left: (tail >> 40 & 0xfff) as usize,
            class: (tail >> 52 & 0xf) as u32,
        }
    }

    #[inline(always)]
    fn pack(self) -> u64 {
        self.at as u64 | (self.left as u64) << 40 | u64::from(self.class) << 52
    }
}

/// True for a chain in its third chunk or later, which means about forty postings or more.
#[inline(always)]
pub(super) fn has_grown(tail: u64) -> bool {
    Tail::unpack(tail).class >= 2
}

/// The arena of all chains of one index thread.
pub(super) struct Chunks {
    bytes: Slab<u8>,
    len: usize,
}

impl Chunks {
    pub(super) fn new(max_bytes: usize, pages: PageSize) -> Result<Chunks> {
        // Offset zero stays unused: a tail of zero means a term without a chain.
        Ok(Chunks { bytes: Slab::reserve(max_bytes.min((UNIT << 31) - 1), pages)?, len: UNIT })
    }

    /// Bytes of memory touched.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.touched(self.len)
    }

    /// Returns the memory after the last chunk to the system.
    pub(super) fn release(&mut self) {
        self.bytes.release_behind(self.len);
    }

    /// Removes all chains, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.len = UNIT;
    }

    /// Prefetches the place of the next record of a chain.
    #[inline(always)]
    pub(super) fn prefetch_tail(&self, tail: u64) {
        prefetch(self.bytes.as_ptr().wrapping_add(Tail::unpack(tail).at));
    }

    /// Prefetches the last chunk of a chain: its start, and the link at its end.
    #[inline(always)]
    pub(super) fn prefetch_last(&self, tail: u64) {
        if tail == 0 {
            return;
        }
        let Tail { at, left, class } = Tail::unpack(tail);
        let link = at + left;
        prefetch(self.bytes.as_ptr().wrapping_add(link));
        prefetch(self.bytes.as_ptr().wrapping_add(link + LINK - (UNIT << class)));
    }

    /// Prefetches the chunk before the last, whose link should be in the cache.
    #[inline(always)]
    pub(super) fn prefetch_before(&self, tail: u64) {
        let Tail { at, left, class } = Tail::unpack(tail);
        if class > 0 {
            let (start, _) = self.before(at + left, class);
            prefetch(self.bytes.as_ptr().wrapping_add(start));
        }
    }

    /// Start and class of the chunk that the link at `at` points to; the link is in a chunk of class `class`.
    #[inline(always)]
    fn before(&self, at: usize, class: u32) -> (usize, u32) {
        let mut link = [0; LINK];
        link.copy_from_slice(&self.bytes[at..at + LINK]);
        let link = u32::from_le_bytes(link);
        ((link >> 1) as usize * UNIT, if link & 1 == 1 { LAST_CLASS } else { class - 1 })
    }

    /// Appends the posting (`doc`, `freq`), whose next document is `next`; returns the new tail.
    #[inline(always)]
    pub(super) fn append(&mut self, tail: u64, doc: u32, freq: u32, next: u32) -> u64 {
        let mut end = Tail::unpack(tail);
        let gap = next - doc;
        if end.left >= 8 && gap < 1 << 27 && freq < 0x80 {
            // One store of eight bytes; the bytes after the record are free and are overwritten later.
            let head = gap << 1 | u32::from(freq == 1);
            // Frequent terms have small gaps, which take one byte.
            let (mut record, mut len) = if head < 0x80 { (u64::from(head), 1) } else { short_varint(head) };
            if freq != 1 {
                record |= u64::from(freq) << (8 * len);
                len += 1;
            }
            if let Some(place) = self.bytes.get_mut(end.at..end.at + 8) {
                place.copy_from_slice(&record.to_le_bytes());
            }
            (end.at, end.left) = (end.at + len, end.left - len);
            return end.pack();
        }
        self.append_any(tail, doc, freq, next)
    }

    /// Appends a posting whose record is long, or starts or ends a chunk.
    #[inline(never)]
    fn append_any(&mut self, tail: u64, doc: u32, freq: u32, next: u32) -> u64 {
        let mut record = Record { bytes: 0, len: 0 };
        if tail == 0 {
            record.varint(u64::from(doc));
        }
        record.varint(u64::from(next - doc) << 1 | u64::from(freq == 1));
        if freq != 1 {
            record.varint(u64::from(freq));
        }
        self.append_record(tail, record)
    }

    /// Appends a number to a chain of numbers; returns the new tail.
    #[inline(always)]
    pub(super) fn append_number(&mut self, tail: u64, value: u32) -> u64 {
        let mut end = Tail::unpack(tail);
        if end.left >= 4 && value < 1 << 28 {
            // One store of four bytes, as above.
            let (bytes, len) = if value < 0x80 { (u64::from(value), 1) } else { short_varint(value) };
            #[expect(clippy::cast_possible_truncation, reason = "28 bits are four bytes of varint")]
            let bytes = bytes as u32;
            if let Some(place) = self.bytes.get_mut(end.at..end.at + 4) {
                place.copy_from_slice(&bytes.to_le_bytes());
            }
            (end.at, end.left) = (end.at + len, end.left - len);
            return end.pack();
        }
        self.append_any_number(tail, value)
    }

    /// Appends the numbers of one occurrence to a chain of occurrences, as [`Occurrence::put`] writes it with
    /// offsets; returns the new tail.
    #[inline(always)]
    pub(super) fn append_occurrence(&mut self, tail: u64, at: Occurrence) -> u64 {
        let mut end = Tail::unpack(tail);
        if end.left >= 8 && at.position < 1 << 21 && at.start < 1 << 27 && at.extra < 0x80 {
            // One store of eight bytes, as above.
            let head = at.start << 1 | u32::from(at.extra != 0);
            let (mut record, mut len) = short_varint(at.position);
            let (more, more_len) = short_varint(head);
            record |= more << (8 * len);
            len += more_len;
            // If the length equals the term's length, this changes nothing.
            record |= u64::from(at.extra) << (8 * len);
            len += usize::from(at.extra != 0);
            if let Some(place) = self.bytes.get_mut(end.at..end.at + 8) {
                place.copy_from_slice(&record.to_le_bytes());
            }
            (end.at, end.left) = (end.at + len, end.left - len);
            return end.pack();
        }
        self.append_any_occurrence(tail, at)
    }

    #[inline(never)]
    fn append_any_occurrence(&mut self, tail: u64, at: Occurrence) -> u64 {
        let mut record = Record { bytes: 0, len: 0 };
        record.varint(u64::from(at.position));
        record.varint(u64::from(at.start) << 1 | u64::from(at.extra != 0));
        if at.extra != 0 {
            record.varint(u64::from(at.extra));
        }
        self.append_record(tail, record)
    }

    #[inline(never)]
    fn append_any_number(&mut self, tail: u64, value: u32) -> u64 {
        let mut record = Record { bytes: 0, len: 0 };
        record.varint(u64::from(value));
        self.append_record(tail, record)
    }

    #[inline(always)]
    fn append_record(&mut self, tail: u64, record: Record) -> u64 {
        let mut end = Tail::unpack(tail);
        if record.len > end.left {
            return self.append_over(tail, record);
        }
        self.write(end.at, record);
        (end.at, end.left) = (end.at + record.len, end.left - record.len);
        end.pack()
    }

    /// Appends a record that needs a new chunk; its first bytes may be in the old one.
    #[inline(always)]
    fn append_over(&mut self, tail: u64, record: Record) -> u64 {
        let old = Tail::unpack(tail);
        let (head, rest) = record.split(old.left);
        // The first record includes the first document, and may need more than the smallest chunk.
        let first = u32::from(record.len > UNIT - LINK);
        let class = if tail == 0 { first } else { (old.class + 1).min(LAST_CLASS) };
        let size = UNIT << class;
        let at = self.len;
        self.len += size;
        self.bytes.grow(self.len + SPARE);
        let link = if tail == 0 {
            0
        } else {
            self.write(old.at, head);
            // A full chunk ends where its link begins.
            let start = old.at + head.len + LINK - (UNIT << old.class);
            u32::try_from(start / UNIT).unwrap_or(0) << 1 | u32::from(old.class == LAST_CLASS)
        };
        self.write(at, rest);
        self.bytes[at + size - LINK..at + size].copy_from_slice(&link.to_le_bytes());
        Tail { at: at + rest.len, left: size - LINK - rest.len, class }.pack()
    }

    /// Writes `record` at `at` and leaves the bytes after it unchanged. One load and one store: a call to
    /// copy a few bytes takes longer than everything else here.
    #[inline(always)]
    fn write(&mut self, at: usize, record: Record) {
        if let Some(place) = self.bytes[at..].first_chunk_mut::<SPARE>() {
            let keep = u128::MAX << (8 * record.len);
            *place = (u128::from_le_bytes(*place) & keep | record.bytes).to_le_bytes();
        }
    }

    /// Puts the written ranges of a chain, first to last, as ranges of the arena, into `parts`.
    pub(super) fn parts(&self, tail: u64, parts: &mut Vec<(usize, usize)>) {
        parts.clear();
        if tail == 0 {
            return;
        }
        let Tail { at, left, mut class } = Tail::unpack(tail);
        let mut start = at + left + LINK - (UNIT << class);
        parts.push((start, at));
        while class > 0 {
            (start, class) = self.before(start + (UNIT << class) - LINK, class);
            if start == 0 {
                break;
            }
            parts.push((start, start + (UNIT << class) - LINK));
        }
        parts.reverse();
    }

    /// All bytes of the arena.
    pub(super) fn arena(&self) -> &[u8] {
        &self.bytes
    }
}

/// The varint of a value below 2^28 as a little-endian number, and its length, computed without a branch.
#[inline(always)]
fn short_varint(value: u32) -> (u64, usize) {
    let value = u64::from(value);
    let spread = value & 0x7f | (value & 0x3f80) << 1 | (value & 0x1f_c000) << 2 | (value & 0xfe0_0000) << 3;
    let len = (70 - (value | 1).leading_zeros() as usize) / 7;
    (spread | 0x8080_8080 & ((1 << (8 * (len - 1))) - 1), len)
}

/// Up to 16 bytes of a posting or an occurrence, as a little-endian number: each has three varints of up to 5
/// bytes.
#[derive(Clone, Copy)]
struct Record {
    bytes: u128,
    len: usize,
}

impl Record {
    #[inline(always)]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value | 0x80);
            value >>= 7;
        }
        self.push(value);
    }

    /// Appends the low byte of `value`.
    #[inline(always)]
    fn push(&mut self, value: u64) {
        self.bytes |= u128::from(value & 0xff) << (8 * self.len);
        self.len += 1;
    }

    /// The first `at` bytes, or all, and the others.
    #[inline(always)]
    fn split(self, at: usize) -> (Record, Record) {
        let at = at.min(self.len);
        let head = Record { bytes: self.bytes & !(u128::MAX << (8 * at)), len: at };
        (head, Record { bytes: self.bytes >> (8 * at), len: self.len - at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invert::postings::PostingsIter;

    #[test]
    fn chains_of_any_length_read_back_however_they_interleave() {
        let mut chunks = Chunks::new(64 << 20, PageSize::Base).unwrap();
        let lists: Vec<Vec<(u32, u32)>> = [1, 2, 3, 7, 40, 300, 20_000, 100_000]
            .iter()
            .map(|&len: &u32| {
                (0..len)
                    .map(|i| (i * (1 + len % 7) + i / 3, if i % 5 == 0 { i * 31 % 100_000 + 1 } else { 1 }))
                    .collect()
            })
            .collect();
        let mut tails = vec![0u64; lists.len()];
        for i in 0..100_000 {
            for (list, tail) in lists.iter().zip(&mut tails) {
                if i + 1 < list.len() {
                    *tail = chunks.append(*tail, list[i].0, list[i].1, list[i + 1].0);
                }
            }
        }
        for (list, &tail) in lists.iter().zip(&tails) {
            let mut parts = Vec::new();
            chunks.parts(tail, &mut parts);
            let got: Vec<_> =
                PostingsIter::new(&chunks, &parts, list[list.len() - 1], u32::MAX, &[]).collect();
            assert_eq!(&got, list);
            let all = PostingsIter::new(&chunks, &parts, list[list.len() - 1], u32::MAX, &[]);
            let mut folded = Vec::new();
            all.for_each(|posting| folded.push(posting));
            assert_eq!(&folded, list);
            let void = [list[0].0, list[list.len() / 2].0];
            let got = PostingsIter::new(&chunks, &parts, list[list.len() - 1], u32::MAX, &void);
            assert!(got.eq(list.iter().copied().filter(|posting| !void.contains(&posting.0))));
        }
    }

    #[test]
    fn a_first_record_longer_than_the_smallest_chunk_reads_back() {
        let list = [(1 << 30, u32::MAX), (u32::MAX - 9, 1), (u32::MAX - 5, 3)];
        let mut chunks = Chunks::new(1 << 20, PageSize::Base).unwrap();
        let tail = chunks.append(0, list[0].0, list[0].1, list[1].0);
        let tail = chunks.append(tail, list[1].0, list[1].1, list[2].0);
        let mut parts = Vec::new();
        chunks.parts(tail, &mut parts);
        assert!(PostingsIter::new(&chunks, &parts, list[2], u32::MAX, &[]).eq(list));
    }

    #[test]
    fn short_varints_equal_the_varints_of_the_plain_writer() {
        use crate::codec::varint;
        for bit in 0..28 {
            for value in [(1u32 << bit) - 1, 1 << bit, (1 << bit) + 1] {
                let (expected, expected_len) = varint(value.into());
                let (bytes, len) = short_varint(value);
                assert_eq!(bytes.to_le_bytes()[..len], expected[..expected_len], "{value}");
            }
        }
    }

    #[test]
    fn the_largest_document_numbers_and_frequencies_fit_a_record() {
        let mut chunks = Chunks::new(1 << 20, PageSize::Base).unwrap();
        let tail = chunks.append(0, u32::MAX - 2, u32::MAX, u32::MAX - 1);
        let mut parts = Vec::new();
        chunks.parts(tail, &mut parts);
        let got: Vec<_> = PostingsIter::new(&chunks, &parts, (u32::MAX - 1, 9), u32::MAX, &[]).collect();
        assert_eq!(got, [(u32::MAX - 2, u32::MAX), (u32::MAX - 1, 9)]);
    }
}

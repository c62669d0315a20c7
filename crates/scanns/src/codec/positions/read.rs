//! Reads the deltas of a run in order, from the start or from the start of a block of postings.
//!
//! Widths, places and numbers are checked when they are used. A reader over damaged bytes reports the damage
//! and returns no more deltas.

use super::{BLOCK, Columns, Differences, ENTRY, LOOSE, Occurrence, OnlyPositions};
use crate::codec::bitpack::{UNIT, packed_len, unpack};
use crate::codec::varint::ByteReader;

/// The parts of a run.
#[derive(Clone, Copy)]
struct Run<'a> {
    /// The blocks and the tail.
    bytes: &'a [u8],
    widths: &'a [u8],
    entries: &'a [[u8; ENTRY]],
    /// Number of deltas in the tail.
    tail: usize,
    /// True if the run has offsets.
    offsets: bool,
}

/// A place in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    /// The index of the block among the widths; the number of all widths for the tail.
    number: usize,
    /// The byte at which the block begins.
    start: usize,
    /// Number of deltas of the block that were passed.
    at: usize,
}

/// A place in the run of one term. The block around it is decoded when it is needed, in the columns of `C`.
pub struct DeltaReader<'a, C = OnlyPositions> {
    run: Run<'a>,
    place: Place,
    /// True if `deltas` contains the block of `place`.
    loaded: bool,
    /// Number of deltas of the block that are decoded, once it is loaded.
    ready: usize,
    deltas: [u32; BLOCK],
    more: C,
}

impl<'a, C: Columns> DeltaReader<'a, C> {
    /// Opens the run in `bytes`, with or without offsets, of a list of `doc_freq` postings with `total`
    /// occurrences. Returns `None` if the bytes cannot be such a run.
    pub fn new(bytes: &'a [u8], doc_freq: u32, total: u64, offsets: bool) -> Option<Self> {
        if u64::from(doc_freq) > total || C::OFFSETS && !offsets {
            return None;
        }
        if total < BLOCK as u64 {
            let tail = usize::try_from(total).ok()?;
            return Some(Self::at_start(Run { bytes, widths: &[], entries: &[], tail, offsets }));
        }
        let (rest, &[w0, w1, w2, w3, e0, e1, e2, e3, tail]) = bytes.split_last_chunk()?;
        let widths = u32::from_le_bytes([w0, w1, w2, w3]) as usize;
        let entries = (u32::from_le_bytes([e0, e1, e2, e3]) as usize).checked_mul(ENTRY)?;
        let (rest, entries) = rest.split_at_checked(rest.len().checked_sub(entries)?)?;
        let (bytes, widths) = rest.split_at_checked(rest.len().checked_sub(widths)?)?;
        let tail = usize::from(tail);
        if tail >= BLOCK || widths.is_empty() {
            return None;
        }
        Some(Self::at_start(Run { bytes, widths, entries: entries.as_chunks().0, tail, offsets }))
    }

    #[inline]
    fn at_start(run: Run<'a>) -> Self {
        DeltaReader {
            run,
            place: Place::default(),
            loaded: false,
            ready: 0,
            deltas: [0; BLOCK],
            more: C::new(),
        }
    }

    /// Creates a reader of a single occurrence, which needs no run.
    pub fn only(delta: Occurrence) -> Self {
        let run = Run { bytes: &[], widths: &[], entries: &[], tail: 1, offsets: C::OFFSETS };
        let mut reader = Self::at_start(run);
        reader.set(0, delta);
        (reader.loaded, reader.ready) = (true, 1);
        reader
    }

    #[inline(always)]
    fn set(&mut self, at: usize, delta: Occurrence) {
        if let Some(slot) = self.deltas.get_mut(at) {
            *slot = delta.position;
        }
        if let Some(offsets) = self.more.offsets_mut()
            && let (Some(start), Some(extra)) = (offsets.starts.get_mut(at), offsets.extras.get_mut(at))
        {
            (*start, *extra) = (delta.start, delta.extra);
        }
    }

    /// Returns the number of deltas in the current block; 0 after the tail.
    #[inline]
    fn len(&self) -> usize {
        match self.run.widths.get(self.place.number) {
            Some(&width) if width < LOOSE => BLOCK,
            Some(_) => self.loose_len(),
            None if self.place.number == self.run.widths.len() => self.run.tail,
            None => 0,
        }
    }

    /// Returns the number of deltas in a loose block.
    #[inline(never)]
    fn loose_len(&self) -> usize {
        self.run.widths.get(self.place.number + 1).map_or(0, |&len| usize::from(len) % BLOCK)
    }

    /// Returns the place after the current block; `None` if it is the tail.
    #[inline]
    fn next_place(&self) -> Option<Place> {
        let Place { number, start, .. } = self.place;
        let width = *self.run.widths.get(number)?;
        let (bytes, widths) = match self.run.offsets {
            _ if width >= LOOSE => (UNIT * usize::from(width - LOOSE), 2),
            true => (self.columns()?.map(packed_len).iter().sum(), 3),
            false => (packed_len(width), 1),
        };
        Some(Place { number: number + widths, start: start.checked_add(bytes)?, at: 0 })
    }

    /// Returns the widths of a packed block with offsets.
    #[inline(always)]
    fn columns(&self) -> Option<[u8; 3]> {
        self.run.widths.get(self.place.number..)?.first_chunk().copied()
    }

    /// Moves to the next block; `None` if the current block is the tail.
    #[inline]
    fn next_block(&mut self) -> Option<()> {
        self.place = self.next_place()?;
        self.loaded = false;
        Some(())
    }

    /// Returns all entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, u32, u8)> + use<'a, C> {
        self.run.entries.iter().map(|&[n0, n1, n2, n3, s0, s1, s2, s3, skip]| {
            (u32::from_le_bytes([n0, n1, n2, n3]), u32::from_le_bytes([s0, s1, s2, s3]), skip)
        })
    }

    /// Moves to the tail, and returns all blocks before it and their widths.
    pub(super) fn blocks(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        while self.place.number < self.run.widths.len() {
            self.next_block()?;
        }
        Some((self.run.bytes.get(..self.place.start)?, self.run.widths))
    }

    /// Calls `give` with the deltas of the tail, at whose start the reader must be. Returns `None` if the
    /// tail is damaged.
    pub(super) fn take_tail(&mut self, give: impl FnMut(Differences<'_>)) -> Option<()> {
        let len = u32::try_from(self.run.tail).ok()?;
        self.take(len, give)?;
        self.is_at_end().then_some(())
    }

    fn load(&mut self) -> Option<()> {
        let bytes = self.run.bytes.get(self.place.start..)?;
        match self.run.widths.get(self.place.number) {
            Some(&width) if width < LOOSE => {
                unpack(bytes, width, &mut self.deltas)?;
                if C::OFFSETS {
                    let [_, starts, extras] = self.columns()?;
                    let bytes = bytes.get(packed_len(width)..)?;
                    let offsets = self.more.offsets_mut()?;
                    unpack(bytes, starts, &mut offsets.starts)?;
                    unpack(bytes.get(packed_len(starts)..)?, extras, &mut offsets.extras)?;
                }
            }
            found => {
                let (mut reader, len) = (ByteReader::new(bytes), self.len());
                if self.run.offsets {
                    for at in 0..len {
                        let delta = Occurrence::read(&mut reader, true)?;
                        self.set(at, delta);
                    }
                } else {
                    for delta in self.deltas.get_mut(..len)? {
                        *delta = reader.varint32()?;
                    }
                }
                // There are no bytes between the tail and the widths.
                (found.is_some() || reader.remaining().is_empty()).then_some(())?;
            }
        }
        (self.loaded, self.ready) = (true, self.len());
        Some(())
    }

    /// Skips `count` deltas, and takes one more and returns its position.
    #[inline]
    pub fn one_after(&mut self, count: u64) -> Option<u32> {
        let at = self.place.at as u64 + count;
        if self.loaded && at < self.ready as u64 {
            let delta = self.deltas.get(usize::try_from(at).ok()?)?;
            self.place.at += usize::try_from(count).ok()? + 1;
            return Some(*delta);
        }
        let mut found = None;
        self.skip(count)?;
        self.take(1, |deltas| found = deltas.positions.first().copied())?;
        found
    }

    /// Calls `give` with slices of the next `count` deltas, in the columns of `C`. Returns `None` if there
    /// are fewer deltas or the bytes are damaged.
    #[inline]
    pub fn take(&mut self, count: u32, mut give: impl FnMut(Differences<'_>)) -> Option<()> {
        self.take_while(count, |deltas| {
            give(deltas);
            true
        })?;
        Some(())
    }

    /// Does the same until `give` returns false, and returns the number of deltas that were given.
    #[inline]
    pub fn take_while(&mut self, most: u32, mut give: impl FnMut(Differences<'_>) -> bool) -> Option<u32> {
        let mut count = most as usize;
        while count > 0 {
            let len = self.len();
            if self.place.at == len {
                self.next_block()?;
                continue;
            }
            if !self.loaded {
                self.load()?;
            }
            let now = count.min(len - self.place.at);
            let range = self.place.at..self.place.at + now;
            let (starts, extras) = match self.more.offsets() {
                Some(offsets) => (offsets.starts.get(range.clone())?, offsets.extras.get(range.clone())?),
                None => (&[][..], &[][..]),
            };
            let goes_on = give(Differences { positions: self.deltas.get(range)?, starts, extras });
            self.place.at += now;
            count -= now;
            if !goes_on {
                break;
            }
        }
        u32::try_from(most as usize - count).ok()
    }

    /// Skips `count` deltas without decoding a block; `None` if there are fewer.
    #[inline]
    pub fn skip(&mut self, mut count: u64) -> Option<()> {
        loop {
            let left = self.len().checked_sub(self.place.at)?;
            if count <= left as u64 {
                self.place.at += usize::try_from(count).ok()?;
                return Some(());
            }
            count -= left as u64;
            self.next_block()?;
        }
    }

    /// Sets `found` to the first delta of each of some ascending postings of one block of postings. The
    /// reader must be at the first delta of the block; `before` has, for each posting, the number of deltas
    /// of the block before it. The place of the reader is unspecified afterwards. Returns `None` if there are
    /// fewer deltas or the bytes are damaged.
    #[inline]
    pub(super) fn firsts(&mut self, before: impl Iterator<Item = u64>, found: &mut [u32]) -> Option<()> {
        let mut passed = self.place.at as u64;
        for (before, first) in before.zip(found) {
            let mut at = passed.wrapping_add(before);
            while !self.loaded || at >= self.ready as u64 {
                if at >= self.len() as u64 {
                    passed = passed.wrapping_sub(self.len() as u64);
                    at = passed.wrapping_add(before);
                    self.next_block()?;
                } else {
                    self.load()?;
                }
            }
            *first = *self.deltas.get(usize::try_from(at).ok()?)?;
        }
        Some(())
    }

    /// Moves to the first delta of a block of postings, forwards or backwards.
    pub fn seek(&mut self, block: usize) -> Option<()> {
        let place = self.entry(block)?;
        if (place.number, place.start) != (self.place.number, self.place.start) {
            self.loaded = false;
        }
        self.place = place;
        (place.at <= self.len()).then_some(())
    }

    /// Returns the place where the deltas of a block of postings begin, according to its entry.
    fn entry(&self, block: usize) -> Option<Place> {
        let Some(entry) = block.checked_sub(1) else { return Some(Place::default()) };
        let [n0, n1, n2, n3, s0, s1, s2, s3, skip] = *self.run.entries.get(entry)?;
        Some(Place {
            number: u32::from_le_bytes([n0, n1, n2, n3]) as usize,
            start: packed_len(1).checked_mul(u32::from_le_bytes([s0, s1, s2, s3]) as usize)?,
            at: usize::from(skip),
        })
    }

    /// Returns true if the deltas of a block of postings begin here, according to its entry.
    pub fn is_at(&self, block: usize) -> bool {
        // The end of a block is the start of the next one.
        let next = if self.place.at == self.len() { self.next_place() } else { None };
        let here = next.unwrap_or(self.place);
        self.entry(block) == Some(here)
    }

    /// Returns true if all deltas were taken or skipped and no other bytes are left.
    pub fn is_at_end(&mut self) -> bool {
        let at_end_of_block = self.place.number < self.run.widths.len() && self.place.at == self.len();
        if at_end_of_block && self.next_block().is_none() {
            return false;
        }
        let passed = self.place.number == self.run.widths.len() && self.place.at == self.run.tail;
        passed && (self.loaded || self.run.bytes.len() == self.place.start || self.load().is_some())
    }
}

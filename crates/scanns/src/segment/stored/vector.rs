//! The vector of a document: its terms with their positions and offsets, built token by token and read back
//! by term.
//!
//! ```text
//! vector = varint(terms) | varint(tokens) | varint(length) … | bytes … | code varint … | offset …
//! offset = varint(gap << 1 | (extra != 0)) | varint(extra)?           per token, all of them or none
//! ```
//!
//! Terms are in the order of their first occurrence: first the length of each, then their bytes. Each token
//! has a code: 0 for the first occurrence of the next term, else the number of the term, from 1. If the
//! position of the next token is not one after the previous one (because a word was left out, or several
//! tokens share a position), two varints precede its code: the number of the first term that has not occurred
//! yet, and the distance to the expected position in zigzag form.
//!
//! So nothing has to be sorted or grouped by term when a document ends. A token costs a look-up in a table
//! that stays in the first-level caches, and one or two bytes. Two documents that begin alike, as source
//! files do, have equal bytes, which compression exploits. A document without tokens has an empty vector.
//!
//! If offsets are stored, each token has one: the distance from the end of the previous token, or from the
//! start of the text, to its start, and the length in the text minus the length of the term, both in zigzag
//! form. So words that are separated by one space all have the same offset. Starts and ends beyond 2³² - 1
//! count as 2³² - 1.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::codec::{ByteReader, Occurrence, put_varint};
use crate::tokenize::TokenSink;

/// A term of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermInDocument {
    /// The term.
    pub term: Vec<u8>,
    /// The positions of the term in the document, from 0, at least one, ascending. Positions beyond 2³² - 1
    /// count as 2³² - 1.
    pub positions: Vec<u32>,
    /// The byte range of each occurrence in the text, see
    /// [`Postings::Offsets`](crate::schema::Postings::Offsets); empty if offsets are not stored.
    pub offsets: Vec<Range<u32>>,
}

impl TermInDocument {
    /// Returns the number of occurrences in the document.
    pub fn frequency(&self) -> usize {
        self.positions.len()
    }
}

/// Initial number of slots in the table of the terms of a document.
const SLOTS: usize = 1 << 10;

/// Bytes of memory that each buffer keeps from document to document.
const KEEP: usize = 1 << 20;

/// A slot of the table; it is taken if its stamp is the current one.
#[derive(Clone, Copy, Default)]
struct Slot {
    stamp: u32,
    term: u32,
}

/// A term of the current document. Head and length are compared first; they decide for terms of up to 16
/// bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct VectorTerm {
    head: u128,
    len: u32,
    start: u32,
}

/// By length of a token: a mask of its bytes in a word of 16 bytes.
#[expect(clippy::indexing_slicing, reason = "computed by the compiler")]
const MASKS: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut len = 0;
    while len < 16 {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The first 16 bytes of a token as a number, padded with zeros.
#[expect(clippy::indexing_slicing, reason = "the length is at most 16")]
fn head(token: &[u8]) -> u128 {
    let mut first = [0; 16];
    let len = token.len().min(16);
    first[..len].copy_from_slice(&token[..len]);
    u128::from_le_bytes(first)
}

/// Builds the vector of the current document.
pub(in crate::segment) struct VectorBuilder {
    slots: Vec<Slot>,
    /// Number of slots in use for this document, minus one.
    mask: usize,
    stamp: u32,
    seeds: [u64; 2],
    terms: Vec<VectorTerm>,
    bytes: Vec<u8>,
    codes: Vec<u8>,
    tokens: u64,
    /// Distance of the next token from its expected position.
    shift: i64,
    front: Vec<u8>,
    /// The offsets of the tokens, if they are stored.
    offsets: Option<OffsetBuilder>,
}

/// Builds the offsets of the tokens of a document.
#[derive(Default)]
struct OffsetBuilder {
    bytes: Vec<u8>,
    /// Where the current piece of text begins in the document.
    origin: u64,
    /// The end of the previous token.
    end: u64,
}

impl OffsetBuilder {
    /// Adds a token of `len` bytes at `source` of the text.
    #[inline(always)]
    fn push(&mut self, source: Range<usize>, len: usize) {
        let start = self.origin.wrapping_add(source.start as u64).min(LAST);
        let gap = start.cast_signed() - self.end.cast_signed();
        let gap = (gap << 1 ^ gap >> 63).cast_unsigned();
        let extra = Occurrence::extra_of(source.len(), len);
        put_varint(&mut self.bytes, gap << 1 | u64::from(extra != 0));
        if extra != 0 {
            put_varint(&mut self.bytes, u64::from(extra));
        }
        self.end = (start + source.len() as u64).min(LAST);
    }
}

/// The maximum start or end; greater values are replaced by it.
const LAST: u64 = u32::MAX as u64;

#[expect(clippy::indexing_slicing, reason = "slots are masked; terms and their bytes are the builder's own")]
impl VectorBuilder {
    pub(in crate::segment) fn new() -> Self {
        // Random, so that terms cannot be chosen to collide.
        let seed = |number: u8| RandomState::new().hash_one(number);
        VectorBuilder {
            slots: vec![Slot::default(); SLOTS],
            mask: SLOTS - 1,
            stamp: 1,
            seeds: [seed(0), seed(1)],
            terms: Vec::new(),
            bytes: Vec::new(),
            codes: Vec::new(),
            tokens: 0,
            shift: 0,
            front: Vec::new(),
            offsets: None,
        }
    }

    /// Makes vectors contain offsets.
    pub(in crate::segment) fn keep_offsets(&mut self) {
        self.offsets = Some(OffsetBuilder::default());
    }

    /// See [`Inverter::text_begins`](crate::invert::Inverter::text_begins).
    pub(in crate::segment) fn text_begins(&mut self, origin: u64) {
        if let Some(offsets) = &mut self.offsets {
            offsets.origin = origin;
        }
    }

    /// Bytes of memory in use.
    pub(in crate::segment) fn memory(&self) -> usize {
        self.slots.len() * size_of::<Slot>()
            + self.terms.capacity() * size_of::<VectorTerm>()
            + self.bytes.capacity()
            + self.codes.capacity()
            + self.front.capacity()
            + self.offsets.as_ref().map_or(0, |offsets| offsets.bytes.capacity())
    }

    #[inline(always)]
    fn hash(&self, token: &[u8], head: u128) -> u64 {
        let [high, low] = self.seeds;
        if token.len() > 16 {
            return xxh3_64_with_seed(token, high);
        }
        let high = (head >> 64) as u64 ^ high;
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let low = head as u64 ^ low ^ token.len() as u64;
        let product = u128::from(high) * u128::from(low);
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let folded = (product >> 64) as u64 ^ product as u64;
        folded
    }

    #[inline(always)]
    fn add(&mut self, token: &[u8], head: u128) {
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash will do")]
        let mut at = self.hash(token, head) as usize;
        self.tokens += 1;
        if self.shift != 0 {
            self.put_shift();
        }
        loop {
            at &= self.mask;
            let slot = self.slots[at];
            if slot.stamp != self.stamp {
                return self.add_term(token, head, at);
            }
            if self.is(&self.terms[slot.term as usize], token, head) {
                let code = slot.term + 1;
                if code < 0x80 {
                    self.codes.push((code & 0x7f) as u8);
                } else {
                    put_varint(&mut self.codes, u64::from(code));
                }
                return;
            }
            at += 1;
        }
    }

    #[cold]
    fn put_shift(&mut self) {
        let shift = std::mem::take(&mut self.shift);
        put_varint(&mut self.codes, self.terms.len() as u64 + 1);
        put_varint(&mut self.codes, ((shift << 1) ^ (shift >> 63)).cast_unsigned());
    }

    #[inline(always)]
    fn is(&self, term: &VectorTerm, token: &[u8], head: u128) -> bool {
        let same = term.head == head && term.len as usize == token.len();
        let bytes = |start: usize| &self.bytes[start..start + token.len()];
        same && (token.len() <= 16 || bytes(term.start as usize) == token)
    }

    #[inline(never)]
    fn add_term(&mut self, token: &[u8], head: u128, at: usize) {
        let number = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        self.slots[at] = Slot { stamp: self.stamp, term: number(self.terms.len()) };
        self.terms.push(VectorTerm { head, len: number(token.len()), start: number(self.bytes.len()) });
        self.bytes.extend_from_slice(token);
        self.codes.push(0);
        if self.terms.len() * 2 > self.mask {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.mask = self.mask * 2 + 1;
        self.next_stamp();
        if self.slots.len() <= self.mask {
            self.slots.resize(self.mask + 1, Slot::default());
        }
        for number in 0..self.terms.len() {
            let term = self.terms[number];
            let start = term.start as usize;
            #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash will do")]
            let mut at = self.hash(&self.bytes[start..start + term.len as usize], term.head) as usize;
            while self.slots[at & self.mask].stamp == self.stamp {
                at += 1;
            }
            let term = u32::try_from(number).unwrap_or(u32::MAX);
            self.slots[at & self.mask] = Slot { stamp: self.stamp, term };
        }
    }

    /// Frees all slots.
    fn next_stamp(&mut self) {
        if self.stamp == u32::MAX {
            self.slots.fill(Slot::default());
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// The vector of the current document, in parts that follow each other.
    pub(in crate::segment) fn parts(&mut self) -> [&[u8]; 4] {
        self.front.clear();
        if self.tokens > 0 {
            put_varint(&mut self.front, self.terms.len() as u64);
            put_varint(&mut self.front, self.tokens);
            self.terms.iter().for_each(|term| put_varint(&mut self.front, term.len.into()));
        }
        let offsets = self.offsets.as_ref().map_or(&[][..], |offsets| &offsets.bytes);
        [&self.front, &self.bytes, &self.codes, offsets]
    }

    /// Begins the next document.
    pub(in crate::segment) fn clear(&mut self) {
        self.next_stamp();
        self.mask = SLOTS - 1;
        self.slots.truncate(KEEP / size_of::<Slot>());
        self.terms.clear();
        self.terms.shrink_to(KEEP / size_of::<VectorTerm>());
        let offsets = self.offsets.as_mut().map(|offsets| {
            offsets.end = 0;
            &mut offsets.bytes
        });
        for part in [&mut self.bytes, &mut self.codes, &mut self.front].into_iter().chain(offsets) {
            part.clear();
            part.shrink_to(KEEP);
        }
        (self.tokens, self.shift) = (0, 0);
    }
}

#[expect(clippy::indexing_slicing, reason = "tokenizers give bounds within the text")]
impl TokenSink for VectorBuilder {
    #[inline]
    fn tokens(&mut self, text: &[u8], base: usize, bounds: &[u16]) {
        for pair in bounds.as_chunks::<2>().0 {
            let (start, end) = (base + usize::from(pair[0]), base + usize::from(pair[1]));
            let token = &text[start..end];
            let head = match text[start..].first_chunk() {
                Some(first) => u128::from_le_bytes(*first) & MASKS[token.len().min(16)],
                None => head(token),
            };
            self.add(token, head);
        }
        if let Some(offsets) = &mut self.offsets {
            for pair in bounds.as_chunks::<2>().0 {
                let source = base + usize::from(pair[0])..base + usize::from(pair[1]);
                let len = source.len();
                offsets.push(source, len);
            }
        }
    }

    fn token(&mut self, token: &[u8], source: Range<usize>) {
        self.add(token, head(token));
        if let Some(offsets) = &mut self.offsets {
            offsets.push(source, token.len());
        }
    }

    fn shift(&mut self, positions: i32) {
        self.shift += i64::from(positions);
    }
}

/// Decodes a vector into its terms in byte order; `None` if the bytes are not a vector.
pub(in crate::segment) fn decode_vector(bytes: &[u8]) -> Option<Vec<TermInDocument>> {
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    let mut reader = ByteReader::new(bytes);
    let terms = usize::try_from(reader.varint()?).ok()?;
    let tokens = reader.varint()?;
    // A term takes at least two bytes and a token one. So no more memory is reserved than the input can need.
    if terms > bytes.len() / 2 || tokens > bytes.len() as u64 {
        return None;
    }
    let mut lengths = Vec::with_capacity(terms);
    for _ in 0..terms {
        lengths.push(usize::try_from(reader.varint()?).ok().filter(|&len| len > 0)?);
    }
    let mut found = Vec::with_capacity(terms);
    for len in lengths {
        let term = reader.take(len)?.to_vec();
        found.push(TermInDocument { term, positions: Vec::new(), offsets: Vec::new() });
    }
    let (mut seen, mut position, codes) = (0, 0u64, reader);
    for _ in 0..tokens {
        let (shift, number) = read_code(&mut reader, &mut seen)?;
        position = position.checked_add_signed(shift)?;
        let place = u32::try_from(position).unwrap_or(u32::MAX);
        let positions = &mut found.get_mut(number)?.positions;
        positions.last().is_none_or(|&last| last <= place).then(|| positions.push(place))?;
        position = position.checked_add(1)?;
    }
    if !reader.remaining().is_empty() {
        decode_offsets(&mut found, tokens, codes, &mut reader)?;
    }
    if seen != terms || !reader.remaining().is_empty() {
        return None;
    }
    found.sort_unstable_by(|a, b| a.term.cmp(&b.term));
    let distinct = found.windows(2).all(|pair| pair.first().map(|a| &a.term) < pair.last().map(|b| &b.term));
    distinct.then_some(found)
}

/// Reads the code of a token after `seen` distinct terms: the distance from its expected position, and the
/// number of its term.
fn read_code(reader: &mut ByteReader<'_>, seen: &mut usize) -> Option<(i64, usize)> {
    let mut code = usize::try_from(reader.varint()?).ok()?;
    let mut shift = 0;
    if code == *seen + 1 {
        let zigzag = reader.varint()?;
        shift = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        code = usize::try_from(reader.varint()?).ok()?;
    }
    match code {
        0 => *seen += 1,
        code if code > *seen => return None,
        code => return Some((shift, code - 1)),
    }
    Some((shift, *seen - 1))
}

/// Reads the offsets of all tokens into their terms; the codes have been verified.
fn decode_offsets(
    found: &mut [TermInDocument],
    tokens: u64,
    mut codes: ByteReader<'_>,
    reader: &mut ByteReader<'_>,
) -> Option<()> {
    let (mut seen, mut end) = (0, 0u64);
    for _ in 0..tokens {
        let (_, number) = read_code(&mut codes, &mut seen)?;
        let head = reader.varint()?;
        let extra = if head & 1 == 1 { reader.varint32()? } else { 0 };
        let gap = (head >> 2).cast_signed() ^ -(head >> 1 & 1).cast_signed();
        let start = u32::try_from(end.checked_add_signed(gap)?).ok()?;
        let term = found.get_mut(number)?;
        let until = Occurrence::end_of(start, extra, term.term.len())?;
        term.offsets.push(start..until);
        end = u64::from(until);
    }
    Some(())
}

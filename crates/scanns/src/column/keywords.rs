//! The terms of a column while its documents are collected, and the terms of each document.
//!
//! Terms get preliminary numbers in the order in which they come; their numbers in sorted order are known
//! only at the end. Documents are a stream of numbers, four bytes for a document with one term:
//!
//! ```text
//! stream   = document …
//! document = number                                 one term
//!          | 2^32 - 2 | count | number …            several terms
//!          | 2^32 - 1 | count                       `count` documents without terms
//! ```
//!
//! Where nearly all terms are new, as keys and addresses are, looking each of them up in a table would mostly
//! wait for memory. Then only a sample is looked up, and a term that repeats may have several preliminary
//! numbers; sorting finds them, and gives them the same final one.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::dictionary::DictionaryWriter;
use super::write::ColumnWriter;
use crate::error::Result;
use crate::store::EnvelopeWriter;

/// A term that is being sorted.
#[derive(Clone, Copy, Debug, Default)]
struct SortedTerm {
    /// Up to eight of its bytes, as a big-endian number.
    bytes: u64,
    /// Number of these bytes.
    len: u32,
    /// The preliminary number of the term.
    number: u32,
}

/// Number of bytes of terms that are compared at a time.
const CACHED: usize = 8;

/// Sorts distinct terms by eight of their bytes at a time. Terms that are equal so far are sorted by the next
/// eight bytes.
///
/// Addresses and paths begin alike, so a comparison of the terms themselves would wait for memory twice, and
/// each term is compared about twenty times. This fetches a term once per eight bytes of common prefix.
fn sort<'t>(order: &mut [SortedTerm], term: &impl Fn(u32) -> &'t [u8]) {
    let mut equal = vec![(0..order.len(), 0usize)];
    while let Some((range, depth)) = equal.pop() {
        let Some(part) = order.get_mut(range.clone()) else { continue };
        for term_of in &mut *part {
            let rest = term(term_of.number).get(depth..).unwrap_or_default();
            let rest = rest.get(..CACHED).unwrap_or(rest);
            let mut bytes = [0; CACHED];
            bytes.iter_mut().zip(rest).for_each(|(byte, &of)| *byte = of);
            (term_of.bytes, term_of.len) =
                (u64::from_be_bytes(bytes), u32::try_from(rest.len()).unwrap_or(0));
        }
        part.sort_unstable_by_key(|term_of| (term_of.bytes, term_of.len));
        let mut start = range.start;
        for same in part.chunk_by(|a, b| (a.bytes, a.len) == (b.bytes, b.len)) {
            // Terms that end here differ.
            if same.len() > 1 && same.first().is_some_and(|first| first.len as usize == CACHED) {
                equal.push((start..start + same.len(), depth + CACHED));
            }
            start += same.len();
        }
    }
}

/// Begins a count of documents without terms.
const NONE: u32 = u32::MAX;
/// Begins a document with several terms.
const SEVERAL: u32 = u32::MAX - 1;

/// The number of look-ups after which the share of new terms decides whether the next ones are needed.
const TRIAL: u32 = 1 << 14;

/// If at most one look-up in this many finds its term, look-ups are not worth their time.
const FOUND_SHARE: u32 = 64;

/// Of the terms of a sample, this many high bits of half the hash are 0: one in sixteen is looked up.
const SAMPLE_BITS: u32 = 4;

/// Which terms are looked up before they get a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LookUps {
    /// All, and whether that pays is being tried.
    #[default]
    Trial,
    /// All, for good.
    All,
    /// A sample. If it finds many terms, all are looked up again, and earlier terms that come again get one
    /// more number.
    Sample,
}

/// The terms of a column, and the stream of its documents.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    look_ups: LookUps,
    /// The number of look-ups since the last decision, and how many of them found their term.
    looked_up: u32,
    found: u32,
    /// True if a term may have several numbers.
    repeats: bool,
    hasher: DefaultHashBuilder,
    /// Numbers of terms, each with half of the hash.
    table: HashTable<(u32, u32)>,
    /// The bytes of all terms.
    text: Vec<u8>,
    /// The end of each term in `text`.
    ends: Vec<usize>,
    stream: Vec<u32>,
    /// True if the previous document had no terms, so that the last number of the stream is a count.
    counting: bool,
    /// The terms of the current document.
    open: Vec<u32>,
    /// The last term. The terms of documents often repeat.
    last: u32,
}

fn half_of(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// A hash of 64 bits from half a hash, for the table.
fn spread(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Whether a term with half of this hash is in the sample.
fn is_sampled(half: u32) -> bool {
    half.leading_zeros() >= SAMPLE_BITS
}

/// The term with this preliminary number.
fn term<'t>(text: &'t [u8], ends: &[usize], number: u32) -> &'t [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(number).and_then(|&end| text.get(start..end)).unwrap_or_default()
}

impl Keywords {
    /// Adds a term of the current document.
    #[inline]
    pub(super) fn push(&mut self, wanted: &[u8]) {
        let Keywords { hasher, table, text, ends, open, last, .. } = self;
        if !ends.is_empty() && term(text, ends, *last) == wanted {
            return open.push(*last);
        }
        let half = half_of(hasher.hash_one(wanted));
        let next = u32::try_from(ends.len()).unwrap_or(SEVERAL);
        if self.look_ups == LookUps::Sample && !is_sampled(half) {
            text.extend_from_slice(wanted);
            ends.push(text.len());
            open.push(next);
            *last = next;
            return;
        }
        // The table grows without reading terms, and other terms are rarely compared.
        let is_it = |&(number, of): &(u32, u32)| of == half && term(text, ends, number) == wanted;
        let entry = table.entry(spread(half), is_it, |&(_, half)| spread(half));
        let number = entry.or_insert((next, half)).get().0;
        if number == next {
            text.extend_from_slice(wanted);
            ends.push(text.len());
        }
        open.push(number);
        *last = number;
        if self.look_ups != LookUps::All {
            self.looked_up += 1;
            self.found += u32::from(number != next);
            let shift = if self.look_ups == LookUps::Sample { SAMPLE_BITS } else { 0 };
            if self.looked_up == TRIAL >> shift {
                self.decide();
            }
        }
    }

    /// Decides which of the next terms are looked up.
    #[cold]
    fn decide(&mut self) {
        let are_new = self.found <= self.looked_up / FOUND_SHARE;
        (self.looked_up, self.found) = (0, 0);
        self.look_ups = if are_new { LookUps::Sample } else { LookUps::All };
        self.repeats |= are_new;
    }

    /// Ends the current document.
    pub(super) fn end_document(&mut self) {
        let counting = std::mem::take(&mut self.counting);
        match (self.open.as_slice(), self.stream.last_mut()) {
            ([], Some(count)) if counting => {
                *count += 1;
                self.counting = true;
            }
            ([], _) => {
                self.stream.extend([NONE, 1]);
                self.counting = true;
            }
            ([only], _) => self.stream.push(*only),
            (several, _) => {
                self.stream.extend([SEVERAL, u32::try_from(several.len()).unwrap_or(u32::MAX)]);
                self.stream.extend(several);
            }
        }
        self.open.clear();
    }

    /// Drops the terms of the current document.
    pub(super) fn drop_open(&mut self) {
        self.open.clear();
    }

    /// Bytes of memory in use, including what sorting the terms will take.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity()
            + self.ends.capacity() * 8
            + self.ends.len() * 24
            + self.stream.capacity() * 4
            + self.table.capacity() * 9
            + self.open.capacity() * 4
    }

    /// Writes the dictionary to the section that was begun and its index to section `index`. Passes the
    /// numbers of each document to `column`, whose blocks go to `blocks`. The keywords are empty afterwards.
    pub(super) fn write(
        &mut self,
        index: u32,
        out: &mut EnvelopeWriter,
        column: &mut ColumnWriter,
        distinct: bool,
        blocks: &mut Vec<u8>,
    ) -> Result<()> {
        let numbers = self.put_terms(index, out)?;
        let number = |unsorted: &u32| u64::from(numbers.get(*unsorted as usize).copied().unwrap_or(0));
        let (mut stream, mut several) = (self.stream.as_slice(), Vec::new());
        while let Some((&first, rest)) = stream.split_first() {
            stream = rest;
            if first < SEVERAL {
                column.push(number(&first));
                column.end_document(blocks)?;
                continue;
            }
            let Some((&count, rest)) = stream.split_first() else { break };
            stream = rest;
            if first == NONE {
                column.skip(count, blocks)?;
                continue;
            }
            let (these, rest) = stream.split_at_checked(count as usize).unwrap_or((stream, &[]));
            stream = rest;
            several.clear();
            several.extend(these.iter().map(number));
            if distinct {
                several.sort_unstable();
                several.dedup();
            }
            several.iter().for_each(|&number| column.push(number));
            column.end_document(blocks)?;
        }
        *self = Keywords::default();
        Ok(())
    }

    /// Writes the terms in order; returns their final numbers by preliminary number.
    fn put_terms(&self, index: u32, out: &mut EnvelopeWriter) -> Result<Vec<u32>> {
        let Keywords { text, ends, .. } = self;
        let count = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        let mut order: Vec<SortedTerm> =
            (0..count).map(|number| SortedTerm { number, ..SortedTerm::default() }).collect();
        let key = |number: u32| term(text, ends, number);
        sort(&mut order, &key);
        let mut numbers = vec![0; ends.len()];
        let mut dictionary = DictionaryWriter::new();
        let (mut before, mut next) = (None, 0u32);
        for &SortedTerm { number, .. } in &order {
            if !self.repeats || before.is_none_or(|before| key(before) != key(number)) {
                dictionary.push(key(number), out)?;
                next += 1;
            }
            before = Some(number);
            if let Some(slot) = numbers.get_mut(number as usize) {
                *slot = next - 1;
            }
        }
        dictionary.finish(index, out)?;
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::store::{FileKind, RamDirectory};

    const KIND: FileKind = FileKind { magic: *b"KEYWORDS", format: 1, oldest: 1 };

    #[test]
    fn terms_are_sorted_by_their_bytes() {
        let seed = 0x5eed_0650;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..200 {
            let alphabet: &[u8] = [&b"\0a"[..], b"\0\xff", b"abc/"][round % 3];
            let mut terms: Vec<Vec<u8>> = (0..random.usize(..300))
                .map(|_| {
                    let mut term = b"http://www.".repeat(random.usize(..3));
                    term.extend((0..random.usize(..20)).map(|_| alphabet[random.usize(..alphabet.len())]));
                    term
                })
                .collect();
            terms.sort();
            terms.dedup();
            random.shuffle(&mut terms);
            let mut order: Vec<SortedTerm> = (0u32..)
                .zip(&terms)
                .map(|(number, _)| SortedTerm { number, ..SortedTerm::default() })
                .collect();
            sort(&mut order, &|number| terms[number as usize].as_slice());
            let sorted: Vec<&Vec<u8>> = order.iter().map(|term_of| &terms[term_of.number as usize]).collect();
            assert!(sorted.is_sorted() && sorted.len() == terms.len(), "seed {seed:x} round {round}");
        }
    }

    /// Pushes terms, and returns the final number of each and the look-ups at the end.
    fn numbered(terms: &[String]) -> (Vec<u32>, LookUps, usize) {
        let mut keywords = Keywords::default();
        let mut preliminary: Vec<u32> = Vec::new();
        for term in terms {
            keywords.push(term.as_bytes());
            preliminary.extend(keywords.open.last());
            keywords.end_document();
        }
        let directory = RamDirectory::new();
        let mut out = EnvelopeWriter::create(&directory, "terms", KIND, 1).unwrap();
        out.begin(7).unwrap();
        let numbers = keywords.put_terms(8, &mut out).unwrap();
        let last = keywords.look_ups;
        (preliminary.iter().map(|&number| numbers[number as usize]).collect(), last, keywords.table.len())
    }

    #[test]
    fn equal_terms_get_the_same_number_whether_they_are_looked_up_or_not() {
        let seed = fastrand::u64(..);
        println!("seed {seed:x}");
        let mut random = fastrand::Rng::with_seed(seed);
        let key = |number: u32| format!("https://example.org/{number:06}");
        // By phase: the number of terms, and of how many different ones.
        for (phases, expected) in [
            (vec![(70_000, u32::MAX)], LookUps::Sample),
            (vec![(70_000, 500)], LookUps::All),
            (vec![(20_000, u32::MAX), (70_000, 500)], LookUps::All),
            (vec![(20_000, u32::MAX), (40_000, 500), (20_000, u32::MAX)], LookUps::All),
            (vec![(10_000, 500), (60_000, u32::MAX)], LookUps::All),
            (vec![(5_000, u32::MAX)], LookUps::Trial),
        ] {
            let mut terms = Vec::new();
            for &(count, of) in &phases {
                let from = u32::try_from(terms.len()).unwrap();
                // New terms in a random order, some of them twice, or any of a few.
                let mut phase: Vec<u32> =
                    (0..count).map(|at| if of == u32::MAX { from + at } else { random.u32(..of) }).collect();
                random.shuffle(&mut phase);
                for _ in 0..count / 500 {
                    phase.push(phase[random.usize(..phase.len())]);
                }
                terms.extend(phase.into_iter().map(key));
            }
            let (numbers, last, entered) = numbered(&terms);
            let distinct: BTreeSet<&String> = terms.iter().collect();
            let ranks: BTreeMap<&String, u32> = distinct.into_iter().zip(0..).collect();
            let expected_numbers: Vec<u32> = terms.iter().map(|term| ranks[term]).collect();
            assert!(numbers == expected_numbers, "{phases:?}");
            assert_eq!(last, expected, "{phases:?}");
            if last == LookUps::Sample {
                assert!(entered < terms.len() / 2, "{entered}");
            }
        }
    }
}

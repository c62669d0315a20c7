//! A set of documents of one leaf.

use crate::codec::{BLOCK, NO_MORE, ShortList, count_ones};
use crate::error::Result;
use crate::search::budget::Clock;
use crate::search::leaf::{Leaf, ListSource, TermRef, damaged_list};

/// In a set with less than one document per this number of documents, the documents are listed; other sets
/// have a bit for each document.
const SPARSE: u64 = 32;

/// A set of documents of one leaf.
#[derive(Debug)]
pub(crate) enum DocSet {
    /// Ascending.
    Numbers(Vec<u32>),
    /// A bit for each document from `first` on, a multiple of 64, lowest first.
    Bits { first: u32, words: Vec<u64> },
}

/// Collects documents of a range in any order, in the memory of a bit for each document of the range.
pub(crate) struct DocSetBuilder {
    /// The first document of the range, a multiple of 64.
    first: u32,
    end: u32,
    set: DocSet,
}

impl DocSetBuilder {
    /// An empty set of documents below `max_doc`.
    pub(crate) fn new(max_doc: u32) -> Self {
        DocSetBuilder::between(0, max_doc)
    }

    /// An empty set of documents from `first` to before `end`. Other documents must not be added; some are
    /// ignored.
    pub(crate) fn between(first: u32, end: u32) -> Self {
        DocSetBuilder { first: first / 64 * 64, end, set: DocSet::Numbers(Vec::new()) }
    }

    /// Adds documents.
    #[inline]
    pub(crate) fn add(&mut self, docs: &[u32]) {
        match &mut self.set {
            DocSet::Numbers(numbers) => {
                numbers.extend_from_slice(docs);
                if numbers.len() as u64 * SPARSE >= u64::from(self.end.saturating_sub(self.first)) {
                    self.list_no_more();
                }
            }
            DocSet::Bits { first, words } => set_bits(*first, words, docs),
        }
    }

    #[cold]
    fn list_no_more(&mut self) {
        let first = self.first;
        let mut words = vec![0; (self.end.saturating_sub(first) as usize).div_ceil(64)];
        if let DocSet::Numbers(numbers) = &self.set {
            set_bits(first, &mut words, numbers);
        }
        self.set = DocSet::Bits { first, words };
    }

    /// Adds the documents that contain a term of `leaf`.
    pub(crate) fn add_term(&mut self, leaf: &dyn Leaf, term: &TermRef) -> Result<()> {
        let source = leaf.postings(term)?;
        match source {
            ListSource::Single { doc, .. } if doc < self.end => {
                self.add(&[doc]);
                return Ok(());
            }
            // Most terms are rare, and to make a cursor takes longer than to read their lists.
            ListSource::Packed(bytes) if (term.doc_freq as usize) < BLOCK => {
                return self.add_short(ShortList::new(bytes, term.doc_freq, self.end));
            }
            _ => {}
        }
        let mut cursor = source.cursor(term.doc_freq, self.end)?;
        while cursor.doc() != NO_MORE {
            let docs = cursor.rest_of_docs();
            self.add(docs);
            let count = docs.len();
            cursor.consume(count);
        }
        if cursor.corrupt() { Err(damaged_list()) } else { Ok(()) }
    }

    fn add_short(&mut self, mut list: ShortList) -> Result<()> {
        let (mut docs, mut len) = ([0; BLOCK], 0);
        for (slot, (doc, _)) in docs.iter_mut().zip(&mut list) {
            *slot = doc;
            len += 1;
        }
        self.add(docs.get(..len).unwrap_or_default());
        if list.is_whole() { Ok(()) } else { Err(damaged_list()) }
    }

    /// The set.
    pub(crate) fn finish(mut self) -> DocSet {
        if let DocSet::Numbers(numbers) = &mut self.set {
            numbers.sort_unstable();
            numbers.dedup();
        }
        self.set
    }
}

#[inline]
fn set_bits(first: u32, words: &mut [u64], docs: &[u32]) {
    for &doc in docs {
        let place = doc.wrapping_sub(first);
        if let Some(word) = words.get_mut((place / 64) as usize) {
            *word |= 1 << (place % 64);
        }
    }
}

impl DocSet {
    /// The documents that contain any of the terms.
    pub(crate) fn of_terms(leaf: &dyn Leaf, terms: &[TermRef], clock: Clock) -> Result<Self> {
        let mut set = DocSetBuilder::new(leaf.max_doc());
        for term in terms {
            if clock.is_up() {
                break;
            }
            set.add_term(leaf, term)?;
        }
        Ok(set.finish())
    }

    /// The documents below `max_doc` of sets whose documents follow each other.
    pub(crate) fn joined(max_doc: u32, mut parts: Vec<DocSet>) -> Self {
        if parts.len() < 2 {
            return parts.pop().unwrap_or(DocSet::Numbers(Vec::new()));
        }
        let mut docs = DocSetBuilder::new(max_doc);
        for part in &parts {
            match (part, &mut docs.set) {
                (DocSet::Numbers(numbers), _) => docs.add(numbers),
                (DocSet::Bits { .. }, DocSet::Bits { words, .. }) => part.fill(0, words),
                (DocSet::Bits { .. }, DocSet::Numbers(_)) => {
                    docs.list_no_more();
                    if let DocSet::Bits { words, .. } = &mut docs.set {
                        part.fill(0, words);
                    }
                }
            }
        }
        docs.finish()
    }

    /// The documents from `first` on, a multiple of 64, to before `end` with any term in a field, according
    /// to its norms.
    pub(crate) fn with_terms(norms: &[u8], first: u32, end: u32) -> Self {
        let norms = norms.get(first as usize..end as usize).unwrap_or_default();
        let word = |part: &[u8]| {
            part.iter().enumerate().fold(0, |word, (bit, &norm)| word | u64::from(norm > 0) << bit)
        };
        DocSet::Bits { first, words: norms.chunks(64).map(word).collect() }
    }

    /// The number of documents, or an upper bound if counting takes longer.
    pub(crate) fn size(&self) -> u64 {
        match self {
            DocSet::Numbers(numbers) => numbers.len() as u64,
            DocSet::Bits { words, .. } => 64 * words.len() as u64,
        }
    }

    /// The documents, if there are at most `limit`.
    pub(crate) fn few(&self, limit: u64) -> Option<Vec<u32>> {
        match self {
            DocSet::Numbers(numbers) => (numbers.len() as u64 <= limit).then(|| numbers.clone()),
            DocSet::Bits { words, .. } if count_ones(words) > limit => None,
            DocSet::Bits { first, .. } => {
                let (mut docs, mut room, mut next) = (Vec::new(), [0; BLOCK], *first);
                loop {
                    let found = self.take_from(next, &mut room);
                    docs.extend_from_slice(found);
                    let Some(&last) = found.last() else { break Some(docs) };
                    next = last + 1;
                }
            }
        }
    }

    /// Sets the bits of its documents from `start` on, a multiple of 64, lowest first.
    pub(crate) fn fill(&self, start: u32, bits: &mut [u64]) {
        match self {
            DocSet::Numbers(numbers) => {
                let from = numbers.partition_point(|&doc| doc < start);
                for &doc in numbers.iter().skip(from) {
                    let place = doc - start;
                    let Some(word) = bits.get_mut((place / 64) as usize) else { break };
                    *word |= 1 << (place % 64);
                }
            }
            DocSet::Bits { first, words } => {
                let words = words.iter().skip((start.saturating_sub(*first) / 64) as usize);
                let bits = bits.iter_mut().skip((first.saturating_sub(start) / 64) as usize);
                bits.zip(words).for_each(|(bits, word)| *bits |= word);
            }
        }
    }

    /// The first documents from `target` on, as many as `room` holds; empty at the end.
    pub(crate) fn take_from<'d>(&self, target: u32, room: &'d mut [u32; BLOCK]) -> &'d [u32] {
        let mut len = 0;
        match self {
            DocSet::Numbers(numbers) => {
                let from = numbers.partition_point(|&doc| doc < target);
                for (slot, &doc) in room.iter_mut().zip(numbers.iter().skip(from)) {
                    *slot = doc;
                    len += 1;
                }
            }
            DocSet::Bits { first: before, words } => {
                let target = target.saturating_sub(*before);
                let mut mask = u64::MAX << (target % 64);
                for (at, &word) in words.iter().enumerate().skip((target / 64) as usize) {
                    let first = u32::try_from(64 * at).map_or(NO_MORE, |at| before.saturating_add(at));
                    let mut left = word & std::mem::replace(&mut mask, u64::MAX);
                    while left != 0 && len < BLOCK {
                        room[len] = first + left.trailing_zeros();
                        left &= left - 1;
                        len += 1;
                    }
                    if len == BLOCK {
                        break;
                    }
                }
            }
        }
        &room[..len]
    }

    /// The first document not below `target`; [`NO_MORE`] at the end.
    pub(crate) fn next(&self, target: u32) -> u32 {
        match self {
            DocSet::Numbers(numbers) => {
                let at = numbers.partition_point(|&doc| doc < target);
                numbers.get(at).copied().unwrap_or(NO_MORE)
            }
            DocSet::Bits { first: before, words } => {
                let target = target.saturating_sub(*before);
                let first = (target / 64) as usize;
                let mut rest = words.get(first).map_or(0, |word| word & u64::MAX << (target % 64));
                for at in first..words.len() {
                    if at > first {
                        rest = words.get(at).copied().unwrap_or(0);
                    }
                    if rest != 0 {
                        return u32::try_from(at * 64)
                            .map_or(NO_MORE, |at| before + at + rest.trailing_zeros());
                    }
                }
                NO_MORE
            }
        }
    }
}

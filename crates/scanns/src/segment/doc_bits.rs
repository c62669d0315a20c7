//! A set of documents of one segment, with a bit for each.

/// Documents of one segment: a bit for each, lowest first.
///
/// ```
/// use scanns::views::DocBits;
///
/// let mut docs = DocBits::none(100);
/// docs.insert(7);
/// docs.insert(70);
/// assert_eq!((docs.count(), docs.contains(7), docs.contains(8)), (2, true, false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocBits {
    documents: u32,
    words: Vec<u64>,
}

impl DocBits {
    /// Creates an empty set for a segment with this number of documents.
    pub fn none(documents: u32) -> Self {
        DocBits { documents, words: vec![0; (documents as usize).div_ceil(64)] }
    }

    /// Creates the set of all documents of a segment.
    pub fn all(documents: u32) -> Self {
        DocBits::of_words(documents, vec![u64::MAX; (documents as usize).div_ceil(64)])
    }

    /// Creates the set with these bits, 64 documents in a word. Words and bits beyond the documents are left
    /// out, and words that lack have no documents.
    pub(crate) fn of_words(documents: u32, mut words: Vec<u64>) -> Self {
        words.resize((documents as usize).div_ceil(64), 0);
        if let (Some(last), beyond @ 1..) = (words.last_mut(), documents % 64) {
            *last &= !(u64::MAX << beyond);
        }
        DocBits { documents, words }
    }

    /// Returns the number of documents of the segment, in the set or not.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Adds a document. A document that the segment does not have is ignored.
    #[inline]
    pub fn insert(&mut self, doc: u32) {
        if doc < self.documents
            && let Some(word) = self.words.get_mut((doc / 64) as usize)
        {
            *word |= 1 << (doc % 64);
        }
    }

    /// Removes a document.
    #[inline]
    pub fn remove(&mut self, doc: u32) {
        if let Some(word) = self.words.get_mut((doc / 64) as usize) {
            *word &= !(1 << (doc % 64));
        }
    }

    /// Returns true if the set has a document.
    #[inline]
    pub fn contains(&self, doc: u32) -> bool {
        has_bit(&self.words, doc)
    }

    /// Returns the number of documents in the set.
    pub fn count(&self) -> u64 {
        crate::codec::count_ones(&self.words)
    }

    /// Returns the bits, 64 documents in a word.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the first document of the set that is not below `target`.
    #[inline]
    pub(crate) fn next(&self, target: u32) -> Option<u32> {
        let first = (target / 64) as usize;
        let mut rest = self.words.get(first)? & u64::MAX << (target % 64);
        for at in first..self.words.len() {
            if at > first {
                rest = self.words.get(at).copied().unwrap_or(0);
            }
            if rest != 0 {
                return u32::try_from(at * 64).ok().map(|start| start + rest.trailing_zeros());
            }
        }
        None
    }

    /// Returns the documents of the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let mut next = self.next(0);
        std::iter::from_fn(move || {
            let doc = next?;
            next = self.next(doc + 1);
            Some(doc)
        })
    }

    /// Keeps the documents that `other` has, too.
    pub(crate) fn intersect(&mut self, other: &DocBits) {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter_mut().zip(others).for_each(|(word, other)| *word &= other);
    }
}

/// True if the bit of a document is set.
#[inline]
pub(crate) fn has_bit(words: &[u64], doc: u32) -> bool {
    words.get((doc / 64) as usize).is_some_and(|word| word >> (doc % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn bits_are_a_set_of_numbers() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..200 {
            let documents = random.u32(0..300);
            let (mut bits, mut set) = (DocBits::none(documents), BTreeSet::new());
            if random.bool() {
                (bits, set) = (DocBits::all(documents), (0..documents).collect());
            }
            for _ in 0..random.u32(0..200) {
                let doc = random.u32(0..310);
                if random.bool() {
                    bits.insert(doc);
                    set.extend((doc < documents).then_some(doc));
                } else {
                    bits.remove(doc);
                    set.remove(&doc);
                }
            }
            assert_eq!(bits.iter().collect::<BTreeSet<_>>(), set, "seed {seed}");
            assert_eq!((bits.count(), bits.documents()), (set.len() as u64, documents));
            let mut other = DocBits::none(documents);
            (0..documents).filter(|_| random.bool()).for_each(|doc| other.insert(doc));
            bits.intersect(&other);
            set.retain(|&doc| other.contains(doc));
            for target in 0..310 {
                assert_eq!(bits.next(target), set.range(target..).next().copied(), "seed {seed}");
                assert_eq!(bits.contains(target), set.contains(&target), "seed {seed}");
            }
        }
    }
}

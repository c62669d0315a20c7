//! The terms of a field over all leaves: all of them in order, or the most frequent ones with a prefix.
//!
//! The terms of each leaf are sorted, so they are merged as they are read. A leaf counts deleted documents
//! until they are merged away, unless it is seen by a view, which reads the lists of all terms to count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::error::Result;
use crate::search::leaf::{Leaf, TermStream};
use crate::search::searcher::Searcher;
use crate::search::terms::term_count::TermCount;

/// The number of terms between two reports of progress.
const STEP: u64 = 1 << 16;

impl Searcher<'_> {
    /// Returns the terms of the default field that begin with `prefix`, in byte order.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read. The items of the iterator fail in
    /// the same way.
    pub fn terms(&self, prefix: &[u8]) -> Result<TermCounts<'_>> {
        let place = self.fields.default_place();
        let leaves = (0..self.fields.leaves()).map(|leaf| self.fields.leaf(place, leaf));
        TermCounts::new(leaves, prefix)
    }

    /// Returns the `most` terms of the default field that begin with `prefix` and are in the most documents.
    /// They are sorted by descending frequency, and equally frequent ones in byte order. `progress` is called
    /// now and then with the number of terms that were read.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn frequent_terms(
        &self,
        prefix: &[u8],
        most: usize,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<TermCount>> {
        // The least frequent term is at the top.
        let mut kept: BinaryHeap<(Reverse<u64>, Vec<u8>, u64)> = BinaryHeap::new();
        let mut seen = 0;
        let mut terms = self.terms(prefix)?;
        while let Some(one) = terms.advance()? {
            seen += 1;
            if seen % STEP == 0 {
                progress(seen);
            }
            // Terms come in order, so an equally frequent one ranks after those that are kept.
            let is_better = kept.peek().is_none_or(|(Reverse(least), ..)| one.doc_freq > *least);
            if kept.len() < most || is_better && most > 0 {
                if kept.len() == most {
                    kept.pop();
                }
                kept.push((Reverse(one.doc_freq), one.term.clone(), one.total_freq));
            }
        }
        let count = |(Reverse(doc_freq), term, total_freq)| TermCount { term, doc_freq, total_freq };
        Ok(kept.into_sorted_vec().into_iter().map(count).collect())
    }
}

/// An iterator over the terms of all leaves with their frequencies, in byte order; see [`Searcher::terms`].
pub struct TermCounts<'s> {
    prefix: Vec<u8>,
    streams: Vec<LeafTermStream<'s>>,
    /// The next term of each stream that has one, with the index of the stream.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    current: TermCount,
}

/// The terms of a leaf.
struct LeafTermStream<'s> {
    leaf: &'s dyn Leaf,
    terms: Box<dyn TermStream + 's>,
}

impl<'s> TermCounts<'s> {
    fn new(leaves: impl Iterator<Item = &'s dyn Leaf>, prefix: &[u8]) -> Result<Self> {
        let (mut streams, mut heads) = (Vec::new(), BinaryHeap::new());
        for leaf in leaves {
            let mut terms = leaf.terms()?;
            if terms.seek(prefix)? && terms.term().starts_with(prefix) {
                heads.push(Reverse((terms.term().to_vec(), streams.len())));
                streams.push(LeafTermStream { leaf, terms });
            }
        }
        Ok(TermCounts { prefix: prefix.to_vec(), streams, heads, current: TermCount::default() })
    }

    /// Returns the next term; `None` at the end. Unlike the iterator, this does not copy the term.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn advance(&mut self) -> Result<Option<&TermCount>> {
        while self.add_next()? {
            // A view may show no document with the term.
            if self.current.doc_freq > 0 {
                return Ok(Some(&self.current));
            }
        }
        Ok(None)
    }

    /// Adds the counts of the next term; false at the end.
    fn add_next(&mut self) -> Result<bool> {
        let Some(Reverse((first, _))) = self.heads.peek() else { return Ok(false) };
        let sum = &mut self.current;
        sum.term.clone_from(first);
        (sum.doc_freq, sum.total_freq) = (0, 0);
        while let Some(mut head) = self.heads.peek_mut() {
            let Reverse((term, number)) = &mut *head;
            if *term != sum.term {
                break;
            }
            let LeafTermStream { leaf, terms } = &mut self.streams[*number];
            let found = leaf.figures(&terms.found()?)?;
            sum.doc_freq += found.doc_freq;
            sum.total_freq += found.total_freq;
            if terms.step()? && terms.term().starts_with(&self.prefix) {
                term.clear();
                term.extend_from_slice(terms.term());
            } else {
                PeekMut::pop(head);
            }
        }
        Ok(true)
    }
}

impl Iterator for TermCounts<'_> {
    type Item = Result<TermCount>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().map(|term| term.cloned()).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{Document, MapLeaf};

    /// Leaves of random words, and how frequent each is in all of them.
    fn random_leaves(random: &mut fastrand::Rng) -> (Vec<MapLeaf>, Vec<TermCount>) {
        let word = |random: &mut fastrand::Rng| -> String {
            (0..random.usize(1..4)).map(|_| ["a", "b", "ä"][random.usize(..3)]).collect()
        };
        let texts: Vec<Vec<String>> = (0..random.usize(..5))
            .map(|_| {
                let text = |random: &mut fastrand::Rng| {
                    (0..random.usize(..6)).map(|_| word(random)).collect::<Vec<_>>().join(" ")
                };
                (0..random.usize(..6)).map(|_| text(random)).collect()
            })
            .collect();
        let leaf = |texts: &Vec<String>| {
            let documents: Vec<Document> = texts.iter().map(|text| Document::of(text)).collect();
            MapLeaf::new(&documents, true)
        };
        let mut counts = std::collections::BTreeMap::<String, (u64, u64)>::new();
        for text in texts.iter().flatten() {
            let mut words: Vec<&str> = text.split_whitespace().collect();
            words.iter().for_each(|word| counts.entry((*word).to_owned()).or_default().1 += 1);
            words.sort_unstable();
            words.dedup();
            words.iter().for_each(|word| counts.entry((*word).to_owned()).or_default().0 += 1);
        }
        let count = |(term, (doc_freq, total_freq)): (String, (u64, u64))| TermCount {
            term: term.into_bytes(),
            doc_freq,
            total_freq,
        };
        (texts.iter().map(leaf).collect(), counts.into_iter().map(count).collect())
    }

    #[test]
    fn terms_of_all_leaves_come_once_in_order_and_the_most_frequent_first() {
        let seed = 0x5eed_0c01;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..500 {
            let (leaves, counts) = random_leaves(&mut random);
            let searcher = Searcher::new(leaves.iter().map(|leaf| leaf as &dyn Leaf).collect());
            let prefix = ["", "a", "ä", "\u{c3}", "zz"][random.usize(..5)].as_bytes();
            let mut expected: Vec<TermCount> =
                counts.into_iter().filter(|one| one.term.starts_with(prefix)).collect();
            let stop = random.usize(..20);
            let found: Vec<TermCount> =
                searcher.terms(prefix).unwrap().take(stop).collect::<Result<_>>().unwrap();
            assert_eq!(found, expected[..stop.min(expected.len())], "seed {seed:x} round {round}");
            expected.sort_by_key(|one| (Reverse(one.doc_freq), one.term.clone()));
            expected.truncate(stop);
            assert_eq!(
                searcher.frequent_terms(prefix, stop, |_| ()).unwrap(),
                expected,
                "seed {seed:x} {round}"
            );
        }
    }
}

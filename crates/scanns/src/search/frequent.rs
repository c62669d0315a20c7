//! The terms of a field over all leaves: in order with their frequencies, or the most frequent that begin so.
//!
//! Every leaf has its terms sorted, so they are merged as they are read, and only those that are asked for are kept.
//! A leaf counts documents that are deleted and not yet merged away.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::ControlFlow;

use super::Searcher;
use super::leaf::TermStream;
use crate::error::Result;

/// A term, and how frequent it is in all leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermCount {
    /// The term.
    pub term: Vec<u8>,
    /// Documents that have it, deleted ones included as long as they take space.
    pub doc_freq: u64,
    /// How often it occurs in them.
    pub total_freq: u64,
}

/// Terms between two calls for progress.
const STEP: u64 = 1 << 16;

impl Searcher<'_> {
    /// Calls `visit` with every term that begins with `prefix`, in the order of their bytes, until it breaks. The
    /// field is the one that is searched where none is named.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn for_each_term(
        &self,
        prefix: &[u8],
        mut visit: impl FnMut(&TermCount) -> ControlFlow<()>,
    ) -> Result<()> {
        let place = self.fields.default_place();
        let mut streams: Vec<Box<dyn TermStream + '_>> = Vec::new();
        // The next term of each leaf that has one.
        let mut heads: BinaryHeap<Reverse<(Vec<u8>, usize)>> = BinaryHeap::new();
        for leaf in 0..self.fields.leaves() {
            let mut stream = self.fields.leaf(place, leaf).terms()?;
            if stream.seek(prefix)? && stream.term().starts_with(prefix) {
                heads.push(Reverse((stream.term().to_vec(), streams.len())));
                streams.push(stream);
            }
        }
        let mut sum = TermCount { term: Vec::new(), doc_freq: 0, total_freq: 0 };
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((term, number)) = &mut *head;
            if *term != sum.term || sum.doc_freq == 0 {
                if sum.doc_freq > 0 && visit(&sum).is_break() {
                    return Ok(());
                }
                sum.term.clone_from(term);
                (sum.doc_freq, sum.total_freq) = (0, 0);
            }
            let stream = &mut streams[*number];
            let found = stream.found()?;
            sum.doc_freq += u64::from(found.doc_freq);
            sum.total_freq += found.total_freq;
            if stream.step()? && stream.term().starts_with(prefix) {
                term.clear();
                term.extend_from_slice(stream.term());
            } else {
                PeekMut::pop(head);
            }
        }
        if sum.doc_freq > 0 {
            let _ = visit(&sum);
        }
        Ok(())
    }

    /// The `most` terms that begin with `prefix` that are in the most documents, the most frequent first, equal ones
    /// in the order of their bytes. `progress` is told now and then how many terms were looked at.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if terms cannot be read.
    pub fn frequent_terms(
        &self,
        prefix: &[u8],
        most: usize,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<TermCount>> {
        // The least of those that are kept is on top.
        let mut kept: BinaryHeap<(Reverse<u64>, Vec<u8>, u64)> = BinaryHeap::new();
        let mut seen = 0;
        self.for_each_term(prefix, |one| {
            seen += 1;
            if seen % STEP == 0 {
                progress(seen);
            }
            // Terms come in order: an equal one is behind those that are there.
            let enters = kept.peek().is_none_or(|(Reverse(least), ..)| one.doc_freq > *least);
            if kept.len() < most || enters && most > 0 {
                if kept.len() == most {
                    kept.pop();
                }
                kept.push((Reverse(one.doc_freq), one.term.clone(), one.total_freq));
            }
            ControlFlow::Continue(())
        })?;
        let count = |(Reverse(doc_freq), term, total_freq)| TermCount { term, doc_freq, total_freq };
        Ok(kept.into_sorted_vec().into_iter().map(count).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Leaf;
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
            let mut found = Vec::new();
            let visit = |one: &TermCount| {
                found.push(one.clone());
                if found.len() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            searcher.for_each_term(prefix, visit).unwrap();
            let some = if stop == 0 { expected.len() } else { stop.min(expected.len()) };
            assert_eq!(found, expected[..some], "seed {seed:x} round {round}");
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

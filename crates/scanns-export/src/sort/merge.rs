//! Merges several runs.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::Result;

use super::run::{RunReader, SortedRun};

/// A merge of runs, which yields rows in order.
#[derive(Debug)]
pub struct Merge {
    heads: BinaryHeap<Head>,
    /// True if the first row was returned already.
    given: bool,
}

/// The next row of a run.
#[derive(Debug)]
struct Head {
    record: Vec<u8>,
    /// The length of the key, at the beginning of the record.
    key: usize,
    from: RunReader,
}

impl Head {
    fn parts(&self) -> (&[u8], &[u8]) {
        self.record.split_at(self.key.min(self.record.len()))
    }
}

impl Ord for Head {
    /// Reversed, so that the heap yields the first row.
    fn cmp(&self, other: &Self) -> Ordering {
        other.parts().0.cmp(self.parts().0)
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl Merge {
    /// Starts a merge of these runs, with a buffer of `buffer` bytes for each.
    pub(super) fn new(runs: Vec<SortedRun>, buffer: usize) -> Result<Self> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for run in runs {
            let (mut from, mut record) = (run.read(buffer), Vec::new());
            if let Some(key) = from.next(&mut record)? {
                heads.push(Head { record, key, from });
            }
        }
        Ok(Merge { heads, given: false })
    }

    /// The next key and its row; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if std::mem::replace(&mut self.given, true)
            && let Some(mut first) = self.heads.peek_mut()
        {
            let Head { record, key, from } = &mut *first;
            match from.next(record)? {
                Some(length) => *key = length,
                None => drop(PeekMut::pop(first)),
            }
        }
        Ok(self.heads.peek().map(Head::parts))
    }
}

//! Gathers the values of documents that match the query inside a join.
//!
//! The numbers of keywords are gathered in each leaf, and each keyword is read once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use super::tally::Tally;
use super::values::{DistinctValues, JoinValues, not_comparable};
use crate::column::{Column, ColumnCursor, ColumnKind};
use crate::error::{Error, Result};
use crate::query::JoinOn;
use crate::search::leaf::Leaf;

/// Bytes of memory for a value beside its text.
const VALUE_BYTES: usize = 64;

/// Gathers the values of some documents. Their leaves must ascend.
pub(crate) struct ValueGatherer<'a> {
    on: JoinOn,
    leaves: &'a [&'a dyn Leaf],
    leaf: Option<OpenLeaf<'a>>,
    texts: HashMap<Vec<u8>, Tally>,
    numbers: HashMap<u64, Tally>,
    /// The kind of the numbers.
    kind: Option<ColumnKind>,
    room: ValueRoom,
    /// The values of a document.
    of_doc: Vec<u64>,
}

/// A leaf whose values are being gathered.
struct OpenLeaf<'a> {
    leaf: usize,
    column: Option<(&'a Column, ColumnCursor<'a>)>,
    /// By number in the dictionary, or by value if there is none.
    tallies: HashMap<u64, Tally>,
}

/// The memory for values.
#[derive(Clone, Copy)]
struct ValueRoom {
    used: usize,
    limit: usize,
}

impl ValueRoom {
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.used += bytes;
        if self.used <= self.limit {
            return Ok(());
        }
        Err(Error::TooMany {
            what: "bytes of distinct values in a join",
            limit: self.limit as u64,
            remedy: "narrow the query inside the join, or raise the limit with Searcher::with_join_memory",
        })
    }
}

impl<'a> ValueGatherer<'a> {
    /// Gathers nothing yet. The values may take `limit` bytes.
    pub(crate) fn new(on: JoinOn, leaves: &'a [&'a dyn Leaf], limit: usize) -> Self {
        ValueGatherer {
            on,
            leaves,
            leaf: None,
            texts: HashMap::new(),
            numbers: HashMap::new(),
            kind: None,
            room: ValueRoom { used: 0, limit },
            of_doc: Vec::new(),
        }
    }

    /// Adds the values of documents of a leaf with their scores. The documents ascend.
    pub(crate) fn take(&mut self, leaf: usize, docs: impl Iterator<Item = (u32, f32)>) -> Result<()> {
        if self.leaf.as_ref().is_none_or(|open| open.leaf != leaf) {
            self.end_leaf()?;
            self.begin_leaf(leaf)?;
        }
        let (Some(open), Some(of)) = (&mut self.leaf, self.leaves.get(leaf)) else { return Ok(()) };
        for (doc, score) in docs {
            if self.on == JoinOn::Key {
                add(&mut self.texts, of.key(doc)?, score_of(score), &mut self.room, Vec::len)?;
            } else if let Some((_, cursor)) = &mut open.column {
                self.of_doc.clear();
                cursor.get(doc, &mut self.of_doc)?;
                // Values of a document ascend.
                self.of_doc.dedup();
                for &value in &self.of_doc {
                    add(&mut open.tallies, value, score_of(score), &mut self.room, |_| 0)?;
                }
            }
        }
        Ok(())
    }

    fn begin_leaf(&mut self, leaf: usize) -> Result<()> {
        let column = match (self.on, self.leaves.get(leaf)) {
            (JoinOn::Column(field), Some(leaf)) => leaf.column(field),
            _ => None,
        };
        match column.map(Column::kind) {
            None | Some(ColumnKind::Keyword) => {}
            Some(kind @ (ColumnKind::Unsigned | ColumnKind::Signed)) => self.kind = Some(kind),
            Some(_) => return Err(not_comparable()),
        }
        let column = column.map(|column| (column, ColumnCursor::new(column)));
        self.leaf = Some(OpenLeaf { leaf, column, tallies: HashMap::new() });
        Ok(())
    }

    /// Adds the values of the current leaf to those of all leaves.
    fn end_leaf(&mut self) -> Result<()> {
        let Some(OpenLeaf { column: Some((column, _)), tallies, .. }) = self.leaf.take() else {
            return Ok(());
        };
        self.room.used = self.room.used.saturating_sub(tallies.len() * VALUE_BYTES);
        let Some(terms) = column.terms() else {
            let (numbers, room) = (&mut self.numbers, &mut self.room);
            return tallies
                .into_iter()
                .try_for_each(|(value, tally)| add(numbers, value, tally, room, |_| 0));
        };
        let mut numbers: Vec<u32> =
            tallies.keys().map(|&number| u32::try_from(number).unwrap_or(u32::MAX)).collect();
        numbers.sort_unstable();
        terms.terms_of(&numbers, |number, term| {
            let tally = tallies.get(&u64::from(number)).copied().unwrap_or(Tally::NOTHING);
            add(&mut self.texts, term.to_vec(), tally, &mut self.room, Vec::len)
        })
    }

    /// The values of all gatherers.
    pub(crate) fn join(gatherers: Vec<Self>) -> Result<JoinValues> {
        let mut all: Option<Self> = None;
        for mut gatherer in gatherers {
            gatherer.end_leaf()?;
            let Some(all) = &mut all else {
                all = Some(gatherer);
                continue;
            };
            all.kind = all.kind.or(gatherer.kind);
            for (text, tally) in gatherer.texts {
                add(&mut all.texts, text, tally, &mut all.room, Vec::len)?;
            }
            for (number, tally) in gatherer.numbers {
                add(&mut all.numbers, number, tally, &mut all.room, |_| 0)?;
            }
        }
        Ok(all.map_or(JoinValues { values: DistinctValues::Nothing, tallies: Vec::new() }, Self::finish))
    }

    fn finish(self) -> JoinValues {
        match self.kind.filter(|_| !self.numbers.is_empty()) {
            Some(kind) => {
                let (numbers, tallies) = sorted(self.numbers);
                JoinValues { values: DistinctValues::Numbers(kind, numbers), tallies }
            }
            None if self.texts.is_empty() => {
                JoinValues { values: DistinctValues::Nothing, tallies: Vec::new() }
            }
            None => {
                let (texts, tallies) = sorted(self.texts);
                JoinValues { values: DistinctValues::Texts(texts), tallies }
            }
        }
    }
}

fn score_of(score: f32) -> Tally {
    let mut tally = Tally::NOTHING;
    tally.add(score);
    tally
}

/// Adds scores to a value, which takes memory if it is new.
fn add<V: Hash + Eq>(
    all: &mut HashMap<V, Tally>,
    value: V,
    tally: Tally,
    room: &mut ValueRoom,
    heap: impl Fn(&V) -> usize,
) -> Result<()> {
    match all.entry(value) {
        Entry::Occupied(mut known) => known.get_mut().merge(tally),
        Entry::Vacant(new) => {
            room.take(VALUE_BYTES + heap(new.key()))?;
            new.insert(tally);
        }
    }
    Ok(())
}

fn sorted<V: Ord>(all: HashMap<V, Tally>) -> (Vec<V>, Vec<Tally>) {
    let mut all: Vec<(V, Tally)> = all.into_iter().collect();
    all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    all.into_iter().unzip()
}

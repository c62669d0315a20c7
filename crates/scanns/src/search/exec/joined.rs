//! Finds the documents of a leaf that a join matches.
//!
//! The values of the join are mapped to numbers of the leaf once. Blocks of the column whose bounds have none
//! of them are skipped; in others, each number is looked up in a bit set. All threads that need the documents
//! find them together.

use std::sync::Arc;

use super::column_part::{ColumnPart, parts};
use crate::column::{Column, Scan};
use crate::error::{Error, Result};
use crate::query::{JoinOn, JoinQuery};
use crate::search::doc_set::{DocSet, DocSetBuilder};
use crate::search::exec::view::View;
use crate::search::joining::leaf_numbers::{LeafNumbers, ScoredDocs};
use crate::search::joining::tally::Tally;
use crate::search::joining::values::JoinValues;
use crate::search::plan::found::LeafJoin;

/// The documents that match.
pub(crate) fn docs(view: &View, join: &JoinQuery, found: &LeafJoin) -> Result<Arc<DocSet>> {
    let (values, max_doc) = (values_of(found)?, view.max_doc);
    let concat = |parts| DocSet::joined(max_doc, parts);
    let JoinOn::Column(field) = join.to else {
        return found.docs.get_or_find(1, |_| keyed(view, &values), concat);
    };
    let Some(column) = view.leaf.column(field) else {
        return found.docs.get_or_find(0, |_| no_docs(), concat);
    };
    let numbers = found.numbers.get_or_find(|| LeafNumbers::of_column(column, &values, view.clock))?;
    let find = |part| {
        let part = ColumnPart::of(column, part, view.clock);
        let mut docs = part.nothing()?;
        each_block(&part, &numbers, |of_block| {
            for (doc, values) in of_block.documents() {
                if values.iter().any(|&value| numbers.has(value)) {
                    docs.add(&[doc]);
                }
            }
        })?;
        Ok(docs.finish())
    };
    found.docs.get_or_find(parts(column), find, concat)
}

/// The documents that match, with their scores.
pub(crate) fn scored(view: &View, join: &JoinQuery, found: &LeafJoin) -> Result<Arc<ScoredDocs>> {
    let values = values_of(found)?;
    let JoinOn::Column(field) = join.to else {
        return found.scored.get_or_find(1, |_| scored_by_key(view, join, &values), ScoredDocs::joined);
    };
    let Some(column) = view.leaf.column(field) else {
        return found.scored.get_or_find(0, |_| Ok(ScoredDocs::default()), ScoredDocs::joined);
    };
    let numbers = found.numbers.get_or_find(|| LeafNumbers::of_column(column, &values, view.clock))?;
    let find =
        |part| scored_in_part(column, part, view, join, WantedNumbers { values: &values, numbers: &numbers });
    found.scored.get_or_find(parts(column), find, ScoredDocs::joined)
}

/// The values that documents must have.
#[derive(Clone, Copy)]
struct WantedNumbers<'w> {
    values: &'w JoinValues,
    numbers: &'w LeafNumbers,
}

fn scored_in_part(
    column: &Column,
    part: usize,
    view: &View,
    join: &JoinQuery,
    wanted: WantedNumbers,
) -> Result<ScoredDocs> {
    let mut docs = ScoredDocs::default();
    each_block(&ColumnPart::of(column, part, view.clock), wanted.numbers, |of_block| {
        for (doc, values) in of_block.documents() {
            let (mut tally, mut before) = (None::<Tally>, None);
            // The values of a document ascend.
            for &value in values.iter().filter(|&&value| before.replace(value) != Some(value)) {
                let place = wanted.numbers.place(value);
                if let Some(own) = place.and_then(|place| wanted.values.tallies.get(place)) {
                    tally.get_or_insert(Tally::NOTHING).merge(*own);
                }
            }
            if let Some(tally) = tally {
                docs.push(doc, tally.score(join.score));
            }
        }
    })?;
    Ok(docs)
}

/// Calls `each` with the values of every block that may have one of the numbers.
fn each_block(
    part: &ColumnPart,
    numbers: &LeafNumbers,
    mut each: impl FnMut(crate::column::Values),
) -> Result<()> {
    let mut scan = Scan::new();
    for block in part.blocks.clone() {
        if part.clock.is_up() {
            break;
        }
        let entry = part.column.entry(block)?;
        if entry.values > 0 && numbers.may_have(entry.least, entry.most) {
            each(scan.read(part.column, block)?);
        }
    }
    Ok(())
}

fn keyed(view: &View, values: &JoinValues) -> Result<DocSet> {
    let mut docs = DocSetBuilder::new(view.max_doc);
    for (doc, _) in LeafNumbers::keyed(view.leaf, values)? {
        docs.add(&[doc]);
    }
    Ok(docs.finish())
}

fn scored_by_key(view: &View, join: &JoinQuery, values: &JoinValues) -> Result<ScoredDocs> {
    let mut docs = ScoredDocs::default();
    for (doc, place) in LeafNumbers::keyed(view.leaf, values)? {
        let tally = values.tallies.get(place as usize).copied().unwrap_or(Tally::NOTHING);
        docs.push(doc, tally.score(join.score));
    }
    Ok(docs)
}

fn no_docs() -> Result<DocSet> {
    Ok(DocSet::Numbers(Vec::new()))
}

/// The values of the join, which are found before any leaf is searched.
fn values_of(found: &LeafJoin) -> Result<Arc<JoinValues>> {
    let values = found.values.get().map(Arc::clone);
    values.ok_or_else(|| Error::panicked("a join", &"its values were not found before its documents"))
}

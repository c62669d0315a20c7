//! The values of all hits, some rows at a time and field by field: what is exported.
//!
//! Hits come in the order of documents. Those of a batch are of one leaf, and each field is read from front to back, whole
//! blocks at once where most of their documents are hits. What is held in memory is one batch, and that is bounded in rows
//! and in bytes: where values turn out to be longer than that, half as many rows are taken, down to a single one.
//!
//! `column.rs` is the values of a field, `fill.rs` reads them.

mod column;
mod fill;

use std::ops::ControlFlow;

pub use column::BatchColumn;

use super::Snapshot;
use crate::column::ColumnKind;
use crate::error::{Error, Result};
use crate::schema::Field;
use crate::search::{Model, Query, Searcher, docs_of};
use fill::Filler;

/// What a column of a batch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchField {
    /// The name of the document, as a text.
    Key,
    /// The values of a field: those of its column, numbers and keywords ascending, or else stored ones.
    Values(Field),
}

/// How rows are put together.
#[derive(Clone, Copy, Debug)]
pub struct BatchOptions {
    /// Rows of a batch, at most.
    pub rows: usize,
    /// Bytes of the values of a batch, about, and at least one row.
    pub bytes: usize,
    /// How hits are scored, if they are.
    pub model: Option<Model>,
    /// The leaf and the document to begin with: hits before it are passed without being read.
    pub from: (usize, u32),
}

impl Default for BatchOptions {
    fn default() -> Self {
        BatchOptions { rows: 16 << 10, bytes: 16 << 20, model: None, from: (0, 0) }
    }
}

/// Some hits and their values.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// The leaf that they are in.
    pub leaf: usize,
    /// Their documents in it, ascending; never none.
    pub docs: &'b [u32],
    /// Their scores, if a model was given.
    pub scores: &'b [f32],
    /// By field that was asked for, a row for each document.
    pub columns: &'b [BatchColumn],
}

/// Takes a batch.
pub type BatchVisit<'v> = dyn FnMut(&Batch<'_>) -> Result<ControlFlow<()>> + 'v;

impl Snapshot {
    /// Calls `visit` with all hits and their values of `fields`, some at a time, in the order of documents, until it breaks.
    ///
    /// # Errors
    /// [`Error::Options`] for a field that is neither a column nor stored, [`Error::Corrupt`] if values cannot be read, and
    /// whatever `visit` says.
    pub fn for_each_batch(
        &self,
        query: &Query,
        fields: &[BatchField],
        options: &BatchOptions,
        visit: &mut BatchVisit<'_>,
    ) -> Result<()> {
        let searcher = self.searcher();
        let columns = fields.iter().map(|&field| self.batch_kind(field).map(BatchColumn::new));
        let columns = columns.collect::<Result<_>>()?;
        let pending = (Vec::new(), Vec::new());
        let (searcher, leaf, filler) = (&searcher, options.from.0, None);
        let rows = options.rows.max(1);
        let mut state = Batches {
            snapshot: self,
            searcher,
            fields,
            options,
            leaf,
            filler,
            pending,
            rows,
            columns,
            visit,
        };
        let mut outcome = Ok(());
        match options.model {
            None => searcher.for_each_window_from(query, options.from, |leaf, start, bits| {
                let docs = docs_of(start, bits).filter(|&doc| (leaf, doc) >= options.from);
                go_on(state.take(leaf, docs, &[]), &mut outcome)
            })?,
            Some(model) => searcher.for_each_batch(query, model, |leaf, docs, scores| {
                let from = if leaf == options.from.0 { options.from.1 } else { 0 };
                let passed = match leaf < options.from.0 {
                    true => docs.len(),
                    false => docs.partition_point(|&doc| doc < from),
                };
                let docs = docs.get(passed..).unwrap_or_default().iter().copied();
                go_on(state.take(leaf, docs, scores.get(passed..).unwrap_or_default()), &mut outcome)
            })?,
        }
        if outcome.is_ok() && !state.ended() {
            state.send(true).map(drop)?;
        }
        outcome
    }

    /// What the values of a column of a batch are.
    fn batch_kind(&self, field: BatchField) -> Result<ColumnKind> {
        let BatchField::Values(field) = field else { return Ok(ColumnKind::Text) };
        match self.schema().entry(field) {
            Some(entry) if entry.column || entry.stored => Ok(ColumnKind::of(&entry.kind)),
            other => {
                let name = other.map_or("", |entry| entry.name.as_str());
                Err(Error::Options(format!(
                    "the values of field '{name}' are not kept: only those of columns and of stored fields are"
                )))
            }
        }
    }

    /// True if some document may have several values of a field; where it is no column that is not known, and true.
    pub fn may_have_several(&self, field: Field) -> bool {
        match self.schema().entry(field) {
            Some(entry) if entry.column => {
                let columns = self.leaves().iter().filter_map(|segment| segment.column(field));
                columns.into_iter().any(|column| column.values() > column.present())
            }
            _ => true,
        }
    }
}

/// Breaks if that did or failed, which is noted.
fn go_on(sent: Result<ControlFlow<()>>, outcome: &mut Result<()>) -> ControlFlow<()> {
    sent.unwrap_or_else(|error| {
        *outcome = Err(error);
        ControlFlow::Break(())
    })
}

/// Hits that wait until they are enough.
struct Batches<'b, 's> {
    snapshot: &'s Snapshot,
    searcher: &'s Searcher<'s>,
    fields: &'b [BatchField],
    options: &'b BatchOptions,
    /// The leaf that all that follows is of.
    leaf: usize,
    filler: Option<Filler<'s>>,
    pending: (Vec<u32>, Vec<f32>),
    /// Rows that are taken next: fewer than allowed where values are long; none if the visitor broke.
    rows: usize,
    columns: Vec<BatchColumn>,
    visit: &'b mut BatchVisit<'b>,
}

impl Batches<'_, '_> {
    fn ended(&self) -> bool {
        self.rows == 0
    }

    /// Takes hits of a leaf; leaves come in order.
    fn take(
        &mut self,
        leaf: usize,
        docs: impl Iterator<Item = u32>,
        scores: &[f32],
    ) -> Result<ControlFlow<()>> {
        if leaf != self.leaf {
            if self.send(true)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            (self.leaf, self.filler) = (leaf, None);
        }
        self.pending.0.extend(docs);
        self.pending.1.extend_from_slice(scores);
        self.send(false)
    }

    /// Reads and sends what waits as far as it fills batches, or all of it.
    fn send(&mut self, all: bool) -> Result<ControlFlow<()>> {
        let Batches { snapshot, searcher, fields, options, leaf, filler, pending, rows, columns, visit } =
            self;
        let (docs, scores) = (&mut pending.0, &mut pending.1);
        let mut sent = 0;
        while let Some(left) =
            docs.get(sent..).filter(|left| if all { !left.is_empty() } else { left.len() >= *rows })
        {
            let filler = filler.get_or_insert_with(|| Filler::new(snapshot, searcher, *leaf, fields));
            let taken = left.get(..*rows).unwrap_or(left);
            if !filler.fill(taken, options.bytes, columns)? && taken.len() > 1 {
                *rows = taken.len() / 2;
                continue;
            }
            let scores = scores.get(sent..sent + taken.len()).unwrap_or_default();
            let batch = Batch { leaf: *leaf, docs: taken, scores, columns };
            sent += taken.len();
            if visit(&batch)?.is_break() {
                *rows = 0;
                return Ok(ControlFlow::Break(()));
            }
            *rows = (*rows * 2).min(options.rows.max(1));
        }
        docs.drain(..sent);
        scores.drain(..sent.min(scores.len()));
        Ok(ControlFlow::Continue(()))
    }
}

//! Visits all hits of a query and their values in batches.

use std::ops::ControlFlow;

use super::column::BatchColumn;
use super::fill::BatchFiller;
use super::options::{Batch, BatchField, BatchOptions, BatchVisit};
use crate::column::ColumnKind;
use crate::error::{Error, Result};
use crate::index::snapshot::open::Snapshot;
use crate::query::Query;
use crate::schema::{Field, FieldKind};
use crate::search::{Searcher, docs_of};

impl Snapshot {
    /// Calls `visit` with batches of all hits and their values of `fields`, in document order, until it
    /// breaks.
    ///
    /// # Errors
    /// [`Error::InvalidField`] for a field that is neither a column nor stored; [`Error::Corrupt`] if values
    /// cannot be read; and the errors of `visit`.
    pub fn for_each_batch(
        &self,
        query: &Query,
        fields: &[BatchField],
        options: &BatchOptions,
        visit: &mut BatchVisit<'_>,
    ) -> Result<()> {
        self.for_each_batch_of(&self.searcher(), query, fields, options, visit)
    }

    /// The same with the hits of a searcher of this snapshot. If the budget of the searcher runs out, there
    /// are no more batches.
    ///
    /// # Errors
    /// The errors of [`Snapshot::for_each_batch`].
    pub fn for_each_batch_of(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        fields: &[BatchField],
        options: &BatchOptions,
        visit: &mut BatchVisit<'_>,
    ) -> Result<()> {
        let columns = fields.iter().map(|&field| self.batch_kind(field).map(BatchColumn::new));
        let columns = columns.collect::<Result<_>>()?;
        let mut state = Batcher {
            snapshot: self,
            searcher,
            fields,
            options,
            leaf: options.from.0,
            fill: None,
            docs: Vec::new(),
            scores: Vec::new(),
            rows: options.rows.max(1),
            columns,
            visit,
        };
        let mut outcome = Ok(());
        match options.model {
            None => searcher.prepare(query)?.for_each_window_from(
                options.from.0,
                options.from.1,
                |leaf, start, bits| {
                    let docs = docs_of(start, bits).filter(|&doc| (leaf, doc) >= options.from);
                    go_on(state.take(leaf, docs, &[]), &mut outcome)
                },
            )?,
            Some(model) => searcher.for_each_batch(query, model, |leaf, docs, scores| {
                let from = if leaf == options.from.0 { options.from.1 } else { 0 };
                let skipped =
                    if leaf < options.from.0 { docs.len() } else { docs.partition_point(|&doc| doc < from) };
                let docs = docs.get(skipped..).unwrap_or_default().iter().copied();
                go_on(state.take(leaf, docs, scores.get(skipped..).unwrap_or_default()), &mut outcome)
            })?,
        }
        if outcome.is_ok() && !state.ended() {
            state.send(true).map(drop)?;
        }
        outcome
    }

    /// Returns the kind of the values of a column of a batch.
    fn batch_kind(&self, field: BatchField) -> Result<ColumnKind> {
        let is_whole = matches!(field, BatchField::Values(_));
        let Some(field) = field.field() else { return Ok(ColumnKind::Text) };
        match self.schema().entry(field) {
            Some(entry) if !is_whole && entry.kind != FieldKind::Path => Err(Error::InvalidField {
                field: entry.name.clone(),
                problem: "is no field of paths".into(),
                remedy: "ask for its values instead of directories or names".into(),
            }),
            Some(entry) if entry.column || entry.stored => Ok(ColumnKind::of(&entry.kind)),
            other => {
                let name = other.map_or_else(|| field.number().to_string(), |entry| entry.name.clone());
                Err(Error::InvalidField {
                    field: name,
                    problem: "has no values to read".into(),
                    remedy: "ask for a field that is a column or is stored".into(),
                })
            }
        }
    }

    /// Returns true if a document may have several values of a field. Always true for a field that is not a
    /// column, and if the snapshot is [seen by a view](Snapshot::seen_by).
    pub fn may_have_several(&self, field: Field) -> bool {
        match self.schema().entry(field) {
            Some(entry) if entry.column && !self.is_view() => {
                let columns = self.leaves().iter().filter_map(|segment| segment.column(field));
                columns.into_iter().any(|column| column.values() > column.present())
            }
            _ => true,
        }
    }
}

/// Breaks if `sent` broke or failed, and stores the error in `outcome`.
fn go_on(sent: Result<ControlFlow<()>>, outcome: &mut Result<()>) -> ControlFlow<()> {
    sent.unwrap_or_else(|error| {
        *outcome = Err(error);
        ControlFlow::Break(())
    })
}

/// Collects hits until they fill a batch.
struct Batcher<'b, 's> {
    snapshot: &'s Snapshot,
    searcher: &'s Searcher<'s>,
    fields: &'b [BatchField],
    options: &'b BatchOptions,
    /// The leaf of the collected hits.
    leaf: usize,
    fill: Option<BatchFiller<'s>>,
    /// The collected hits and their scores.
    docs: Vec<u32>,
    scores: Vec<f32>,
    /// Rows of the next batch: fewer than allowed if values are long, 0 once the visitor broke.
    rows: usize,
    columns: Vec<BatchColumn>,
    visit: &'b mut BatchVisit<'b>,
}

impl Batcher<'_, '_> {
    fn ended(&self) -> bool {
        self.rows == 0
    }

    /// Adds hits of a leaf. Leaves come in ascending order.
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
            (self.leaf, self.fill) = (leaf, None);
        }
        self.docs.extend(docs);
        self.scores.extend_from_slice(scores);
        self.send(false)
    }

    /// Reads and sends the collected hits that fill batches, or `all` of them.
    fn send(&mut self, all: bool) -> Result<ControlFlow<()>> {
        let Batcher { snapshot, searcher, fields, options, leaf, fill, docs, scores, rows, columns, visit } =
            self;
        let mut sent = 0;
        while let Some(left) =
            docs.get(sent..).filter(|left| if all { !left.is_empty() } else { left.len() >= *rows })
        {
            let fill = fill.get_or_insert_with(|| BatchFiller::new(snapshot, searcher, *leaf, fields));
            let taken = left.get(..*rows).unwrap_or(left);
            if !fill.fill(taken, options.bytes, columns)? && taken.len() > 1 {
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

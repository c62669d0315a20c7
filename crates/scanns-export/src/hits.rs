//! The rows of all hits of a query.

use std::ops::ControlFlow;

use scanns::columns::{Batch, BatchField, BatchOptions};
use scanns::search::{Model, Searcher};
use scanns::{Query, Snapshot};

use crate::error::Result;
use crate::shape::Shape;
use crate::sort::key::RowKeys;
use crate::sort::{Sorted, Sorter};

/// The rows of all hits of a query, read in index order.
pub struct HitRows<'a> {
    /// The index, or what a user sees of it.
    pub snapshot: &'a Snapshot,
    /// A searcher of the snapshot. If its budget runs out, there are no more rows.
    pub searcher: &'a Searcher<'a>,
    /// The query.
    pub query: &'a Query,
    /// The model, if rows are sorted by score.
    pub model: Option<Model>,
    /// True if nobody wants the rows any longer. Asked often, between rows.
    pub stop: &'a dyn Fn() -> bool,
}

impl HitRows<'_> {
    /// Calls `visit` with batches of values, beginning with the leaf and document `from`, until all are read,
    /// or nobody wants them.
    ///
    /// # Errors
    /// Values cannot be read, and the errors of `visit`.
    pub fn each<E: From<scanns::Error>>(
        &self,
        fields: &[BatchField],
        from: (usize, u32),
        mut visit: impl FnMut(&Batch<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut outcome = Ok(());
        let options = BatchOptions { model: self.model, from, ..BatchOptions::default() };
        self.snapshot.for_each_batch_of(self.searcher, self.query, fields, &options, &mut |batch| {
            outcome = visit(batch);
            let ends = outcome.is_err() || (self.stop)();
            Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        outcome
    }

    /// Marks columns that contain invalid UTF-8 as binary, for formats whose texts must be valid. The first
    /// fields are those of the columns.
    ///
    /// # Errors
    /// Values cannot be read.
    pub fn find_binary(&self, fields: &[BatchField], shapes: &mut [Shape]) -> Result<()> {
        let texts = fields.iter().zip(&*shapes).zip(0usize..).filter(|((_, shape), _)| shape.is_text());
        let (fields, places): (Vec<_>, Vec<_>) = texts.map(|((&field, _), place)| (field, place)).unzip();
        self.each(&fields, (0, 0), |batch| -> Result<()> {
            for (column, &place) in batch.columns.iter().zip(&places) {
                if let Some(shape) = shapes.get_mut(place) {
                    shape.look_at(column);
                }
            }
            Ok(())
        })
    }

    /// Sorts all rows, and marks columns that contain invalid UTF-8 as binary; `None` if nobody wants the
    /// rows. The first fields are those of the columns; the keys may need others. `count` gets the number of
    /// rows so far.
    ///
    /// # Errors
    /// Values cannot be read, or temporary files cannot be used.
    pub fn sort(
        &self,
        fields: &[BatchField],
        shapes: &mut [Shape],
        keys: &RowKeys,
        mut sorter: Sorter,
        mut count: impl FnMut(u64),
    ) -> Result<Option<Sorted>> {
        let (mut key, mut row, mut rows) = (Vec::new(), Vec::new(), 0);
        self.each(fields, (0, 0), |batch| -> Result<()> {
            shapes.iter_mut().zip(batch.columns).for_each(|(shape, column)| shape.look_at(column));
            for at in 0..batch.docs.len() {
                keys.put(batch, at, &mut key);
                row.clear();
                for (column, _) in batch.columns.iter().zip(&*shapes) {
                    column.put_row(at, &mut row);
                }
                if !sorter.push(&key, &row, self.stop)? {
                    return Ok(());
                }
            }
            rows += batch.docs.len() as u64;
            count(rows);
            Ok(())
        })?;
        if (self.stop)() { Ok(None) } else { sorter.finish(self.stop) }
    }
}

//! Sends rows to their target, in index order or in another.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, Result, anyhow};
use scanns::columns::{Batch, BatchColumn, BatchField, BatchOptions};

use super::Export;
#[cfg(feature = "arrow")]
use super::binary::{Arrow, Parquet};
use super::shape::{NotUnicode, Shape};
use super::sort::key::Order;
use super::sort::{Sorted, Sorter};
use super::target::{Checkpoints, State, Target};
use super::write::{Csv, JsonLines, Rows};
use crate::args::ExportFormat;
use crate::progress::Ticker;

/// The maximum number of sorted rows in a batch, and about the maximum number of their bytes.
const SORTED: (usize, usize) = (8 << 10, 4 << 20);

/// The result of sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The number of rows written, including those of earlier runs.
    pub rows: u64,
    /// True if the user asked to stop.
    pub stopped: bool,
}

impl Export<'_> {
    /// Sends all rows that earlier runs have not written, until the user asks to stop.
    pub(super) fn send(&self, target: &Target, stop: &AtomicBool) -> Result<Sent> {
        let mut shapes = self.shapes.clone();
        if let Some(order) = &self.order {
            let Some(mut sorted) = self.sorted(order, target, &mut shapes, stop)? else {
                return Ok(Sent { rows: target.before.rows, stopped: true });
            };
            return self.write(target, &shapes, stop, |rows, sending| sending.sorted(rows, &mut sorted));
        }
        let is_binary = matches!(self.format, ExportFormat::Arrow | ExportFormat::Parquet);
        if is_binary && target.is_stream() {
            self.find_binary(&mut shapes, stop)?;
        }
        match self.write(target, &shapes, stop, |rows, sending| sending.in_order(rows)) {
            Err(error) if error.is::<NotUnicode>() && !target.is_stream() => {
                self.find_binary(&mut shapes, stop)?;
                target.begin_anew().context("cannot start the file again")?;
                self.write(target, &shapes, stop, |rows, sending| sending.in_order(rows))
            }
            sent => sent,
        }
    }

    /// The writer of the requested format.
    fn rows<'t>(&self, target: &'t Target, shapes: &[Shape]) -> Result<Box<dyn Rows + 't>> {
        let names = || shapes.iter().map(|shape| shape.name.clone()).collect();
        #[cfg(feature = "arrow")]
        let (of, how) = (shapes.to_vec(), self.compression);
        Ok(match self.format {
            ExportFormat::Csv => Box::new(Csv::new(target.counted(), names())),
            ExportFormat::Jsonl => Box::new(JsonLines::new(target.counted(), names())),
            #[cfg(feature = "arrow")]
            ExportFormat::Arrow => Box::new(Arrow::new(&target.file, of, how, target.is_stream())?),
            #[cfg(feature = "arrow")]
            ExportFormat::Parquet => Box::new(Parquet::new(&target.file, of, how)?),
            #[cfg(not(feature = "arrow"))]
            ExportFormat::Arrow | ExportFormat::Parquet => return Err(super::not_built()),
        })
    }

    /// Writes the rows of `send` in the requested format.
    fn write(
        &self,
        target: &Target,
        shapes: &[Shape],
        stop: &AtomicBool,
        send: impl FnOnce(&mut dyn Rows, &mut Sending<'_>) -> Result<()>,
    ) -> Result<Sent> {
        let mut rows = self.rows(target, shapes)?;
        if target.before == State::default() {
            rows.begin().context("cannot write the rows")?;
        }
        let State { rows: before, next, .. } = target.before;
        let mut sending = Sending {
            export: self,
            stop,
            checkpoints: Checkpoints::new(target, &self.what, self.args.checkpoint_every),
            ticker: self.ticker("row", before)?,
            shapes,
            rows: before,
            next,
        };
        send(&mut *rows, &mut sending)?;
        sending.ticker.clear();
        let Sending { rows: count, next, mut checkpoints, .. } = sending;
        if stop.load(Ordering::Relaxed) {
            if count > 0 {
                checkpoints.now(count, next)?;
            }
            return Ok(Sent { rows: count, stopped: true });
        }
        rows.end().context("cannot write the rows")?;
        checkpoints.wait()?;
        Ok(Sent { rows: count, stopped: false })
    }

    /// A ticker for the number of hits; an earlier run has done `before` of them.
    fn ticker(&self, thing: &'static str, before: u64) -> Result<Ticker> {
        // Counting takes time, which is wasted if nobody sees the total.
        let seen = io::stderr().is_terminal();
        let total = if seen { Some(self.snapshot.searcher().count(&self.query)?) } else { None };
        Ok(Ticker::new(thing).of(total, before))
    }

    /// Calls `visit` with batches of the values of all hits, beginning at the document `from`, until the user
    /// asks to stop.
    fn each(
        &self,
        fields: &[BatchField],
        from: (usize, u32),
        stop: &AtomicBool,
        mut visit: impl FnMut(&Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok::<(), Error>(());
        let options = BatchOptions { model: self.model, from, ..BatchOptions::default() };
        self.snapshot.for_each_batch(&self.query, fields, &options, &mut |batch| {
            outcome = visit(batch);
            let ends = outcome.is_err() || stop.load(Ordering::Relaxed);
            Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        outcome
    }

    /// Marks columns that contain invalid UTF-8 as binary.
    fn find_binary(&self, shapes: &mut [Shape], stop: &AtomicBool) -> Result<()> {
        let texts = self.fields.iter().zip(&*shapes).zip(0usize..).filter(|((_, shape), _)| shape.is_text());
        let (fields, places): (Vec<_>, Vec<_>) = texts.map(|((&field, _), place)| (field, place)).unzip();
        self.each(&fields, (0, 0), stop, |batch| {
            for (column, &place) in batch.columns.iter().zip(&places) {
                if let Some(shape) = shapes.get_mut(place) {
                    shape.look_at(column);
                }
            }
            Ok(())
        })
    }

    /// Sorts all rows, and marks columns that contain invalid UTF-8 as binary; `None` if the user asked to
    /// stop.
    fn sorted(
        &self,
        order: &Order,
        target: &Target,
        shapes: &mut [Shape],
        stop: &AtomicBool,
    ) -> Result<Option<Sorted>> {
        let memory = usize::try_from(self.args.sort_memory).unwrap_or(usize::MAX);
        let mut sorter = Sorter::new(memory, target.place());
        let (mut key, mut row, mut ticker) = (Vec::new(), Vec::new(), self.ticker("sorted row", 0)?);
        let mut count = 0;
        self.each(&self.fields, (0, 0), stop, |batch| {
            shapes.iter_mut().zip(batch.columns).for_each(|(shape, column)| shape.look_at(column));
            for at in 0..batch.docs.len() {
                order.put(batch, at, &mut key);
                row.clear();
                for (column, _) in batch.columns.iter().zip(&*shapes) {
                    column.put_row(at, &mut row);
                }
                sorter.push(&key, &row)?;
            }
            count += batch.docs.len() as u64;
            ticker.at(count);
            Ok(())
        })?;
        let sorted = if stop.load(Ordering::Relaxed) { None } else { Some(sorter.finish()?) };
        ticker.clear();
        Ok(sorted)
    }
}

/// The state of sending rows.
struct Sending<'s> {
    export: &'s Export<'s>,
    stop: &'s AtomicBool,
    checkpoints: Checkpoints<'s>,
    ticker: Ticker,
    shapes: &'s [Shape],
    /// The number of rows written.
    rows: u64,
    /// The next leaf and document in index order.
    next: (usize, u32),
}

impl Sending<'_> {
    fn batch(&mut self, rows: &mut dyn Rows, columns: &[BatchColumn], next: (usize, u32)) -> Result<()> {
        rows.batch(columns).context("cannot write the rows")?;
        self.rows += columns.first().map_or(0, BatchColumn::rows) as u64;
        self.next = next;
        self.ticker.at(self.rows);
        self.checkpoints.at(self.rows, next)
    }

    fn in_order(&mut self, rows: &mut dyn Rows) -> Result<()> {
        self.export.each(&self.export.fields, self.next, self.stop, |batch| {
            let last = batch.docs.last().map_or(0, |last| last.saturating_add(1));
            self.batch(rows, batch.columns, (batch.leaf, last))
        })
    }

    fn sorted(&mut self, rows: &mut dyn Rows, sorted: &mut Sorted) -> Result<()> {
        // Earlier runs have written these rows.
        for _ in 0..self.rows {
            sorted.next()?;
        }
        let mut columns: Vec<_> = self.shapes.iter().map(|shape| BatchColumn::new(shape.kind)).collect();
        let (mut count, mut bytes) = (0, 0);
        loop {
            let row = sorted.next()?;
            if let Some(mut row) = row {
                bytes += row.len();
                count += 1;
                let read = columns.iter_mut().try_for_each(|column| column.take_row(&mut row));
                read.ok_or_else(|| anyhow!("cannot read a row back from a temporary file"))?;
                if count < SORTED.0 && bytes < SORTED.1 {
                    continue;
                }
            }
            let ends = count == 0;
            if !ends {
                self.batch(rows, &columns, (0, 0))?;
                columns.iter_mut().for_each(BatchColumn::clear);
                (count, bytes) = (0, 0);
            }
            if ends || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
}

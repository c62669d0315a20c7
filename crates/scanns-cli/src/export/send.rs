//! Sends rows to their target, in index order or in another.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, Result};
use scanns::columns::BatchColumn;
#[cfg(feature = "arrow")]
use scanns_export::{Arrow, Parquet, TableCompression};
use scanns_export::{Csv, ExportError, HitRows, JsonLines, RowKeys, RowWriter, Shape, Sorted, Sorter};

use super::Export;
use super::errors::told;
use super::target::{Checkpoints, State, Target};
#[cfg(feature = "arrow")]
use crate::args::ExportCompression;
use crate::args::ExportFormat;
use crate::progress::Ticker;

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
            Err(error) if is_not_unicode(&error) && !target.is_stream() => {
                self.find_binary(&mut shapes, stop)?;
                target.begin_anew().context("cannot start the file again")?;
                self.write(target, &shapes, stop, |rows, sending| sending.in_order(rows))
            }
            sent => sent,
        }
    }

    /// The writer of the requested format.
    fn rows<'t>(&self, target: &'t Target, shapes: &[Shape]) -> Result<Box<dyn RowWriter + 't>> {
        let names = || shapes.iter().map(|shape| shape.name.clone()).collect();
        #[cfg(feature = "arrow")]
        let (of, how) = (shapes.to_vec(), table_compression(self.compression));
        Ok(match self.format {
            ExportFormat::Csv => Box::new(Csv::new(target.counted(), names())),
            ExportFormat::Jsonl => Box::new(JsonLines::new(target.counted(), names())),
            #[cfg(feature = "arrow")]
            ExportFormat::Arrow => {
                Box::new(Arrow::new(&target.file, of, how, target.is_stream()).map_err(told)?)
            }
            #[cfg(feature = "arrow")]
            ExportFormat::Parquet => Box::new(Parquet::new(&target.file, of, how).map_err(told)?),
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
        send: impl FnOnce(&mut dyn RowWriter, &mut Sending<'_>) -> Result<()>,
    ) -> Result<Sent> {
        let mut rows = self.rows(target, shapes)?;
        if target.before == State::default() {
            rows.begin().map_err(told)?;
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
        rows.end().map_err(told)?;
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

    /// Calls `with` with the rows of all hits, until the user asks to stop.
    fn hits<T>(&self, stop: &AtomicBool, with: impl FnOnce(&HitRows<'_>) -> Result<T>) -> Result<T> {
        let searcher = self.snapshot.searcher();
        let (snapshot, query, model) = (&self.snapshot, &self.query, self.model);
        let stop = &|| stop.load(Ordering::Relaxed);
        with(&HitRows { snapshot, searcher: &searcher, query, model, stop })
    }

    /// Marks columns that contain invalid UTF-8 as binary.
    fn find_binary(&self, shapes: &mut [Shape], stop: &AtomicBool) -> Result<()> {
        self.hits(stop, |hits| hits.find_binary(&self.fields, shapes).map_err(told))
    }

    /// Sorts all rows, and marks columns that contain invalid UTF-8 as binary; `None` if the user asked to
    /// stop.
    fn sorted(
        &self,
        keys: &RowKeys,
        target: &Target,
        shapes: &mut [Shape],
        stop: &AtomicBool,
    ) -> Result<Option<Sorted>> {
        let memory = usize::try_from(self.args.sort_memory).unwrap_or(usize::MAX);
        let sorter = Sorter::new(memory, target.place());
        let mut ticker = self.ticker("sorted row", 0)?;
        let sorted = self.hits(stop, |hits| {
            let sorted = hits.sort(&self.fields, shapes, keys, sorter, |rows| ticker.at(rows));
            sorted.map_err(told)
        })?;
        ticker.clear();
        Ok(sorted)
    }
}

/// True if a column that is not binary contains invalid UTF-8.
fn is_not_unicode(error: &Error) -> bool {
    matches!(error.downcast_ref(), Some(ExportError::NotUnicode(_)))
}

#[cfg(feature = "arrow")]
fn table_compression(compression: ExportCompression) -> TableCompression {
    match compression {
        ExportCompression::None => TableCompression::None,
        ExportCompression::Snappy => TableCompression::Snappy,
        ExportCompression::Lz4 => TableCompression::Lz4,
        ExportCompression::Zstd => TableCompression::Zstd,
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
    fn batch(&mut self, rows: &mut dyn RowWriter, columns: &[BatchColumn], next: (usize, u32)) -> Result<()> {
        rows.batch(columns).map_err(told)?;
        self.rows += columns.first().map_or(0, BatchColumn::rows) as u64;
        self.next = next;
        self.ticker.at(self.rows);
        self.checkpoints.at(self.rows, next)
    }

    fn in_order(&mut self, rows: &mut dyn RowWriter) -> Result<()> {
        let (export, from) = (self.export, self.next);
        export.hits(self.stop, |hits| {
            hits.each(&export.fields, from, |batch| {
                let last = batch.docs.last().map_or(0, |last| last.saturating_add(1));
                self.batch(rows, batch.columns, (batch.leaf, last))
            })
        })
    }

    fn sorted(&mut self, rows: &mut dyn RowWriter, sorted: &mut Sorted) -> Result<()> {
        // Earlier runs have written these rows.
        for _ in 0..self.rows {
            sorted.next_row().map_err(told)?;
        }
        let mut columns: Vec<_> = self.shapes.iter().map(|shape| BatchColumn::new(shape.kind)).collect();
        while !self.stop.load(Ordering::Relaxed) && sorted.next_batch(&mut columns).map_err(told)? {
            self.batch(rows, &columns, (0, 0))?;
        }
        Ok(())
    }
}

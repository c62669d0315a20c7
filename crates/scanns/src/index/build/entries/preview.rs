//! The first entries of dumps, without an index.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::block::{BlockRows, EntryBlock};
use super::dump_reader::{DumpSource, ReadDumpReport};
use crate::error::Result;
use crate::index::build::options::DumpOptions;
use crate::index::build::report::DumpReport;
use crate::index::progress::Progress;
use crate::record::dump::Visit;
use crate::source::Entry;

/// Calls `visit` for the first `most` entries of the dumps, and writes nothing. The reports are about what
/// was read of the dumps.
///
/// # Errors
/// A format or the map of a table is not certain, or a dump cannot be opened.
pub fn preview_dumps(options: &DumpOptions, most: u64, visit: &mut Visit<'_>) -> Result<Vec<DumpReport>> {
    let (progress, stop) = (Progress::default(), AtomicBool::new(false));
    let source = DumpSource { options, progress: &progress, stop: &stop };
    let mut counted: Vec<DumpReport> = Vec::new();
    let mut left = most;
    let mut send = |block: EntryBlock| {
        if counted.len() <= block.dump {
            counted.resize_with(block.dump + 1, DumpReport::default);
        }
        let Some(report) = counted.get_mut(block.dump) else { return false };
        let mut each = |entry: &Entry<'_>| {
            if left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            report.entries += 1;
            visit(entry)
        };
        let tally = &mut report.tally;
        let flow = match &block.rows {
            BlockRows::Bytes { bytes, offset, rows } => rows.read(bytes, *offset, tally, &mut each),
            BlockRows::Entries(batch) => batch.iter().try_for_each(|entry| each(&entry)),
        };
        flow.is_continue() && left > 0
    };
    let read = source.read(&mut send)?;
    let mut counted = counted.into_iter();
    let report = |read: ReadDumpReport| {
        let mut report = counted.next().unwrap_or_default();
        report.tally.merge(read.tally);
        let ReadDumpReport { path, format, compression, remarks, .. } = read;
        DumpReport { path, format, compression, remarks, ..report }
    };
    Ok(read.into_iter().map(report).collect())
}

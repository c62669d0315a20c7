//! Reads dumps entry by entry on one thread, for questions that need no index.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::block::{BlockRows, EntryBlock};
use super::dump_reader::{DumpSource, ReadDumpReport};
use crate::error::Result;
use crate::index::build::options::DumpOptions;
use crate::index::progress::Progress;
use crate::record::dump::DumpTally;
use crate::source::Entry;

/// Calls `visit` with the entries of a dump, and returns what was found out about it; `None` without a dump.
///
/// # Errors
/// The dump cannot be opened, its format is not known, or `visit` fails.
pub(crate) fn for_each_entry(
    dump: &DumpOptions,
    visit: &mut dyn FnMut(&Entry<'_>) -> Result<()>,
) -> Result<Option<ReadDumpReport>> {
    let (progress, stop) = (Progress::new(), AtomicBool::new(false));
    let source = DumpSource { options: dump, progress: &progress, stop: &stop };
    let (mut tally, mut result) = (DumpTally::default(), Ok(()));
    let mut visit = |entry: &Entry<'_>| {
        result = visit(entry);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let reports = source.read(&mut |block: EntryBlock| match block.rows {
        BlockRows::Bytes { bytes, offset, rows } => {
            rows.read(&bytes, offset, &mut tally, &mut visit).is_continue()
        }
        BlockRows::Entries(batch) => batch.iter().try_for_each(|entry| visit(&entry)).is_continue(),
    });
    result?;
    let mut report = reports?.pop();
    if let Some(report) = &mut report {
        report.tally.merge(tally);
    }
    Ok(report)
}

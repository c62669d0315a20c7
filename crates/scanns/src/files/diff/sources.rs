//! Where trees come from: indexes and dumps.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::super::entries::EntryReader;
use super::super::select::below;
use super::super::unread::UnreadPlaces;
use super::compare::{DiffReport, VisitDifference, compare_sorted};
use super::tree::{DiffOptions, SortedTree, TreeCollector, TreeReport};
use crate::error::Result;
use crate::index::build::entries::{ReadDumpReport, for_each_entry};
use crate::index::build::options::DumpOptions;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::record::dump::DumpFormat;

/// Where the entries of a tree come from.
#[derive(Clone, Debug)]
pub enum TreeSource<'a> {
    /// An index of files with metadata, or of the entries of a file system.
    Index(&'a Snapshot),
    /// A dump of a file system, compressed or not; `-` is standard input.
    Dump {
        /// The dump.
        path: PathBuf,
        /// Its format.
        format: DumpFormat,
    },
}

/// Compares two trees, and calls `visit` with their differences in the order of paths.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for an index whose documents are not files with
/// metadata, [`Error::Dump`](crate::Error::Dump) for a dump of an unknown format; the errors of reading and
/// of `visit`.
pub fn compare_trees(
    old: &TreeSource<'_>,
    new: &TreeSource<'_>,
    options: &DiffOptions,
    visit: &mut VisitDifference<'_>,
) -> Result<DiffReport> {
    let (old_tree, old_dump) = read(old, options.old_root.as_deref(), options)?;
    let (new_tree, new_dump) = read(new, options.new_root.as_deref(), options)?;
    let mut report = compare_sorted(&old_tree, &new_tree, options, visit)?;
    for (tree, dump) in [(&mut report.old, old_dump), (&mut report.new, new_dump)] {
        if let Some(ReadDumpReport { format, tally, failure, .. }) = dump {
            *tree = TreeReport { format: Some(format), tally, failure, ..std::mem::take(tree) };
        }
    }
    Ok(report)
}

/// Reads and sorts a tree.
fn read(
    source: &TreeSource<'_>,
    root: Option<&[u8]>,
    options: &DiffOptions,
) -> Result<(SortedTree, Option<ReadDumpReport>)> {
    let mut tree = TreeCollector::new(root, options);
    let (dump, path) = match source {
        TreeSource::Index(snapshot) => {
            let reader = EntryReader::new(snapshot)?;
            let path = root.or(options.below.as_deref());
            let query = path.map_or(Query::All, |path| below(&reader, path));
            reader.for_each_with_attributes(&query, &mut |entry| {
                tree.add(entry)?;
                Ok(ControlFlow::Continue(()))
            })?;
            return Ok((tree.finish(UnreadPlaces::of_tree(&reader)?)?, None));
        }
        TreeSource::Dump { path, format } => {
            let options =
                DumpOptions { files: vec![path.clone()], format: format.clone(), ..DumpOptions::default() };
            (for_each_entry(&options, &mut |entry| tree.add(entry))?, path)
        }
    };
    let path = path.as_os_str().as_encoded_bytes();
    let unread = dump.as_ref().map(|dump| UnreadPlaces::of_dump(&dump.tally, path));
    Ok((tree.finish(unread.unwrap_or_default())?, dump))
}

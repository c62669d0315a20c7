//! Reads the entries of a report out of an index, on several threads.

use std::ops::ControlFlow;

use super::answer::FilesReport;
use super::collector::ReportCollector;
use super::columns::ReportColumns;
use super::options::ReportOptions;
use crate::error::Result;
use crate::files::entries::{EntryPart, EntryReader};
use crate::files::order::without_slash;
use crate::files::parts::for_each_part;
use crate::files::select::below;
use crate::files::unread_directories::UnreadDirectories;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::source::is_at_or_below;

/// The documents from which on another thread pays, since collectors have to be merged.
const LEAST_DOCUMENTS: u64 = 100_000;

/// Reports on the entries at and below `paths`, or on all entries of an index if there are none.
///
/// Memory holds about 60 bytes and a name for each directory, and the files with several names, on each
/// thread.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if the documents are not files with metadata; the errors
/// of reading.
pub fn report_files(snapshot: &Snapshot, paths: &[Vec<u8>], options: ReportOptions) -> Result<FilesReport> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    report_on(snapshot, paths, options, (threads, LEAST_DOCUMENTS))
}

/// Like [`report_files`], on at most this number of threads, each with at least this number of documents.
pub(super) fn report_on(
    snapshot: &Snapshot,
    paths: &[Vec<u8>],
    options: ReportOptions,
    share: (usize, u64),
) -> Result<FilesReport> {
    let reader = EntryReader::new(snapshot)?;
    let starts: Vec<&[u8]> = paths.iter().map(|path| without_slash(path)).collect();
    let query = match starts.is_empty() {
        true => Query::All,
        false => Query::any_of(starts.iter().map(|start| below(&reader, start)).collect()),
    };
    let job = ReportJob { reader: &reader, query: &query, starts: &starts, options };
    let parts = for_each_part(&reader.parts(share.0, share.1), |part| job.collect(part))?;
    let mut found = vec![false; starts.len()];
    let mut collected: Option<ReportCollector> = None;
    for (part, seen) in parts {
        found.iter_mut().zip(seen).for_each(|(found, seen)| *found |= seen);
        match &mut collected {
            Some(collected) => collected.merge(part),
            None => collected = Some(part),
        }
    }
    let collected = collected.unwrap_or_else(|| ReportCollector::new(options));
    let missing = paths.iter().zip(found).filter(|(_, found)| !found).map(|(path, _)| path.clone()).collect();
    Ok(FilesReport::new(collected, missing, &UnreadDirectories::of(snapshot)?))
}

/// What all threads need.
struct ReportJob<'j> {
    reader: &'j EntryReader<'j>,
    query: &'j Query,
    starts: &'j [&'j [u8]],
    options: ReportOptions,
}

/// What was collected, and by start point whether anything is at or below it.
type CollectedPart = (ReportCollector, Vec<bool>);

impl ReportJob<'_> {
    fn collect(&self, part: &EntryPart) -> Result<CollectedPart> {
        let mut collected = ReportCollector::new(self.options);
        let mut found = vec![false; self.starts.len()];
        let fields = ReportColumns::fields(|name| self.reader.field(name));
        self.reader.for_each_batch_in(part, self.query, &fields, &mut |columns, rows| {
            let Some(columns) = ReportColumns::new(columns) else { return Ok(ControlFlow::Break(())) };
            let mut row = 0;
            while row < rows && found.contains(&false) {
                let path = columns.path(row).to_vec();
                for (found, start) in found.iter_mut().zip(self.starts) {
                    *found = *found || is_at_or_below(&path, start);
                }
                row += 1;
            }
            collected.push(&columns, rows);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((collected, found))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::content::ContentOptions;
    use crate::index::handle::Index;
    use crate::index::{IndexOptions, Progress};
    use crate::source::SourceOptions;

    #[test]
    fn any_number_of_threads_makes_the_same_report() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("in");
        let path = place.path().join("a.scanns");
        // Two builds make two segments.
        for build in 0..2 {
            for at in 0..300 {
                let directory = root.join(format!("{build}/{}/{}", at % 7, at % 3));
                fs::create_dir_all(&directory).unwrap();
                fs::write(directory.join(format!("f{at}.x{}", at % 5)), vec![b'x'; at * 10]).unwrap();
            }
            fs::hard_link(root.join("0/1/1/f1.x1"), root.join(format!("{build}/2/again"))).unwrap();
            let source = SourceOptions { paths: vec![root.clone()], ..SourceOptions::default() };
            let contents = Some(ContentOptions { names_only: true, ..ContentOptions::default() });
            let options = IndexOptions { source, contents, ..IndexOptions::default() };
            Index::at(&path).build(&options, &Progress::new(), &Arc::default()).unwrap();
        }
        let snapshot = Snapshot::open(&path).unwrap();
        let options = ReportOptions { now: 2_000_000_000_000_000_000, ..ReportOptions::default() };
        let root = std::path::absolute(&root).unwrap().into_os_string().into_encoded_bytes();
        for paths in [vec![], vec![[&root[..], b"/0/1"].concat(), [&root[..], b"/1"].concat()]] {
            let one = report_on(&snapshot, &paths, options, (1, 1)).unwrap();
            assert!(one.totals.further_names > 0);
            for threads in [2, 3, 8, 1000] {
                assert!(report_on(&snapshot, &paths, options, (threads, 1)).unwrap() == one, "{threads}");
            }
        }
        let whole = report_on(&snapshot, &[], options, (4, 1)).unwrap();
        assert_eq!(whole.totals.files.entries, 600);
        assert_eq!(whole.top, root);
    }
}

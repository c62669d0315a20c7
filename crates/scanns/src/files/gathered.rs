//! Reads entries on several threads, and hands them out in the order of a walk.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::entries::{EntryPart, EntryReader};
use super::order::walk_order;
use super::parts::for_each_part;
use crate::error::Result;
use crate::query::Query;
use crate::source::{Entry, EntryBatch};

/// The documents from which on another thread pays.
const LEAST_DOCUMENTS: u64 = 100_000;

/// The bytes that an entry takes besides its texts.
const EACH: usize = 320;

/// The entries that are wanted.
#[derive(Clone, Copy)]
pub(super) struct WantedEntries<'w> {
    pub(super) query: &'w Query,
    /// The columns to read.
    pub(super) columns: &'w [&'static str],
    /// True for entries that are wanted, of those that match the query.
    pub(super) allow: &'w (dyn Fn(&Entry<'_>) -> bool + Sync),
    /// The bytes of memory that they may take.
    pub(super) most_bytes: usize,
}

/// Entries in the order of a walk.
pub(super) struct GatheredEntries {
    batches: Vec<EntryBatch>,
    /// The batch and the place in it of each entry.
    order: Vec<(u32, u32)>,
}

impl GatheredEntries {
    /// Reads the entries that are wanted; `None` if they take too much memory.
    pub(super) fn read(reader: &EntryReader<'_>, wanted: &WantedEntries<'_>) -> Result<Option<Self>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::read_on(reader, wanted, (threads, LEAST_DOCUMENTS))
    }

    /// Like [`GatheredEntries::read`], on at most this number of threads, each with at least this number of
    /// documents.
    fn read_on(
        reader: &EntryReader<'_>,
        wanted: &WantedEntries<'_>,
        share: (usize, u64),
    ) -> Result<Option<Self>> {
        let bytes = AtomicUsize::new(0);
        let read = |part: &EntryPart| read_part(reader, wanted, part, &bytes);
        let parts = for_each_part(&reader.parts(share.0, share.1), read)?;
        if bytes.into_inner() > wanted.most_bytes {
            return Ok(None);
        }
        let (mut batches, mut order) = (Vec::new(), Vec::new());
        for ((batch, own), number) in parts.into_iter().zip(0u32..) {
            order.extend(own.into_iter().map(|place| (number, place)));
            batches.push(batch);
        }
        let mut gathered = GatheredEntries { batches, order: Vec::new() };
        // This sort is fast where a few sorted lists follow each other.
        order.sort_by(|&one, &other| walk_order(gathered.path(one), gathered.path(other)));
        gathered.order = order;
        Ok(Some(gathered))
    }

    fn path(&self, place: (u32, u32)) -> &[u8] {
        let batch = self.batches.get(place.0 as usize);
        batch.and_then(|batch| batch.path(place.1 as usize)).unwrap_or_default()
    }

    /// The entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let entry = |&(batch, place): &(u32, u32)| self.batches.get(batch as usize)?.get(place as usize);
        self.order.iter().filter_map(entry)
    }
}

/// The wanted entries of a part, and the places of them in the order of a walk. `bytes` is what all parts
/// take.
fn read_part(
    reader: &EntryReader<'_>,
    wanted: &WantedEntries<'_>,
    part: &EntryPart,
    bytes: &AtomicUsize,
) -> Result<(EntryBatch, Vec<u32>)> {
    let mut batch = EntryBatch::default();
    reader.for_each_in(part, wanted.query, wanted.columns, &mut |entry| {
        if !(wanted.allow)(entry) {
            return Ok(ControlFlow::Continue(()));
        }
        let own = EACH + entry.path.len();
        let all = bytes.fetch_add(own, Ordering::Relaxed) + own;
        batch.push(entry);
        Ok(if all > wanted.most_bytes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    let paths =
        (0..).zip(0..batch.len()).map(|(number, place)| (batch.path(place).unwrap_or_default(), number));
    let mut sorted: Vec<(&[u8], u32)> = paths.collect();
    // Entries of a segment usually are in order.
    sorted.sort_by(|one, other| walk_order(one.0, other.0));
    let order = sorted.into_iter().map(|(_, number)| number).collect();
    Ok((batch, order))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::content::ContentOptions;
    use crate::index::handle::Index;
    use crate::index::snapshot::Snapshot;
    use crate::index::{IndexOptions, Progress};
    use crate::source::SourceOptions;

    #[test]
    fn any_number_of_threads_gathers_the_same_entries_in_the_order_of_a_walk() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.scanns");
        // Two builds make two segments.
        for build in ["in-", "in"] {
            for at in 0..200 {
                let directory = place.path().join(format!("{build}/{}/{}-", at % 7, at % 3));
                fs::create_dir_all(&directory).unwrap();
                fs::write(directory.join(format!("{at}.x{}", at % 5)), vec![b'x'; at]).unwrap();
            }
            let source = SourceOptions { paths: vec![place.path().join(build)], ..SourceOptions::default() };
            let contents = Some(ContentOptions { names_only: true, ..ContentOptions::default() });
            let options = IndexOptions { source, contents, ..IndexOptions::default() };
            Index::at(&path).build(&options, &Progress::new(), &Arc::default()).unwrap();
        }
        let snapshot = Snapshot::open(&path).unwrap();
        assert!(snapshot.leaves().len() > 1);
        let reader = EntryReader::new(&snapshot).unwrap();
        let allow = |entry: &Entry<'_>| !entry.path.ends_with(b"x3");
        let wanted =
            WantedEntries { query: &Query::All, columns: &["size"], allow: &allow, most_bytes: usize::MAX };
        let mut expected = Vec::new();
        let each = &mut |entry: &Entry<'_>| {
            expected.extend(allow(entry).then(|| (entry.path.to_vec(), entry.size)));
            Ok(ControlFlow::Continue(()))
        };
        reader.for_each(&Query::All, &["size"], each).unwrap();
        expected.sort_by(|one, other| walk_order(&one.0, &other.0));
        assert!(expected.len() > 300);
        for threads in [1, 2, 3, 1000] {
            let found = GatheredEntries::read_on(&reader, &wanted, (threads, 1)).unwrap().unwrap();
            let found: Vec<_> = found.iter().map(|entry| (entry.path.to_vec(), entry.size)).collect();
            assert!(found == expected, "{threads}");
        }
        let small = WantedEntries { most_bytes: 10_000, ..wanted };
        assert!(GatheredEntries::read_on(&reader, &small, (2, 1)).unwrap().is_none());
    }
}

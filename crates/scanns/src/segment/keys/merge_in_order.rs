//! Joins the keys of several segments whose documents are reordered.
//!
//! If documents are files, their paths are written in the new order. Lines stay in runs in the order of their
//! files, and each document gets a place among the runs; a run for each line would take several times as much
//! space.

use super::format::{KeyKind, KeyRun, RUN, WHOLE_FILE, hash};
use super::merge::{KeySource, bytes_of_places, column_in_common, merge_paths, merged_bytes, survivors};
use super::paths::StoredPathCursor;
use super::stamps::write_stamps;
use super::write::{
    FrontCoder, PathWriter, PlaceWriter, begin_runs, write_column, write_run, write_sorted_hashes,
};
use crate::error::Result;
use crate::schema::Field;
use crate::segment::order::{DocumentOrder, Origin};
use crate::segment::renumbering::Renumbering;
use crate::source::Stamp;
use crate::store::EnvelopeWriter;

/// Documents between two calls of `look`.
const LOOK_EVERY: usize = 1 << 12;

/// The size of the parts of the keys that depend on the order of the documents, in bytes, for the survivors
/// in `order` or in the order of the sources.
pub(in crate::segment) fn bytes_in_order(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: Option<&DocumentOrder>,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<u64> {
    if !sources.iter().any(|KeySource { keys, .. }| keys.by_run()) {
        return match column_in_common(sources) {
            Some(_) => Ok(0),
            None => bytes_of_paths(sources, documents, order, look),
        };
    }
    let mut paths: Vec<Renumbering> = Vec::with_capacity(sources.len());
    for KeySource { keys, .. } in sources {
        paths.push(Renumbering::of_all(paths.last().map_or(0, Renumbering::end), keys.paths()));
    }
    look()?;
    if order.is_none() {
        return Ok(merged_bytes(sources, &paths)?.bytes);
    }
    let mut runs = 0;
    PlacedRuns::of(sources, &paths)?.each(&mut |_| {
        runs += 1;
        Ok(())
    })?;
    Ok(runs * RUN as u64 + bytes_of_places(survivors(sources)))
}

fn bytes_of_paths(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: Option<&DocumentOrder>,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<u64> {
    let (mut coder, mut bytes, mut seen) = (FrontCoder::default(), 0, 0);
    let mut take = |path: &[u8]| {
        seen += 1;
        bytes += coder.code(path).len() as u64;
        if seen % LOOK_EVERY == 0 { look() } else { Ok(()) }
    };
    match order {
        Some(order) => {
            let mut cursors = path_cursors(sources);
            for Origin { source, doc } in order.origins(documents) {
                cursors.get_mut(source).map_or(Ok(()), |cursor| take(cursor.path(doc)?))?;
            }
        }
        None => {
            for KeySource { keys, documents: docs } in sources {
                keys.each_path(|doc, path| if docs.get(doc).is_some() { take(path) } else { Ok(()) })?;
            }
        }
    }
    Ok(bytes)
}

/// Writes the key sections of the survivors in `order`.
pub(in crate::segment) fn merge_in_order(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    if !sources.iter().any(|KeySource { keys, .. }| keys.by_run()) {
        return match column_in_common(sources) {
            Some(field) => write_hashes_only(field, sources, documents, order, out),
            None => write_files(sources, documents, order, out),
        };
    }
    let (numbers, count) = merge_paths(sources, None, out)?;
    begin_runs(KeyKind::Places, count, out)?;
    let mut runs = PlacedRuns::of(sources, &numbers)?;
    runs.each(&mut |run| write_run(run, out))?;
    let places = runs.places(sources, order)?;
    let mut writer = PlaceWriter::begin(places.len(), out)?;
    places.into_iter().try_for_each(|place| writer.push(place, out))?;
    writer.finish(out)
}

/// Writes the keys of documents that are files: their paths in the new order.
fn write_files(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let mut cursors = path_cursors(sources);
    let mut paths = PathWriter::begin(out)?;
    let mut hashes = Vec::with_capacity(order.len());
    for (Origin { source, doc }, number) in order.origins(documents).zip(0..) {
        let Some(cursor) = cursors.get_mut(source) else { continue };
        let path = cursor.path(doc)?;
        hashes.push((hash(path), number));
        paths.push(path, out)?;
    }
    paths.finish(out)?;
    write_stamps_in_order(sources, documents, order, out)?;
    let count = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
    write_sorted_hashes(hashes, out)?;
    begin_runs(KeyKind::Files, count, out)
}

/// Writes the keys of documents that are files and have their paths in the column of `field`.
fn write_hashes_only(
    field: Field,
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let mut hashes = Vec::with_capacity(order.len());
    for KeySource { keys, documents } in sources {
        for entry in 0..keys.paths() as usize {
            let (hash, doc) = keys.hash(entry)?;
            hashes
                .extend(documents.get(doc).and_then(|kept| order.number(kept)).map(|number| (hash, number)));
        }
    }
    write_stamps_in_order(sources, documents, order, out)?;
    let count = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
    write_sorted_hashes(hashes, out)?;
    write_column(field, count, out)
}

/// Cursors over the paths of each source.
fn path_cursors<'a>(sources: &[KeySource<'a>]) -> Vec<StoredPathCursor<'a>> {
    sources.iter().map(|source| source.keys.path_cursor()).collect()
}

/// Writes the stamps of the survivors.
fn write_stamps_in_order(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: &DocumentOrder,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let stamps = sources.iter().map(|source| source.keys.stamps()).collect::<Result<Vec<_>>>()?;
    let each_stamp = |visit: &mut dyn FnMut(Stamp) -> Result<()>| {
        for Origin { source, doc } in order.origins(documents) {
            let Some(stamps) = stamps.get(source) else { continue };
            visit(stamps.as_ref().map_or_else(|| Ok(Stamp::default()), |stamps| stamps.get(doc))?)?;
        }
        Ok(())
    };
    write_stamps(&each_stamp, out)
}

/// The runs of all survivors, sorted by path and line, so that separated lines of a file are joined again.
/// Each run takes 24 bytes.
struct PlacedRuns(Vec<PlacedRun>);

#[derive(Clone, Copy)]
struct PlacedRun {
    /// The first place in the order of the sources.
    from: u32,
    /// The first new place.
    to: u32,
    /// Number of places.
    len: u32,
    path: u32,
    first_line: u64,
}

impl PlacedRuns {
    /// The runs of `sources`, whose paths get the new numbers `numbers`.
    fn of(sources: &[KeySource<'_>], numbers: &[Renumbering]) -> Result<Self> {
        let (mut runs, mut next) = (Vec::<PlacedRun>::new(), 0);
        for (KeySource { keys, documents: docs }, paths) in sources.iter().zip(numbers) {
            keys.each_by_place(|path, line, doc| {
                let (Some(_), Some(path)) = (docs.get(doc), paths.get(path)) else { return Ok(()) };
                match runs.last_mut() {
                    Some(run) if run.goes_on(path, line) => run.len += 1,
                    _ => runs.push(PlacedRun { from: next, to: next, len: 1, path, first_line: line }),
                }
                next += 1;
                Ok(())
            })?;
        }
        runs.sort_unstable_by_key(|run| (run.path, run.first_line, run.from));
        let mut next = 0;
        for run in &mut runs {
            run.to = next;
            next += run.len;
        }
        Ok(PlacedRuns(runs))
    }

    /// Calls `visit` with each run; runs that continue each other are joined.
    fn each(&mut self, visit: &mut dyn FnMut(&KeyRun) -> Result<()>) -> Result<()> {
        self.0.sort_unstable_by_key(|run| run.to);
        let mut before: Option<PlacedRun> = None;
        for run in &self.0 {
            if !before.is_some_and(|before| before.goes_on(run.path, run.first_line)) {
                visit(&KeyRun { first_doc: run.to, path: run.path, first_line: run.first_line })?;
            }
            before = Some(*run);
        }
        Ok(())
    }

    /// The place of each document, by its number in `order`.
    fn places(mut self, sources: &[KeySource<'_>], order: &DocumentOrder) -> Result<Vec<u32>> {
        self.0.sort_unstable_by_key(|run| run.from);
        let mut places = vec![0; survivors(sources)];
        let mut all = self.0.iter().flat_map(|run| run.to..run.to + run.len);
        for KeySource { keys, documents: docs } in sources {
            keys.each_by_place(|_, _, doc| {
                let Some(kept) = docs.get(doc) else { return Ok(()) };
                let slot = order.number(kept).and_then(|number| places.get_mut(number as usize));
                if let (Some(place), Some(slot)) = (all.next(), slot) {
                    *slot = place;
                }
                Ok(())
            })?;
        }
        Ok(places)
    }
}

impl PlacedRun {
    /// Returns true if this line follows the last line of the run.
    fn goes_on(&self, path: u32, line: u64) -> bool {
        self.path == path
            && self.first_line != WHOLE_FILE
            && line != WHOLE_FILE
            && self.first_line.checked_add(self.len.into()) == Some(line)
    }
}

//! Keys of documents that a merge puts in another order.
//!
//! Of files, the paths are put in order. Lines stay in runs by their places in the files, and beside the runs stands
//! which place each document has: a run for each line would take several times as much.

use super::WHOLE_FILE;
use super::merge::{KeySource, merge_paths};
use super::read::KeyReader;
use super::write::{Kind, PathWriter, begin_runs, place_width, write_hash, write_run, write_stamp};
use super::{KeyRun, hash};
use crate::error::Result;
use crate::segment::merge::Order;
use crate::segment::{HASHES, ORDER, Renumbering, STAMPS, Segment};
use crate::store::EnvelopeWriter;

/// Places that are written at once.
const WRITE: usize = 64 << 10;

/// Bytes that an order of their own adds to the keys of so many documents of `sources`; `None` if some are in such an order
/// already, so that it takes more to do without.
pub(in crate::segment) fn cost_of_order(sources: &[Segment], documents: usize) -> Result<Option<u64>> {
    let mut lines = false;
    for source in sources {
        let keys = source.keys()?;
        if keys.order.is_some() {
            return Ok(None);
        }
        lines |= keys.by_run();
    }
    Ok(Some(if lines { (documents * place_width(documents)) as u64 } else { 0 }))
}

/// Writes the sections of keys of the survivors in `order`.
pub(in crate::segment) fn reorder(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    if !sources.iter().any(|(keys, _)| keys.by_run()) {
        return reorder_files(sources, documents, order, out);
    }
    let (numbers, count) = merge_paths(sources, out)?;
    begin_runs(Kind::Places, count, out)?;
    let places = write_runs(sources, &numbers, order, out)?;
    out.begin(ORDER)?;
    let width = place_width(places.len());
    let mut bytes = Vec::with_capacity(WRITE);
    for place in places {
        bytes.extend(place.to_le_bytes().into_iter().take(width));
        if bytes.len() >= WRITE {
            out.write(&bytes)?;
            bytes.clear();
        }
    }
    out.write(&bytes)
}

/// Paths in the order of the documents, which they are.
fn reorder_files(
    sources: &[KeySource<'_>],
    documents: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let reader = |source: usize| -> Option<&KeyReader<'_>> { sources.get(source).map(|(keys, _)| keys) };
    let mut paths = PathWriter::begin(out)?;
    let mut hashes = Vec::new();
    order.each(documents, |source, doc| {
        let Some(keys) = reader(source) else { return Ok(()) };
        let path = keys.path(doc)?;
        hashes.push((hash(&path), paths.push(&path, out)?));
        Ok(())
    })?;
    let count = paths.finish(out)?;
    out.begin(STAMPS)?;
    order.each(documents, |source, doc| {
        reader(source).map_or(Ok(()), |keys| write_stamp(&keys.stamp(doc)?, out))
    })?;
    hashes.sort_unstable();
    out.begin(HASHES)?;
    hashes.into_iter().try_for_each(|entry| write_hash(entry, out))?;
    begin_runs(Kind::Files, count, out)
}

/// Writes the runs of all survivors by their places; returns the place of each document.
fn write_runs(
    sources: &[KeySource<'_>],
    numbers: &[Renumbering],
    order: &Order,
    out: &mut EnvelopeWriter,
) -> Result<Vec<u32>> {
    let survivors = sources.last().map_or(0, |(_, docs)| docs.end());
    let mut places = vec![0; survivors as usize];
    // The next place, and the path and line that would go on the run at hand.
    let (mut next, mut goes_on) = (0, None);
    for ((keys, docs), paths) in sources.iter().zip(numbers) {
        keys.each_by_place(|path, line, doc| {
            let number = docs.get(doc).and_then(|kept| order.number(kept));
            let (Some(number), Some(path)) = (number, paths.get(path)) else { return Ok(()) };
            if line == WHOLE_FILE || goes_on != Some((path, line)) {
                write_run(&KeyRun { first_doc: next, path, first_line: line }, out)?;
            }
            goes_on = (line != WHOLE_FILE).then_some((path, line + 1));
            if let Some(place) = places.get_mut(number as usize) {
                *place = next;
            }
            next += 1;
            Ok(())
        })?;
    }
    Ok(places)
}

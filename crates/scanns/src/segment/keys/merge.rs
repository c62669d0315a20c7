//! Joins the keys of several segments: what no document is called any more is left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::read::KeyReader;
use super::write::{
    Kind, PathWriter, PlaceWriter, begin_runs, place_width, write_hash, write_run, write_stamp,
};
use super::{KeyRun, RUN, WHOLE_FILE};
use crate::error::Result;
use crate::segment::{HASHES, Renumbering, STAMPS};
use crate::store::EnvelopeWriter;

/// The keys of one segment, and which of its documents survive.
pub(in crate::segment) type KeySource<'a> = (KeyReader<'a>, &'a Renumbering);

/// Writes the sections of keys of the survivors. Those of documents in an order of their own keep their places where that
/// takes less than more runs.
pub(in crate::segment) fn merge(sources: &[KeySource<'_>], out: &mut EnvelopeWriter) -> Result<()> {
    let (numbers, count) = merge_paths(sources, out)?;
    if !sources.iter().any(|(keys, _)| keys.by_run()) {
        return begin_runs(Kind::Files, count, out);
    }
    let by_place = sources.iter().any(|(keys, _)| keys.order.is_some()) && merged_bytes(sources, &numbers)?.1;
    if by_place {
        begin_runs(Kind::Places, count, out)?;
        return write_placed(sources, &numbers, out);
    }
    begin_runs(Kind::Runs, count, out)?;
    merged_runs(sources, &numbers, &mut |run| write_run(run, out))
}

/// Writes paths, stamps and hashes; returns what becomes of the numbers of paths, and how many there are.
pub(super) fn merge_paths(
    sources: &[KeySource<'_>],
    out: &mut EnvelopeWriter,
) -> Result<(Vec<Renumbering>, u32)> {
    let mut paths = PathWriter::begin(out)?;
    let mut numbers: Vec<Renumbering> = Vec::with_capacity(sources.len());
    for (keys, docs) in sources {
        let base = numbers.last().map_or(0, Renumbering::end);
        let used = used_paths(keys, docs, base)?;
        keys.each_path(
            |number, path| {
                if used.get(number).is_some() { paths.push(path, out).map(drop) } else { Ok(()) }
            },
        )?;
        numbers.push(used);
    }
    let count = paths.finish(out)?;
    out.begin(STAMPS)?;
    let stamped = sources.iter().any(|(keys, _)| keys.has_stamps());
    for ((keys, _), numbers) in sources.iter().zip(&numbers).filter(|_| stamped) {
        for path in (0..keys.paths()).filter(|&path| numbers.get(path).is_some()) {
            write_stamp(&keys.stamp(path)?, out)?;
        }
    }
    merge_hashes(sources, &numbers, out)?;
    Ok((numbers, count))
}

/// The paths that a surviving document has.
fn used_paths(keys: &KeyReader<'_>, docs: &Renumbering, base: u32) -> Result<Renumbering> {
    if docs.shift().is_some() && !keys.by_run() {
        return Ok(Renumbering::of_all(base, keys.paths()));
    }
    let mut used = vec![false; keys.paths() as usize];
    keys.each_run(|run, range| {
        if let Some(used) = used.get_mut(run.path as usize)
            && !*used
        {
            *used = range.into_iter().any(|doc| docs.get(doc).is_some());
        }
        Ok(())
    })?;
    Ok(Renumbering::new(base, keys.paths(), |path| used.get(path as usize) == Some(&true)))
}

/// Hashes are sorted in each source, and stay so when they are merged.
fn merge_hashes(sources: &[KeySource<'_>], numbers: &[Renumbering], out: &mut EnvelopeWriter) -> Result<()> {
    out.begin(HASHES)?;
    // The next surviving entry of a source: (hash, new number, source, entry after it).
    let next = |source: usize, mut entry: usize| -> Result<Option<_>> {
        let (Some((keys, _)), Some(numbers)) = (sources.get(source), numbers.get(source)) else {
            return Ok(None);
        };
        while entry < keys.paths() as usize {
            let (hash, path) = keys.hash(entry)?;
            entry += 1;
            if let Some(number) = numbers.get(path) {
                return Ok(Some(Reverse((hash, number, source, entry))));
            }
        }
        Ok(None)
    };
    let mut heap = BinaryHeap::new();
    for source in 0..sources.len() {
        heap.extend(next(source, 0)?);
    }
    while let Some(Reverse((hash, number, source, entry))) = heap.pop() {
        write_hash((hash, number), out)?;
        heap.extend(next(source, entry)?);
    }
    Ok(())
}

/// Calls `visit` with the runs of the survivors in their order. Runs are cut where documents fell out, and go on where the
/// next line is the next document.
pub(super) fn merged_runs(
    sources: &[KeySource<'_>],
    numbers: &[Renumbering],
    visit: &mut dyn FnMut(&KeyRun) -> Result<()>,
) -> Result<()> {
    let mut cutter = Cutter { goes_on: None, visit };
    for ((keys, docs), paths) in sources.iter().zip(numbers) {
        keys.each_run(|run, range| cutter.take(&run, range, docs, paths))?;
    }
    Ok(())
}

/// The same in the order of their places, which `places` numbers anew.
pub(super) fn placed_runs(
    sources: &[KeySource<'_>],
    places: &[Renumbering],
    numbers: &[Renumbering],
    visit: &mut dyn FnMut(&KeyRun) -> Result<()>,
) -> Result<()> {
    let mut cutter = Cutter { goes_on: None, visit };
    for (((keys, _), places), paths) in sources.iter().zip(places).zip(numbers) {
        let mut take = |run: KeyRun, range| cutter.take(&run, range, places, paths);
        match keys.order {
            Some(_) => keys.each_by_run(&mut take)?,
            None => keys.each_run(&mut take)?,
        }
    }
    Ok(())
}

struct Cutter<'v> {
    /// The path and line that would go on the run at hand.
    goes_on: Option<(u32, u64)>,
    visit: &'v mut dyn FnMut(&KeyRun) -> Result<()>,
}

impl Cutter<'_> {
    /// What is left of a run that has `range` of what `numbers` numbers anew.
    fn take(
        &mut self,
        run: &KeyRun,
        range: Range<u32>,
        numbers: &Renumbering,
        paths: &Renumbering,
    ) -> Result<()> {
        let Some(path) = paths.get(run.path) else { return Ok(()) };
        for (line, doc) in (run.first_line..).zip(range) {
            let Some(first_doc) = numbers.get(doc) else { continue };
            if run.first_line == WHOLE_FILE || self.goes_on != Some((path, line)) {
                let first_line = if run.first_line == WHOLE_FILE { WHOLE_FILE } else { line };
                (self.visit)(&KeyRun { first_doc, path, first_line })?;
            }
            self.goes_on = (run.first_line != WHOLE_FILE).then_some((path, line + 1));
        }
        Ok(())
    }
}

/// New numbers for the places of the survivors of each source: those of documents where they are in the order of the runs.
pub(super) fn surviving_places(sources: &[KeySource<'_>]) -> Result<Vec<Renumbering>> {
    let mut places: Vec<Renumbering> = Vec::with_capacity(sources.len());
    for (keys, docs) in sources {
        let base = places.last().map_or(0, Renumbering::end);
        let Some(order) = keys.order.filter(|_| docs.shift().is_none()) else {
            places.push((*docs).clone());
            continue;
        };
        let mut survive = vec![false; keys.max_doc as usize];
        for doc in (0..keys.max_doc).filter(|&doc| docs.get(doc).is_some()) {
            if let Some(survives) = survive.get_mut(order.get(doc)? as usize) {
                *survives = true;
            }
        }
        let numbers =
            Renumbering::new(base, keys.max_doc, |place| survive.get(place as usize) == Some(&true));
        if numbers.end() != docs.end() {
            return Err(keys.damaged("place of its own for each document"));
        }
        places.push(numbers);
    }
    Ok(places)
}

/// Bytes of the runs and places of lines that [`merge`] writes, and whether there are places.
pub(super) fn merged_bytes(sources: &[KeySource<'_>], numbers: &[Renumbering]) -> Result<(u64, bool)> {
    let mut runs = 0u64;
    let mut count = |_: &KeyRun| {
        runs += 1;
        Ok(())
    };
    merged_runs(sources, numbers, &mut count)?;
    let plain = runs * RUN as u64;
    if sources.iter().all(|(keys, _)| keys.order.is_none()) {
        return Ok((plain, false));
    }
    let mut runs = 0u64;
    let mut count = |_: &KeyRun| {
        runs += 1;
        Ok(())
    };
    placed_runs(sources, &surviving_places(sources)?, numbers, &mut count)?;
    let placed = runs * RUN as u64 + bytes_of_places(survivors(sources));
    Ok((plain.min(placed), placed < plain))
}

/// Documents that survive.
pub(super) fn survivors(sources: &[KeySource<'_>]) -> usize {
    sources.last().map_or(0, |(_, docs)| docs.end() as usize)
}

/// Bytes of the places of so many documents.
pub(super) fn bytes_of_places(documents: usize) -> u64 {
    (documents * place_width(documents)) as u64
}

/// Writes the runs by their places, and the place of each document.
fn write_placed(sources: &[KeySource<'_>], numbers: &[Renumbering], out: &mut EnvelopeWriter) -> Result<()> {
    let places = surviving_places(sources)?;
    placed_runs(sources, &places, numbers, &mut |run| write_run(run, out))?;
    let mut writer = PlaceWriter::begin(survivors(sources), out)?;
    for ((keys, docs), places) in sources.iter().zip(&places) {
        for doc in (0..keys.max_doc).filter(|&doc| docs.get(doc).is_some()) {
            writer.push(places.get(keys.place(doc)?).unwrap_or(0), out)?;
        }
    }
    writer.finish(out)
}

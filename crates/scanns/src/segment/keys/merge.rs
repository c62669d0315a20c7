//! Joins the keys of several segments. Paths without surviving documents are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::format::{KeyKind, KeyRun, RUN, WHOLE_FILE, width_of};
use super::read::{KeyReader, KeyRuns};
use super::stamps::write_stamps;
use super::write::{HashWriter, PathWriter, PlaceWriter, begin_runs, write_column, write_run};
use crate::error::Result;
use crate::schema::Field;
use crate::segment::renumbering::Renumbering;
use crate::source::Stamp;
use crate::store::EnvelopeWriter;

/// The keys of one segment, and the documents that survive.
pub(in crate::segment) struct KeySource<'a> {
    pub(in crate::segment) keys: KeyReader<'a>,
    /// The new numbers of its documents.
    pub(in crate::segment) documents: &'a Renumbering,
}

/// Writes the key sections of the survivors. Documents with places keep them if this takes less space than
/// more runs.
pub(in crate::segment) fn merge(sources: &[KeySource<'_>], out: &mut EnvelopeWriter) -> Result<()> {
    let field = column_in_common(sources);
    let (numbers, count) = merge_paths(sources, field, out)?;
    if let Some(field) = field {
        return write_column(field, count, out);
    }
    if !sources.iter().any(|KeySource { keys, .. }| keys.by_run()) {
        return begin_runs(KeyKind::Files, count, out);
    }
    let by_place = sources.iter().any(|KeySource { keys, .. }| keys.order.is_some())
        && merged_bytes(sources, &numbers)?.has_places;
    if by_place {
        begin_runs(KeyKind::Places, count, out)?;
        return write_placed(sources, &numbers, out);
    }
    begin_runs(KeyKind::Runs, count, out)?;
    merged_runs(sources, &numbers, &mut |run| write_run(run, out))
}

/// The field whose column has the paths of all sources.
pub(super) fn column_in_common(sources: &[KeySource<'_>]) -> Option<Field> {
    let mut fields = sources.iter().map(|source| source.keys.path_field());
    let first = fields.next()??;
    fields.all(|field| field == Some(first)).then_some(first)
}

/// Writes paths, unless they are in the column of `field`, stamps and hashes; returns the new numbers of the
/// paths by source, and their count.
pub(super) fn merge_paths(
    sources: &[KeySource<'_>],
    field: Option<Field>,
    out: &mut EnvelopeWriter,
) -> Result<(Vec<Renumbering>, u32)> {
    let mut numbers: Vec<Renumbering> = Vec::with_capacity(sources.len());
    for KeySource { keys, documents: docs } in sources {
        let base = numbers.last().map_or(0, Renumbering::end);
        numbers.push(used_paths(keys, docs, base)?);
    }
    if field.is_none() {
        let mut paths = PathWriter::begin(out)?;
        for (KeySource { keys, .. }, used) in sources.iter().zip(&numbers) {
            keys.each_path(
                |number, path| {
                    if used.get(number).is_some() { paths.push(path, out) } else { Ok(()) }
                },
            )?;
        }
        paths.finish(out)?;
    }
    let count = numbers.last().map_or(0, Renumbering::end);
    let stamps = sources.iter().map(|source| source.keys.stamps()).collect::<Result<Vec<_>>>()?;
    let each_stamp = |visit: &mut dyn FnMut(Stamp) -> Result<()>| {
        for ((KeySource { keys, .. }, stamps), numbers) in sources.iter().zip(&stamps).zip(&numbers) {
            for path in (0..keys.paths()).filter(|&path| numbers.get(path).is_some()) {
                visit(stamps.as_ref().map_or_else(|| Ok(Stamp::default()), |stamps| stamps.get(path))?)?;
            }
        }
        Ok(())
    };
    write_stamps(&each_stamp, out)?;
    merge_hashes(sources, &numbers, count, out)?;
    Ok((numbers, count))
}

/// New numbers for the paths of surviving documents.
fn used_paths(keys: &KeyReader<'_>, docs: &Renumbering, base: u32) -> Result<Renumbering> {
    if docs.shift().is_some() && !keys.by_run() {
        return Ok(Renumbering::of_all(base, keys.paths()));
    }
    let mut used = vec![false; keys.paths() as usize];
    for run in keys.runs()? {
        let (run, mut range) = run?;
        if let Some(used) = used.get_mut(run.path as usize)
            && !*used
        {
            *used = range.any(|doc| docs.get(doc).is_some());
        }
    }
    Ok(Renumbering::new(base, keys.paths(), |path| used.get(path as usize) == Some(&true)))
}

/// Merges the hashes, which are sorted in each source.
fn merge_hashes(
    sources: &[KeySource<'_>],
    numbers: &[Renumbering],
    count: u32,
    out: &mut EnvelopeWriter,
) -> Result<()> {
    let mut writer = HashWriter::begin(count as usize, out)?;
    // The next surviving entry of a source: (hash, new number of the path, source, index of the following
    // entry).
    let next = |source: usize, mut entry: usize| -> Result<Option<_>> {
        let (Some(KeySource { keys, .. }), Some(numbers)) = (sources.get(source), numbers.get(source)) else {
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
        writer.push(hash, number, out)?;
        heap.extend(next(source, entry)?);
    }
    Ok(())
}

/// Calls `visit` with the runs of the survivors in their order. A run ends at dropped documents, and
/// continues if the next document is the next line.
pub(super) fn merged_runs(
    sources: &[KeySource<'_>],
    numbers: &[Renumbering],
    visit: &mut dyn FnMut(&KeyRun) -> Result<()>,
) -> Result<()> {
    let mut joiner = RunJoiner { goes_on: None, visit };
    for (KeySource { keys, documents }, paths) in sources.iter().zip(numbers) {
        for run in keys.runs()? {
            let (run, docs) = run?;
            joiner.take(&run, docs, documents, paths)?;
        }
    }
    Ok(())
}

/// Calls `visit` with the runs of the survivors in the order of their places; `places` contains the new
/// numbers of the places.
pub(super) fn placed_runs(
    sources: &[KeySource<'_>],
    places: &[Renumbering],
    numbers: &[Renumbering],
    visit: &mut dyn FnMut(&KeyRun) -> Result<()>,
) -> Result<()> {
    let mut joiner = RunJoiner { goes_on: None, visit };
    for ((KeySource { keys, .. }, places), paths) in sources.iter().zip(places).zip(numbers) {
        let runs = match keys.order {
            Some(_) => KeyRuns::InOrder(keys.runs_by_place()),
            None => keys.runs()?,
        };
        for run in runs {
            let (run, range) = run?;
            joiner.take(&run, range, places, paths)?;
        }
    }
    Ok(())
}

/// Splits and joins runs.
struct RunJoiner<'v> {
    /// The path and line that would continue the current run.
    goes_on: Option<(u32, u64)>,
    visit: &'v mut dyn FnMut(&KeyRun) -> Result<()>,
}

impl RunJoiner<'_> {
    /// Passes on the survivors of a run of the documents or places `range`, whose new numbers are in
    /// `numbers`.
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

/// The new numbers for the places of the survivors of each source. Without places, the numbers of the
/// documents.
pub(super) fn surviving_places(sources: &[KeySource<'_>]) -> Result<Vec<Renumbering>> {
    let mut places: Vec<Renumbering> = Vec::with_capacity(sources.len());
    for KeySource { keys, documents: docs } in sources {
        let base = places.last().map_or(0, Renumbering::end);
        let Some(order) = keys.order.filter(|_| docs.shift().is_none()) else {
            places.push(Renumbering::clone(docs));
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
            return Err(keys.damaged("separate place for each document"));
        }
        places.push(numbers);
    }
    Ok(places)
}

/// The size of the runs and places that [`merge`] writes.
pub(super) struct RunBytes {
    pub(super) bytes: u64,
    /// True if places are written.
    pub(super) has_places: bool,
}

/// The size of the runs and places of lines that [`merge`] writes.
pub(super) fn merged_bytes(sources: &[KeySource<'_>], numbers: &[Renumbering]) -> Result<RunBytes> {
    let mut plain = 0u64;
    merged_runs(sources, numbers, &mut |_| {
        plain += RUN as u64;
        Ok(())
    })?;
    if sources.iter().all(|KeySource { keys, .. }| keys.order.is_none()) {
        return Ok(RunBytes { bytes: plain, has_places: false });
    }
    let mut placed = bytes_of_places(survivors(sources));
    placed_runs(sources, &surviving_places(sources)?, numbers, &mut |_| {
        placed += RUN as u64;
        Ok(())
    })?;
    Ok(RunBytes { bytes: plain.min(placed), has_places: placed < plain })
}

/// Number of documents that survive.
pub(super) fn survivors(sources: &[KeySource<'_>]) -> usize {
    sources.last().map_or(0, |source| source.documents.end() as usize)
}

/// Bytes of the places of `documents` documents.
pub(super) fn bytes_of_places(documents: usize) -> u64 {
    (documents * width_of(documents)) as u64
}

/// Writes the runs in the order of their places, and the place of each document.
fn write_placed(sources: &[KeySource<'_>], numbers: &[Renumbering], out: &mut EnvelopeWriter) -> Result<()> {
    let places = surviving_places(sources)?;
    placed_runs(sources, &places, numbers, &mut |run| write_run(run, out))?;
    let mut writer = PlaceWriter::begin(survivors(sources), out)?;
    for (KeySource { keys, documents: docs }, places) in sources.iter().zip(&places) {
        for doc in (0..keys.max_doc).filter(|&doc| docs.get(doc).is_some()) {
            writer.push(places.get(keys.place(doc)?).unwrap_or(0), out)?;
        }
    }
    writer.finish(out)
}

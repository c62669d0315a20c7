//! Joins the keys of several segments: what no document is called any more is left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::read::KeyReader;
use super::write::{Kind, PathWriter, begin_runs, write_hash, write_run, write_stamp};
use super::{KeyRun, WHOLE_FILE};
use crate::error::Result;
use crate::segment::{HASHES, Renumbering, STAMPS};
use crate::store::EnvelopeWriter;

/// The keys of one segment, and which of its documents survive.
pub(in crate::segment) type KeySource<'a> = (KeyReader<'a>, &'a Renumbering);

/// Writes the sections of keys of the survivors. Those of documents in an order of their own become runs like any others.
pub(in crate::segment) fn merge(sources: &[KeySource<'_>], out: &mut EnvelopeWriter) -> Result<()> {
    let (numbers, count) = merge_paths(sources, out)?;
    if !sources.iter().any(|(keys, _)| keys.by_run()) {
        return begin_runs(Kind::Files, count, out);
    }
    begin_runs(Kind::Runs, count, out)?;
    merge_runs(sources, &numbers, out)
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
    for ((keys, _), numbers) in sources.iter().zip(&numbers) {
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

/// Runs are cut where documents fell out, and go on where the next line is the next document.
fn merge_runs(sources: &[KeySource<'_>], numbers: &[Renumbering], out: &mut EnvelopeWriter) -> Result<()> {
    // The path and line that would go on the run at hand.
    let mut goes_on = None;
    for ((keys, docs), paths) in sources.iter().zip(numbers) {
        keys.each_run(|run, range| {
            let Some(path) = paths.get(run.path) else { return Ok(()) };
            for (line, doc) in (run.first_line..).zip(range) {
                let Some(first_doc) = docs.get(doc) else { continue };
                if run.first_line == WHOLE_FILE || goes_on != Some((path, line)) {
                    let first_line = if run.first_line == WHOLE_FILE { WHOLE_FILE } else { line };
                    write_run(&KeyRun { first_doc, path, first_line }, out)?;
                }
                goes_on = (run.first_line != WHOLE_FILE).then_some((path, line + 1));
            }
            Ok(())
        })?;
    }
    Ok(())
}

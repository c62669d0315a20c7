//! What has been done of each input: which is left out, which takes the place of older documents, and how far it is.
//!
//! A file is known by its path and stamp (size and time of modification). Unchanged files are left out; of a changed one
//! the old documents are deleted in the step that takes the first new ones in, so that a commit has the old or the new,
//! or of a file of lines the first of the new. Such a file may be indexed in part when a commit comes: its spans go into
//! the manifest, and a later build reads the rest only; of CSV, where only the first byte of a file is known to begin a
//! record, it reads all of the file once more.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::manifest::Partial;
use super::writer::Writer;
use crate::error::Result;
use crate::read::Span;
use crate::schema::Records;
use crate::segment::{Flushed, KnownPaths};
use crate::source::{Failure, Input, Stamp};

/// A segment on the medium, and what is in it.
pub(super) struct Landed {
    pub(super) segment: Flushed,
    /// Lines, by input.
    pub(super) covered: Vec<(u32, Span)>,
    /// Inputs for which [`Ledger::replaces`] is true and of which it has a document.
    pub(super) replacing: Vec<u32>,
}

/// See the module.
pub(super) struct Ledger<'w> {
    writer: &'w Writer<'w>,
    inputs: Vec<Identity>,
    /// Segments of earlier commits.
    old: Vec<u128>,
    /// Inputs with documents in them that will be replaced.
    replaced: HashSet<u32>,
    done: Mutex<Done>,
}

/// What the ledger needs of an input.
struct Identity {
    path: PathBuf,
    partial: Partial,
}

#[derive(Default)]
struct Done {
    /// Of files of lines that are not complete.
    spans: BTreeMap<u32, Vec<Span>>,
    /// Inputs whose old documents are deleted.
    deleted: HashSet<u32>,
    /// How many those were.
    documents: u64,
}

/// What is to be read.
pub(super) struct ToDo {
    /// Inputs that are new, changed or incomplete.
    pub(super) inputs: Vec<Input>,
    /// What is in the index of the incomplete ones.
    pub(super) done: BTreeMap<u32, Vec<Span>>,
    /// Inputs left out, as they are in the index already.
    pub(super) unchanged: u64,
}

impl<'w> Ledger<'w> {
    /// Compares the inputs with what is in the index; with `again` unchanged ones are indexed again.
    pub(super) fn open(
        writer: &'w Writer<'w>,
        inputs: Vec<Input>,
        records: Records,
        again: bool,
    ) -> Result<(Self, ToDo)> {
        let manifest = writer.manifest();
        let old: Vec<u128> =
            manifest.iter().flat_map(|manifest| &manifest.segments).map(|segment| segment.id).collect();
        let partial = manifest.map(|manifest| manifest.partial).unwrap_or_default();
        let segments = old.iter().map(|&id| writer.segment(id)).collect::<Result<Vec<_>>>()?;
        // The latest documents of a file are in the latest segments, mostly.
        let known = segments.iter().rev().map(KnownPaths::of).collect::<Result<Vec<_>>>()?;
        let mut to_do = ToDo { inputs: Vec::new(), done: BTreeMap::new(), unchanged: 0 };
        let (mut kept, mut replaced) = (Vec::new(), HashSet::new());
        for input in inputs {
            let path = input.path.as_os_str().as_bytes();
            let number = u32::try_from(kept.len()).unwrap_or(u32::MAX);
            let begun = partial
                .get(path)
                .filter(|begun| begun.stamp == input.stamp() && records.ends_with_lines() && !again);
            if let Some(begun) = begun {
                to_do.done.insert(number, begun.spans.clone());
            } else {
                let found = find(&known, path)?;
                let begun = partial.contains_key(path);
                let same = Some((input.stamp(), records.are_parts()));
                if found == same && !begun && !again {
                    to_do.unchanged += 1;
                    continue;
                }
                if found.is_some() || begun {
                    replaced.insert(number);
                }
            }
            let partial = Partial { stamp: input.stamp(), spans: Vec::new() };
            kept.push(Identity { path: input.path.clone(), partial });
            to_do.inputs.push(input);
        }
        let done = Mutex::new(Done { spans: to_do.done.clone(), ..Done::default() });
        Ok((Ledger { writer, inputs: kept, old, replaced, done }, to_do))
    }

    pub(super) fn writer(&self) -> &Writer<'w> {
        self.writer
    }

    /// Segments that must stay apart from new ones, as documents in them will be replaced.
    pub(super) fn spared(&self) -> &[u128] {
        if self.replaced.is_empty() { &[] } else { &self.old }
    }

    /// True if new documents of an input take the place of old ones.
    pub(super) fn replaces(&self, input: u32) -> bool {
        self.replaced.contains(&input)
    }

    /// Old documents that were deleted so far.
    pub(super) fn replaced_documents(&self) -> u64 {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).documents
    }

    /// Takes in a segment, with what follows from it for the next commit.
    pub(super) fn take_in(&self, landed: Landed) -> Result<()> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh: Vec<u32> =
            landed.replacing.iter().copied().filter(|&input| done.deleted.insert(input)).collect();
        let deletions = self.deletions(&fresh)?;
        let touched: HashSet<u32> = landed.covered.iter().map(|(input, _)| *input).collect();
        for (input, span) in landed.covered {
            insert(done.spans.entry(input).or_default(), span);
        }
        let mut partial = self.forgotten(&fresh);
        for input in touched {
            let Some(identity) = self.inputs.get(input as usize) else { continue };
            let spans = done.spans.get(&input).cloned().unwrap_or_default();
            let complete =
                matches!(spans[..], [Span { start: 0, end, .. }] if end >= identity.partial.stamp.bytes);
            if complete {
                done.spans.remove(&input);
            }
            let path = identity.path.as_os_str().as_bytes().to_vec();
            let begun = Partial { spans, ..identity.partial.clone() };
            partial.push((path, (!complete).then_some(begun)));
        }
        done.documents += self.writer.take_in(Some(&landed.segment), deletions, partial);
        Ok(())
    }

    /// Has a later build read files anew of which some lines could not be read: the numbers of those behind are not known.
    pub(super) fn distrust(&self, failed: &[Failure]) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let failed: HashSet<&Path> = failed.iter().map(|failure| failure.path.as_path()).collect();
        let begun = done.spans.keys().filter_map(|&input| self.inputs.get(input as usize));
        let doubtful = begun.filter(|input| failed.contains(&*input.path));
        let partial =
            doubtful.map(|input| (input.path.as_os_str().as_bytes().to_vec(), Some(Partial::default())));
        self.writer.take_in(None, Vec::new(), partial.collect());
    }

    /// After all segments: deletes the old documents of inputs that have no new ones because nothing is in them.
    pub(super) fn finish(&self, failed: &[Failure]) -> Result<()> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that could not be read keeps what it had.
        let failed: HashSet<&Path> = failed.iter().map(|failure| failure.path.as_path()).collect();
        let is_empty = |&&input: &&u32| {
            let failed = self.inputs.get(input as usize).is_none_or(|input| failed.contains(&*input.path));
            !failed && !done.deleted.contains(&input)
        };
        let empty: Vec<u32> = self.replaced.iter().filter(is_empty).copied().collect();
        done.documents += self.writer.take_in(None, self.deletions(&empty)?, self.forgotten(&empty));
        done.deleted.extend(empty);
        Ok(())
    }

    /// The documents that inputs have in older segments.
    fn deletions(&self, inputs: &[u32]) -> Result<Vec<(u128, Vec<Range<u32>>)>> {
        let paths: Vec<&[u8]> = inputs.iter().filter_map(|&input| self.path(input)).collect();
        let mut found = Vec::new();
        for &id in self.old.iter().filter(|_| !paths.is_empty()) {
            let documents =
                self.writer.segment(id).and_then(|segment| segment.documents_of(paths.iter().copied()));
            match documents {
                Ok(documents) => found.push((id, documents)),
                // A commit meanwhile has dropped a segment of which no document was left.
                Err(_) if self.writer.entry(id).is_none() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Inputs of which no part is in the index any more.
    fn forgotten(&self, inputs: &[u32]) -> Vec<(Vec<u8>, Option<Partial>)> {
        inputs.iter().filter_map(|&input| Some((self.path(input)?.to_vec(), None))).collect()
    }

    fn path(&self, input: u32) -> Option<&[u8]> {
        self.inputs.get(input as usize).map(|input| input.path.as_os_str().as_bytes())
    }
}

/// What the file was like when it was indexed last, and whether its lines are the documents.
fn find(known: &[KnownPaths<'_>], path: &[u8]) -> Result<Option<(Stamp, bool)>> {
    for segment in known {
        if let Some(found) = segment.find(path)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Inserts a span between others and joins it with those that it touches. A file that is written to meanwhile may give
/// spans that overlap: they are joined too, and the file will be read again, as it has another stamp by then.
fn insert(spans: &mut Vec<Span>, span: Span) {
    let at = spans.partition_point(|other| other.start < span.start);
    spans.insert(at, span);
    spans.dedup_by(|next, before| {
        let touches = before.end >= next.start;
        if touches {
            (before.end, before.lines) = (before.end.max(next.end), before.lines.saturating_add(next.lines));
        }
        touches
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_become_one_that_can_be_written_down() {
        let mut spans = Vec::new();
        for (start, end) in [(0, 50), (40, 90), (60, 70), (100, 120), (85, 110)] {
            insert(&mut spans, Span { start, end, lines: 1 });
        }
        assert_eq!(spans, [Span { start: 0, end: 120, lines: 5 }]);
    }

    #[test]
    fn spans_in_any_order_become_the_whole() {
        let seed = 0x5eed_0420;
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..100 {
            let mut cuts: Vec<u64> = (0..random.usize(..20)).map(|_| random.u64(1..1000)).collect();
            cuts.extend([0, 1000]);
            cuts.sort_unstable();
            cuts.dedup();
            let mut parts: Vec<Span> =
                cuts.windows(2).map(|pair| Span { start: pair[0], end: pair[1], lines: 1 }).collect();
            let count = parts.len() as u64;
            random.shuffle(&mut parts);
            let mut spans = Vec::new();
            for part in parts {
                insert(&mut spans, part);
                assert!(spans.windows(2).all(|pair| pair[0].end < pair[1].start), "seed {seed:x} {spans:?}");
            }
            assert_eq!(spans, [Span { start: 0, end: 1000, lines: count }]);
        }
    }
}

//! Keeps account of the inputs of a build: which inputs are skipped, which replace older documents, and how
//! much of each one is indexed.
//!
//! A file is identified by its path and stamp (size and time of modification). Unchanged files are skipped;
//! with file metadata, a file is unchanged if the last change of its status (ctime) and its inode are the
//! same, too, and with access classes, if its class is. The old documents of a changed file are deleted in
//! the same step that adds its first new documents, so that a commit has either the old or the new documents;
//! of a file of lines, the first new ones. A commit may find such a file indexed in part. The manifest then
//! stores the spans that are indexed, and a later build reads only the rest. Files that are gone from the
//! walked directories lose their documents at the end, see `indexed_files.rs`. The documents of files that
//! were moved move with them, see `moved_files.rs`. A later build reads a CSV file from its start, because
//! only the first byte of the file is known to start a record.
//!
//! If a field is the key, documents also replace others with the same key, see `unique_keys.rs`. A file whose
//! documents were all replaced is not read again, until the other file changes or goes, see `displaced.rs`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use super::displaced::{Displaced, Restoration};
use super::indexed_files::{ARCHIVE_MARK, IndexedFile, IndexedFiles, RemovedFiles};
use super::manifest::Partial;
use super::moved_files::{FormerPlace, MovedFile, find_moved};
use super::unique_keys::{DoubleKey, UniqueKeys};
use super::writer::{PartialChange, SegmentDocuments, Writer};
use crate::error::Result;
use crate::read::{DoneParts, LineSpan};
use crate::schema::{Field, Records};
use crate::segment::Flushed;
use crate::source::{Failure, FileStatus, Input, Inputs, Stamp, fitting_date};
use crate::sys::lock;

/// A segment on the medium, and the inputs that it covers.
pub(crate) struct IndexedSegment {
    pub(crate) segment: Flushed,
    /// Lines, by input.
    pub(crate) covered: Vec<(u32, LineSpan)>,
    /// Inputs for which [`Ledger::replaces`] is true and of which the segment has a document.
    pub(crate) replacing: Vec<u32>,
    /// Inputs whose spans are positions in decoded text. The last span ends at the greatest position.
    pub(crate) decoded: Vec<u32>,
}

/// The account of the inputs of one build. See the module documentation.
pub(crate) struct Ledger<'w> {
    writer: &'w Writer<'w>,
    inputs: Vec<LedgerInput>,
    /// Segments of earlier commits.
    old: Vec<u128>,
    /// Inputs with documents in old segments that are to be replaced.
    replaced: HashSet<u32>,
    removed: RemovedFiles,
    /// The field whose values are the keys of documents.
    key: Option<Field>,
    progress: Mutex<LedgerProgress>,
    /// Whether files that could not be read lose their documents.
    forgets_unread: bool,
}

/// The state of an input.
struct LedgerInput {
    path: PathBuf,
    stamp: Stamp,
    /// The paths of its members in the index, if it is an archive that has to be read again.
    members: Vec<Vec<u8>>,
}

#[derive(Default)]
struct LedgerProgress {
    /// The spans of files of lines that are indexed in part.
    spans: BTreeMap<u32, Vec<LineSpan>>,
    /// Inputs whose text is decoded. A later build reads them from their start.
    decoded: HashSet<u32>,
    /// Inputs whose old documents are deleted.
    deleted: HashSet<u32>,
    /// The number of those documents.
    documents: u64,
    keys: UniqueKeys,
}

/// The inputs that a build has to read.
#[derive(Default)]
pub(crate) struct RemainingInputs {
    /// Inputs that are new, changed or incomplete.
    pub(crate) inputs: Vec<Input>,
    /// The indexed spans of incomplete inputs.
    pub(crate) parts: DoneParts,
    /// Inputs that are skipped because they are in the index and have not changed.
    pub(crate) unchanged: u64,
    /// Of `inputs`, those that have not changed, but had records that were left out because of a file that
    /// has changed or is gone.
    pub(crate) restored: u64,
    /// Inputs whose text is in the index under another path, which are not among `inputs`.
    pub(crate) moved: Vec<MovedFile>,
}

/// What is known of the inputs of a build before they are compared with the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LedgerOptions {
    pub(crate) records: Records,
    /// Whether unchanged inputs are indexed again.
    pub(crate) again: bool,
    /// Whether the documents of files that are gone are removed, so that those of moved files may move.
    pub(crate) moves: bool,
    /// Whether files that cannot be read lose their documents, since nobody knows who may see these now.
    pub(crate) forgets_unread: bool,
}

/// What an input is to an index.
enum InputState {
    /// These spans of it are indexed.
    Begun(Vec<LineSpan>),
    Unchanged,
    /// It is new or has changed, or is read again for another reason.
    ToRead {
        /// The index has something of it.
        is_known: bool,
        /// It has not changed.
        is_same: bool,
    },
}

impl InputState {
    fn of(
        input: &Input,
        known: Option<IndexedFile>,
        partial: Option<&Partial>,
        options: LedgerOptions,
    ) -> Self {
        let LedgerOptions { records, again, .. } = options;
        let of_stamp = partial.filter(|partial| partial.stamp == input.stamp());
        let is_replaced = of_stamp.is_some_and(Partial::is_replaced);
        let begun = of_stamp.filter(|begun| records.ends_with_lines() && !again && !begun.is_replaced());
        if let Some(begun) = begun {
            return InputState::Begun(begun.spans.clone());
        }
        let is_same = is_replaced || is_unchanged(known, input, records);
        if !again && is_same && (is_replaced || partial.is_none()) {
            return InputState::Unchanged;
        }
        InputState::ToRead { is_known: known.is_some() || partial.is_some(), is_same }
    }
}

impl<'w> Ledger<'w> {
    /// Compares the inputs with the index.
    pub(crate) fn open(
        writer: &'w Writer<'w>,
        found: Inputs,
        options: LedgerOptions,
    ) -> Result<(Self, RemainingInputs)> {
        let LedgerOptions { records, again, moves, forgets_unread } = options;
        let manifest = writer.manifest();
        let partial = manifest.as_ref().map(|manifest| manifest.partial.clone()).unwrap_or_default();
        let old = writer.segment_ids();
        let segments = old.iter().filter_map(|&id| writer.segment(id).transpose());
        let segments = segments.collect::<Result<Vec<_>>>()?;
        let index = IndexedFiles::of(&segments, &found, manifest.as_ref())?;
        let mut members = index.members(&found)?;
        let mut removed = index.removed(&found, &members, forgets_unread)?;
        let mut moved = BTreeMap::new();
        if moves && records == Records::File && !again {
            let known = |number: usize| index.known.get(number).copied().flatten();
            let is_changed = |number: usize, input: &Input| !is_unchanged(known(number), input, records);
            moved = find_moved(&segments, &index, &found, &removed, manifest.as_ref(), &is_changed)?;
            forget_archives(&mut moved, &mut removed, &members);
        }
        let known = index.known;
        let mut remaining = RemainingInputs::default();
        let mut displaced = Displaced::read(manifest.as_ref());
        let gone: &[Vec<u8>] = if moves { &removed.paths } else { &[] };
        let restores = !again && displaced.are_due(&found, &known, gone, records);
        let mut restoration = Restoration::default();
        let (mut kept, mut replaced) = (Vec::new(), HashSet::new());
        for (found, (input, known)) in found.inputs.into_iter().zip(known).enumerate() {
            if let Some(place) = moved.remove(&found) {
                remaining.moved.push(MovedFile { input, place, replaces: known.is_some() });
                continue;
            }
            let path = input.key();
            let number = u32::try_from(kept.len()).unwrap_or(u32::MAX);
            let members = members.remove(&found).unwrap_or_default();
            let comes_back = restores && displaced.has(path);
            let options = LedgerOptions { again: again || comes_back, ..options };
            match InputState::of(&input, known, partial.get(path), options) {
                InputState::Begun(spans) => {
                    remaining.parts.done.insert(number, spans);
                }
                InputState::Unchanged => {
                    remaining.unchanged += 1;
                    continue;
                }
                InputState::ToRead { is_known, is_same } => {
                    if is_known || !members.is_empty() {
                        replaced.insert(number);
                        restoration.outgoing.extend(restores.then(|| path.to_vec()));
                    }
                    match is_same && comes_back {
                        true => drop(restoration.files.insert(path.to_vec())),
                        false => displaced.forget(path),
                    }
                }
            }
            kept.push(LedgerInput { path: input.path.clone(), stamp: input.stamp(), members });
            remaining.inputs.push(input);
        }
        restoration.outgoing.extend(gone.iter().filter(|_| restores).cloned());
        remaining.restored = restoration.files.len() as u64;
        let (spans, keys) = (remaining.parts.done.clone(), UniqueKeys::new(&old, restoration, displaced));
        let progress = Mutex::new(LedgerProgress { spans, keys, ..LedgerProgress::default() });
        let key = writer.manifest().and_then(|manifest| manifest.sources.key());
        let ledger = Ledger { writer, inputs: kept, old, replaced, removed, key, progress, forgets_unread };
        Ok((ledger, remaining))
    }

    /// Takes parts of inputs for indexed, which are not to be read. The index must be new.
    pub(crate) fn leave_out(&self, parts: DoneParts, remaining: &mut RemainingInputs) {
        self.progress().spans.clone_from(&parts.done);
        remaining.parts = parts;
    }

    /// The files of the index that are not among the inputs any more.
    pub(crate) fn removed(&self) -> &RemovedFiles {
        &self.removed
    }

    /// Deletes the documents of files that are not among the inputs any more, and returns their number.
    pub(crate) fn remove(&self) -> Result<u64> {
        let paths = &self.removed.paths;
        let deletions = self.deletions_of(&paths.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let forgotten = paths.iter().map(|path| PartialChange { path: path.clone(), partial: None });
        Ok(self.writer.take_in(None, deletions, forgotten.collect()))
    }

    fn progress(&self) -> MutexGuard<'_, LedgerProgress> {
        lock(&self.progress)
    }

    pub(crate) fn writer(&self) -> &Writer<'w> {
        self.writer
    }

    /// Segments that must not be merged with new ones, because documents in them are to be replaced.
    pub(crate) fn spared(&self) -> &[u128] {
        let replaces = !self.replaced.is_empty() || !self.removed.paths.is_empty() || self.key.is_some();
        if replaces { &self.old } else { &[] }
    }

    /// True if new documents of an input replace old ones.
    pub(crate) fn replaces(&self, input: u32) -> bool {
        self.replaced.contains(&input)
    }

    /// The number of old documents that were deleted so far.
    pub(crate) fn replaced_documents(&self) -> u64 {
        let progress = self.progress();
        progress.documents + progress.keys.replaced
    }

    /// The number of documents of this build that were left out because others have the same keys, and the
    /// first of them.
    pub(crate) fn doubles(&self) -> (u64, Option<DoubleKey>) {
        let progress = self.progress();
        (progress.keys.doubles, progress.keys.first.clone())
    }

    /// Commits all segments so far, without documents whose keys others have too.
    pub(crate) fn commit(&self) -> Result<()> {
        // No segment is taken in between.
        let mut progress = self.progress();
        if let Some(key) = self.key {
            progress.keys.settle(self.writer, key)?;
            progress.keys.displaced.note(self.writer);
            self.mark_replaced(&mut progress)?;
        }
        if self.writer.has_changed() { self.writer.commit() } else { Ok(()) }
    }

    /// Marks files as read of which other files have replaced all documents.
    fn mark_replaced(&self, progress: &mut LedgerProgress) -> Result<()> {
        let unread = progress.spans.keys().filter_map(|&input| self.inputs.get(input as usize));
        let unread: HashSet<Vec<u8>> = unread.map(LedgerInput::key).collect();
        let mut changes = Vec::new();
        for (path, stamp) in std::mem::take(&mut progress.keys.files) {
            if unread.contains(&path) {
                progress.keys.files.insert(path, stamp);
            } else if !self.has_documents(&path)? {
                changes.push(PartialChange { path, partial: Some(Partial::replaced(stamp)) });
            }
        }
        self.writer.take_in(None, Vec::new(), changes);
        Ok(())
    }

    /// True if the next commit has documents of a file.
    fn has_documents(&self, path: &[u8]) -> Result<bool> {
        for id in self.writer.segment_ids() {
            let Some(segment) = self.writer.segment(id)? else { continue };
            let mut documents = segment.documents_of([path])?.into_iter().flatten();
            if documents.any(|doc| segment.is_live(doc)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds a segment to the next commit, together with the deletes and the state of files that follow from
    /// it.
    pub(crate) fn take_in(&self, indexed: IndexedSegment) -> Result<()> {
        let mut progress = self.progress();
        let fresh: Vec<u32> =
            indexed.replacing.iter().copied().filter(|&input| progress.deleted.insert(input)).collect();
        let deletions = self.deletions(&fresh)?;
        progress.decoded.extend(indexed.decoded);
        let touched: HashSet<u32> = indexed.covered.iter().map(|(input, _)| *input).collect();
        for (input, span) in indexed.covered {
            insert(progress.spans.entry(input).or_default(), span);
        }
        let mut partial = self.forgotten(&fresh);
        for number in touched {
            let Some(input) = self.inputs.get(number as usize) else { continue };
            let spans = progress.spans.get(&number).cloned().unwrap_or_default();
            let decoded = progress.decoded.contains(&number);
            let last = if decoded { u64::MAX } else { input.stamp.bytes };
            let complete = matches!(spans[..], [LineSpan { start: 0, end, .. }] if end >= last);
            if complete {
                progress.spans.remove(&number);
            }
            let begun = if decoded { Partial::default() } else { Partial { stamp: input.stamp, spans } };
            partial.push(PartialChange { path: input.key(), partial: (!complete).then_some(begun) });
        }
        progress.documents += self.writer.take_in(Some(&indexed.segment), deletions, partial);
        Ok(())
    }

    /// Makes a later build read files again if some of their lines could not be read, because the numbers of
    /// the lines after them are unknown.
    pub(crate) fn distrust(&self, failed: &[Failure]) {
        let progress = self.progress();
        let failed: HashSet<&Path> = failed.iter().map(|failure| failure.path.as_path()).collect();
        let begun = progress.spans.keys().filter_map(|&input| self.inputs.get(input as usize));
        let doubtful = begun.filter(|input| failed.contains(&*input.path));
        let again =
            |input: &LedgerInput| PartialChange { path: input.key(), partial: Some(Partial::default()) };
        self.writer.take_in(None, Vec::new(), doubtful.map(again).collect());
    }

    /// Called after the last segment. Deletes the old documents of inputs that have no new ones because they
    /// are now empty.
    pub(crate) fn finish(&self, failed: &[Failure]) -> Result<()> {
        let mut progress = self.progress();
        // A file that could not be read keeps its documents, unless it is to be known who may see them.
        let failed: HashSet<&Path> = failed.iter().map(|failure| failure.path.as_path()).collect();
        let is_empty = |&&input: &&u32| {
            let failed = self.inputs.get(input as usize).is_none_or(|input| failed.contains(&*input.path));
            (self.forgets_unread || !failed) && !progress.deleted.contains(&input)
        };
        let empty: Vec<u32> = self.replaced.iter().filter(is_empty).copied().collect();
        progress.documents += self.writer.take_in(None, self.deletions(&empty)?, self.forgotten(&empty));
        progress.deleted.extend(empty);
        Ok(())
    }

    /// The documents of inputs in old segments. A segment that a commit has dropped has none.
    fn deletions(&self, inputs: &[u32]) -> Result<Vec<SegmentDocuments>> {
        let inputs = inputs.iter().filter_map(|&input| self.inputs.get(input as usize));
        let paths: Vec<&[u8]> = inputs.flat_map(LedgerInput::paths).collect();
        self.deletions_of(&paths)
    }

    /// The documents of files in old segments.
    pub(crate) fn deletions_of(&self, paths: &[&[u8]]) -> Result<Vec<SegmentDocuments>> {
        let mut found = Vec::new();
        for &id in self.old.iter().filter(|_| !paths.is_empty()) {
            if let Some(segment) = self.writer.segment(id)? {
                let documents = segment.documents_of(paths.iter().copied())?;
                found.push(SegmentDocuments { id, documents });
            }
        }
        Ok(found)
    }

    /// Forgets the spans of inputs that have nothing in the index any more.
    fn forgotten(&self, inputs: &[u32]) -> Vec<PartialChange> {
        let inputs = inputs.iter().filter_map(|&input| self.inputs.get(input as usize));
        inputs.map(|input| PartialChange { path: input.key(), partial: None }).collect()
    }
}

/// Leaves archives out of the files that were moved, and the others out of those that are gone.
fn forget_archives(
    moved: &mut BTreeMap<usize, FormerPlace>,
    removed: &mut RemovedFiles,
    members: &HashMap<usize, Vec<Vec<u8>>>,
) {
    moved.retain(|_, place| !is_archive(&place.path, removed, members));
    let gone: HashSet<&[u8]> = moved.values().map(|place| place.path.as_slice()).collect();
    removed.paths.retain(|path| !gone.contains(path.as_slice()));
}

impl Displaced {
    /// True if a file with records that replaced those of others has changed or is gone.
    fn are_due(
        &self,
        found: &Inputs,
        known: &[Option<IndexedFile>],
        gone: &[Vec<u8>],
        records: Records,
    ) -> bool {
        let changes = |(input, known): (&Input, &Option<IndexedFile>)| {
            known.is_some() && !is_unchanged(*known, input, records) && self.is_by(input.key())
        };
        gone.iter().any(|path| self.is_by(path)) || found.inputs.iter().zip(known).any(changes)
    }
}

/// True if the index has members of the archive `path`. A move would lose them.
fn is_archive(path: &[u8], removed: &RemovedFiles, members: &HashMap<usize, Vec<Vec<u8>>>) -> bool {
    let within = [path, ARCHIVE_MARK].concat();
    let first = removed.paths.partition_point(|gone| *gone < within);
    let is_within = |member: &Vec<u8>| member.starts_with(&within);
    removed.paths.get(first).is_some_and(is_within) || members.values().flatten().any(is_within)
}

/// True if the index has a file as it is.
fn is_unchanged(known: Option<IndexedFile>, input: &Input, records: Records) -> bool {
    let Some(IndexedFile { path, changed, inode, same_access: true }) = known else { return false };
    let has_status = |status: &FileStatus| {
        changed == fitting_date(status.changed) && inode.is_none_or(|inode| inode == status.inode)
    };
    (path.stamp, path.lines) == (input.stamp(), records.are_parts())
        && input.status.as_deref().is_none_or(has_status)
}

impl LedgerInput {
    /// The paths of its documents.
    fn paths(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(self.path.as_os_str().as_bytes()).chain(self.members.iter().map(Vec::as_slice))
    }

    /// The path in the form of the manifest.
    fn key(&self) -> Vec<u8> {
        self.path.as_os_str().as_bytes().to_vec()
    }
}

/// Inserts a span and joins it with the spans that it touches. If a file is written to in the meantime, its
/// spans may overlap. They are joined too, and the file will be read again, because its stamp has changed.
fn insert(spans: &mut Vec<LineSpan>, span: LineSpan) {
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
    fn overlapping_spans_become_one_span() {
        let mut spans = Vec::new();
        for (start, end) in [(0, 50), (40, 90), (60, 70), (100, 120), (85, 110)] {
            insert(&mut spans, LineSpan { start, end, lines: 1 });
        }
        assert_eq!(spans, [LineSpan { start: 0, end: 120, lines: 5 }]);
    }

    #[test]
    fn spans_in_any_order_become_one_span() {
        let seed = 0x5eed_0420;
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..100 {
            let mut cuts: Vec<u64> = (0..random.usize(..20)).map(|_| random.u64(1..1000)).collect();
            cuts.extend([0, 1000]);
            cuts.sort_unstable();
            cuts.dedup();
            let mut parts: Vec<LineSpan> =
                cuts.windows(2).map(|pair| LineSpan { start: pair[0], end: pair[1], lines: 1 }).collect();
            let count = parts.len() as u64;
            random.shuffle(&mut parts);
            let mut spans = Vec::new();
            for part in parts {
                insert(&mut spans, part);
                assert!(spans.windows(2).all(|pair| pair[0].end < pair[1].start), "seed {seed:x} {spans:?}");
            }
            assert_eq!(spans, [LineSpan { start: 0, end: 1000, lines: count }]);
        }
    }
}

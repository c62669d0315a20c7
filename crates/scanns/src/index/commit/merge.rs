//! Merges segments while the index changes.
//!
//! A merge claims its sources before it begins: choosing them and marking them as claimed is one step under
//! the writer's lock, so that no commit can drop one in between. A claimed segment stays open with all its
//! deletes even if a commit drops it, because all its documents were replaced. What is deleted or set in the
//! sources during the merge is found in their open copies at the end, and carried over to the new document
//! numbers.

use std::collections::HashSet;

use super::manifest::SegmentEntry;
use super::writer::Writer;
use super::writer_state::WriterState;
use crate::error::Result;
use crate::segment::{Changes, DocumentOrder, MergeProgress, MergeWork, Merged, Segment, merge};

/// How the sources of a merge are written.
pub(crate) enum MergePlan {
    /// As one segment, in which documents keep their order.
    KeepOrder,
    /// As one segment, in which documents get this order.
    Reorder(DocumentOrder),
    /// Not at all: they stay as they are.
    LeaveAlone,
}

/// The sources of one merge. Until it is dropped, no other merge can claim them, and they stay open.
pub(crate) struct MergeClaim<'w> {
    writer: &'w Writer<'w>,
    /// In the order of the index.
    ids: Vec<u128>,
}

impl<'w> MergeClaim<'w> {
    /// Claims the segments that `choose` picks from the segments of the next commit; `None` if it picks none.
    /// `choose` runs under the writer's lock and gets all segments, and the identities of the segments that
    /// other merges have claimed.
    pub(crate) fn take(
        writer: &'w Writer<'w>,
        choose: impl FnOnce(&[SegmentEntry], &HashSet<u128>) -> Option<Vec<u128>>,
    ) -> Option<Self> {
        let mut state = writer.state();
        let chosen = choose(state.entries(), &state.merging)?;
        let free = state.entries().iter().map(|entry| entry.id).filter(|id| !state.merging.contains(id));
        let ids: Vec<u128> = free.filter(|id| chosen.contains(id)).collect();
        state.merging.extend(&ids);
        drop(state);
        (!ids.is_empty()).then_some(MergeClaim { writer, ids })
    }

    /// Merges the sources into one segment, which takes the place of the first source. `plan` chooses how,
    /// from the open sources. Returns the size of the new segment in bytes, or 0 if there is none.
    ///
    /// # Errors
    /// The error of `plan`, of the directory, or of `go_on`, which is called now and then with the bytes
    /// written. The index is then as it was.
    pub(crate) fn merge(
        self,
        plan: &dyn Fn(&[Segment]) -> Result<MergePlan>,
        work: &MergeWork,
        go_on: MergeProgress<'_>,
    ) -> Result<u64> {
        let writer = self.writer;
        // A source that was dropped before it was opened has no live document, so there is nothing to merge.
        let sources = self.ids.iter().filter_map(|&id| writer.segment(id).transpose());
        let sources = sources.collect::<Result<Vec<Segment>>>()?;
        if sources.is_empty() {
            return Ok(0);
        }
        let order = match plan(&sources)? {
            MergePlan::KeepOrder => None,
            MergePlan::Reorder(order) => Some(order),
            MergePlan::LeaveAlone => return Ok(0),
        };
        let id = writer.new_id();
        let written = merge(writer.directory(), id, &sources, order, work, go_on)
            .and_then(|(merged, unsynced)| unsynced.sync().map(|_| merged))
            .and_then(|merged| Ok((Segment::open(writer.directory(), id, 0)?, merged)));
        let (segment, merged) = written.inspect_err(|_| writer.give_up(id))?;
        self.take_in(&sources, segment, &merged)?;
        Ok(merged.segment.bytes)
    }

    /// Puts the merged segment in the place of its sources.
    fn take_in(&self, sources: &[Segment], mut segment: Segment, merged: &Merged) -> Result<()> {
        let id = segment.id();
        let _edits_are_whole = self.writer.hold_merges();
        let mut guard = self.writer.state();
        let state = &mut *guard;
        carry_over(state, sources, merged, &mut segment).inspect_err(|_| state.give_up(id))?;
        state.writing.remove(&id);
        state.bytes_written += merged.segment.bytes;
        let mut entry = Some(SegmentEntry::from(&merged.segment));
        if let Some(manifest) = &mut state.manifest {
            let listed = std::mem::take(&mut manifest.segments);
            let replace = |old: SegmentEntry| {
                if self.ids.contains(&old.id) { entry.take() } else { Some(old) }
            };
            manifest.segments = listed.into_iter().filter_map(replace).collect();
        }
        self.ids.iter().for_each(|id| drop(state.open.remove(id)));
        let (ids, committed) = (self.ids.iter(), &state.committed);
        state.displaced.extend(ids.filter(|id| !committed.contains(id)));
        state.open.insert(id, segment);
        Ok(())
    }
}

impl Drop for MergeClaim<'_> {
    fn drop(&mut self) {
        let mut state = self.writer.state();
        state.merging.retain(|id| !self.ids.contains(id));
        state.close_unused();
    }
}

/// Applies to the merged segment the deletes and new values that its sources got since the merge began.
fn carry_over(
    state: &WriterState,
    sources: &[Segment],
    merged: &Merged,
    segment: &mut Segment,
) -> Result<()> {
    let mut changes = Changes::new();
    for (number, source) in sources.iter().enumerate() {
        let Some(now) = state.open.get(&source.id()) else { continue };
        for document in now.deletes().since(source.deletes()) {
            merged.number(number, document).map(|document| segment.delete(document));
        }
        for (field, (kind, values)) in now.changes_since(source)? {
            let moved =
                values.into_iter().filter_map(|(doc, values)| Some((merged.number(number, doc)?, values)));
            changes.entry(field).or_insert_with(|| (kind, Default::default())).1.extend(moved);
        }
    }
    if changes.is_empty() { Ok(()) } else { segment.set(&changes) }
}

#[cfg(test)]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;

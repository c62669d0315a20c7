//! Merges while the index changes: what is deleted and set in the sources meanwhile is carried over to what they became.

use super::{State, Writer};
use crate::error::Result;
use crate::index::manifest::SegmentEntry;
use crate::segment::{Changes, GoOn, MergeWork, Merged, Order, Segment, merge};

/// What becomes of the segments of a merge.
pub(in crate::index) enum Plan {
    /// One in which documents keep their order.
    Keep,
    /// One in which they get this order.
    Reorder(Order),
    /// Nothing: they stay as they are.
    Stay,
}

/// Decides what becomes of segments.
type Decide<'a> = &'a dyn Fn(&[Segment]) -> Result<Plan>;

impl Writer<'_> {
    /// Merges segments into one, which takes the place of the first of them; returns the bytes of the new one. Documents
    /// keep their order.
    ///
    /// # Errors
    /// Whatever `go_on`, which is called now and then with the bytes written, and the directory say.
    pub(in crate::index) fn merge(&self, ids: &[u128], work: &MergeWork, go_on: GoOn<'_>) -> Result<u64> {
        self.merge_as(ids, &|_| Ok(Plan::Keep), work, go_on)
    }

    /// The same, as `decide` says of the segments; 0 if they are to stay.
    pub(in crate::index) fn merge_as(
        &self,
        ids: &[u128],
        decide: Decide<'_>,
        work: &MergeWork,
        go_on: GoOn<'_>,
    ) -> Result<u64> {
        // What is deleted in them from here on is found in their open copies at the end.
        self.state().merging.extend(ids);
        let merged = self.merge_held(ids, decide, work, go_on);
        let mut state = self.state();
        state.merging.retain(|id| !ids.contains(id));
        state.close_unlisted();
        merged
    }

    fn merge_held(&self, ids: &[u128], decide: Decide<'_>, work: &MergeWork, go_on: GoOn<'_>) -> Result<u64> {
        let sources = ids.iter().map(|&id| self.segment(id)).collect::<Result<Vec<_>>>()?;
        let order = match decide(&sources)? {
            Plan::Keep => None,
            Plan::Reorder(order) => Some(order),
            Plan::Stay => return Ok(0),
        };
        let id = self.new_id();
        let merged = merge(self.directory(), id, &sources, order, work, go_on)
            .and_then(|(merged, unsynced)| unsynced.sync().map(|_| merged))
            .and_then(|merged| Ok((Segment::open(self.directory(), id, 0)?, merged)));
        let (mut segment, merged) = merged.inspect_err(|_| self.give_up(id))?;
        let mut state = self.state();
        carry_over(&state, &sources, &merged, &mut segment).inspect_err(|_| state.give_up(id))?;
        state.writing.remove(&id);
        state.bytes_written += merged.segment.bytes;
        let mut entry = Some(SegmentEntry::from(&merged.segment));
        if let Some(manifest) = &mut state.manifest {
            let listed = std::mem::take(&mut manifest.segments);
            let place = |old: SegmentEntry| if ids.contains(&old.id) { entry.take() } else { Some(old) };
            manifest.segments = listed.into_iter().filter_map(place).collect();
        }
        ids.iter().for_each(|id| drop(state.open.remove(id)));
        state.open.insert(id, segment);
        Ok(merged.segment.bytes)
    }
}

/// Deletes in the merged segment what was deleted in its sources since the merge began, and sets what was set.
fn carry_over(state: &State, sources: &[Segment], merged: &Merged, segment: &mut Segment) -> Result<()> {
    let mut changes = Changes::new();
    for (number, source) in sources.iter().enumerate() {
        let Some(now) = state.open.get(&source.id()) else { continue };
        for document in now.deletes().since(source.deletes()) {
            merged.number(number, document).map(|document| segment.delete(document));
        }
        now.each_value_since(source, &mut |field, kind, document, values| {
            if let Some(document) = merged.number(number, document) {
                changes.entry(field).or_insert_with(|| (kind, Default::default())).1.insert(document, values);
            }
        })?;
    }
    if changes.is_empty() { Ok(()) } else { segment.set(&changes) }
}

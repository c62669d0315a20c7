//! Snapshots of a writer, which show what is not committed yet.

use super::open::{OpenState, Snapshot};
use crate::index::commit::writer_view::WriterView;

impl Snapshot {
    /// Returns false for a snapshot of a writer that shows what was not committed when it was made: see
    /// [`IndexWriter::snapshot`](crate::writer::IndexWriter::snapshot).
    pub fn is_committed(&self) -> bool {
        self.parts.iter().all(|part| part.revision.is_none())
    }

    /// The snapshot of a writer's state. `revision` is a new random number, and `name` the directory.
    pub(in crate::index) fn of_writer(name: String, view: WriterView, revision: u64) -> Self {
        let WriterView { generation, manifest, segments, is_committed, lease } = view;
        let revision = (!is_committed).then_some(revision);
        Snapshot::of_state(OpenState { name, generation, revision, lease }, manifest, segments)
    }

    /// True if this snapshot of a writer shows the same state as a view that was taken later.
    pub(in crate::index) fn shows(&self, view: &WriterView) -> bool {
        let [part] = &self.parts[..] else { return false };
        part.generation == view.generation
            && part.revision.is_none() == view.is_committed
            && part.notes == view.manifest.notes
            && part.segments.len() == view.segments.len()
            && view.segments.iter().zip(&part.segments).all(|(now, then)| now.is_unchanged_since(then))
    }

    /// True if `is_in_use` is true of all its segments.
    pub(in crate::index) fn reads_only(&self, is_in_use: impl Fn(u128) -> bool) -> bool {
        self.segments.iter().all(|segment| is_in_use(segment.id()))
    }
}

//! What an index lacks, because a scan was stopped or could not read something.

use scanns::Snapshot;
use scanns::files::{AskedPlaces, missing_entries};

/// What an index lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lacks {
    /// Sentences without a full stop.
    pub(crate) sentences: Vec<String>,
    /// The number of paths that could not be read.
    pub(crate) unread: u64,
    /// False if a scan or a dump was not complete.
    pub(crate) complete: bool,
}

impl Lacks {
    /// What a whole snapshot lacks; `None` if nothing is known to be missing.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        let all = snapshot.coverage().ok()?;
        let show = |path: &[u8]| path.escape_ascii().to_string();
        let sentences = missing_entries(snapshot, AskedPlaces::ALL, &show).ok()?;
        let (unread, complete) = (all.iter().map(|one| one.unread).sum(), all.iter().all(|one| one.complete));
        let is_whole = all.iter().all(scanns::index::Coverage::is_whole) && sentences.is_empty();
        (!is_whole).then_some(Lacks { sentences, unread, complete })
    }
}

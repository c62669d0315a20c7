//! The newest snapshot of an index. Requests look for a newer one at intervals; those in flight keep theirs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use scanns::Snapshot;

use super::lacks::Lacks;
use super::source::IndexSource;
use super::stamp::CommitStamp;

/// An index of the server.
#[derive(Debug)]
pub(super) struct CurrentIndex {
    pub(super) name: Arc<str>,
    pub(super) path: PathBuf,
    refresh: Duration,
    opened: RwLock<Arc<Opened>>,
    check: Mutex<LastCheck>,
}

/// A commit that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The snapshot's number, which differs between commits.
    pub(crate) fingerprint: u64,
    /// When it was committed, as far as the file system knows.
    pub(crate) committed: Option<SystemTime>,
    lacks: OnceLock<Option<Lacks>>,
}

/// The last look for a newer commit.
#[derive(Debug)]
struct LastCheck {
    at: Instant,
    stamp: CommitStamp,
}

impl Opened {
    fn of(snapshot: Snapshot, stamp: &CommitStamp) -> Arc<Self> {
        let fingerprint = snapshot.fingerprint();
        Arc::new(Opened {
            snapshot: Arc::new(snapshot),
            fingerprint,
            committed: stamp.committed(),
            lacks: OnceLock::new(),
        })
    }
}

impl Opened {
    /// What the index lacks; `None` if nothing is known to be missing. Found out at the first call.
    pub(crate) fn lacks(&self) -> Option<&Lacks> {
        self.lacks.get_or_init(|| Lacks::of(&self.snapshot)).as_ref()
    }
}

impl CurrentIndex {
    /// Opens the newest commit.
    ///
    /// # Errors
    /// The errors of [`Snapshot::open`].
    pub(super) fn open(source: IndexSource, refresh: Duration) -> scanns::Result<Self> {
        let IndexSource { name, path } = source;
        // A commit between the two is found by the next check.
        let stamp = CommitStamp::of(&path).unwrap_or_default();
        let opened = Opened::of(Snapshot::open(&path)?, &stamp);
        let check = Mutex::new(LastCheck { at: Instant::now(), stamp });
        Ok(CurrentIndex { name, path, refresh, opened: RwLock::new(opened), check })
    }

    /// The newest commit. If the last check is long ago, one of the callers looks for a newer commit and
    /// opens it, and the others take the one that is open meanwhile.
    pub(super) fn newest(&self) -> Arc<Opened> {
        if let Ok(mut check) = self.check.try_lock()
            && check.at.elapsed() >= self.refresh
        {
            self.look(&mut check);
            check.at = Instant::now();
        }
        Arc::clone(&self.opened.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a newer commit if there is one. If it cannot be opened, the one before stays, and the next check
    /// tries again.
    fn look(&self, check: &mut LastCheck) {
        let Ok(stamp) = CommitStamp::of(&self.path) else { return };
        if stamp == check.stamp {
            return;
        }
        let Ok(snapshot) = Snapshot::open(&self.path) else { return };
        let opened = Opened::of(snapshot, &stamp);
        check.stamp = stamp;
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = opened;
    }
}

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
    /// Why no newer commit can be opened, if that is so: the index was removed, or is damaged. With paths,
    /// which users need not know.
    pub(crate) trouble: Option<String>,
    lacks: OnceLock<Option<Lacks>>,
}

/// The last look for a newer commit.
#[derive(Debug)]
struct LastCheck {
    at: Instant,
    stamp: CommitStamp,
}

impl Opened {
    fn of(snapshot: Arc<Snapshot>, committed: Option<SystemTime>, trouble: Option<String>) -> Arc<Self> {
        let fingerprint = snapshot.fingerprint();
        Arc::new(Opened { snapshot, fingerprint, committed, trouble, lacks: OnceLock::new() })
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
        let opened = Opened::of(Arc::new(Snapshot::open(&path)?), stamp.committed(), None);
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
        self.opened()
    }

    /// The commit that is open.
    pub(super) fn opened(&self) -> Arc<Opened> {
        Arc::clone(&self.opened.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a newer commit if there is one. If it cannot be opened, the one before stays with a note, and
    /// the next check tries again.
    fn look(&self, check: &mut LastCheck) {
        let before = self.opened();
        let opened = match self.newer(check) {
            Ok(Some(opened)) => opened,
            Ok(None) if before.trouble.is_none() => return,
            Ok(None) => Opened::of(Arc::clone(&before.snapshot), before.committed, None),
            Err(trouble) if before.trouble.as_ref() == Some(&trouble) => return,
            Err(trouble) => Opened::of(Arc::clone(&before.snapshot), before.committed, Some(trouble)),
        };
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = opened;
    }

    /// A newer commit, if there is one, or why none can be opened.
    fn newer(&self, check: &mut LastCheck) -> Result<Option<Arc<Opened>>, String> {
        let stamp = CommitStamp::of(&self.path);
        let stamp = stamp.map_err(|error| format!("cannot list {}: {error}", self.path.display()))?;
        if stamp == check.stamp {
            return Ok(None);
        }
        let snapshot = Snapshot::open(&self.path).map_err(|error| error.to_string())?;
        let opened = Opened::of(Arc::new(snapshot), stamp.committed(), None);
        check.stamp = stamp;
        Ok(Some(opened))
    }
}

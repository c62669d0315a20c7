//! What callers see of indexes: made once for each set of rights, and kept until others are needed more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use scanns::Snapshot;
use scanns::access::AccessUser;

/// What a view is of, and for whom: the indexes by name with the numbers of their commits, and a user with
/// his sorted groups; `None` sees everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewKey {
    pub(super) commits: Vec<(Arc<str>, u64)>,
    pub(super) user: Option<Arc<AccessUser>>,
}

impl std::hash::Hash for ViewKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.commits.hash(state);
        self.user.as_ref().map(|user| (user.uid(), user.gid(), user.groups())).hash(state);
    }
}

/// A view that is made by one of those who want it.
#[derive(Debug, Default)]
struct ViewCell {
    made: OnceLock<Arc<Snapshot>>,
    making: Mutex<()>,
}

/// The views that were used last.
#[derive(Debug)]
pub(super) struct ViewCache {
    most: usize,
    kept: Mutex<KeptViews>,
}

#[derive(Debug, Default)]
struct KeptViews {
    views: HashMap<ViewKey, KeptView>,
    uses: u64,
}

#[derive(Debug)]
struct KeptView {
    cell: Arc<ViewCell>,
    /// The number of the last use.
    used: u64,
}

impl ViewCache {
    /// A cache of up to this number of views, at least one.
    pub(super) fn new(most: usize) -> Self {
        ViewCache { most: most.max(1), kept: Mutex::default() }
    }

    /// The view of a key. If it is not there, one caller makes it, and the others wait for it. After an error
    /// the next caller tries again.
    pub(super) fn get_or_make(
        &self,
        key: ViewKey,
        make: impl FnOnce() -> scanns::Result<Arc<Snapshot>>,
    ) -> scanns::Result<Arc<Snapshot>> {
        let cell = self.cell(key);
        if let Some(made) = cell.made.get() {
            return Ok(Arc::clone(made));
        }
        let _making = cell.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = cell.made.get() {
            return Ok(Arc::clone(made));
        }
        let made = make()?;
        Ok(Arc::clone(cell.made.get_or_init(|| made)))
    }

    fn cell(&self, key: ViewKey) -> Arc<ViewCell> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let KeptViews { views, uses } = &mut *kept;
        *uses += 1;
        if let Some(found) = views.get_mut(&key) {
            found.used = *uses;
            return Arc::clone(&found.cell);
        }
        // A view of another commit of the same indexes will hardly be asked for again.
        let is_older = |other: &ViewKey| {
            other.commits.len() == key.commits.len()
                && other.commits.iter().zip(&key.commits).all(|(one, new)| one.0 == new.0)
                && other.commits != key.commits
        };
        views.retain(|other, _| !is_older(other));
        while views.len() >= self.most {
            let oldest = views.iter().min_by_key(|(_, view)| view.used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            views.remove(&oldest);
        }
        let cell = Arc::new(ViewCell::default());
        views.insert(key, KeptView { cell: Arc::clone(&cell), used: *uses });
        cell
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use scanns::Index;
    use scanns::schema::{FieldEntry, Schema};

    use super::*;

    fn snapshot() -> (tempfile::TempDir, Arc<Snapshot>) {
        let place = tempfile::tempdir().unwrap();
        let mut schema = Schema::new();
        schema.add(FieldEntry::text("text")).unwrap();
        let path = place.path().join("a.scanns");
        Index::create(&path, &schema).unwrap();
        let snapshot = Arc::new(Snapshot::open(&path).unwrap());
        (place, snapshot)
    }

    fn key(index: &str, commit: u64, uid: u32) -> ViewKey {
        let user = Arc::new(AccessUser::new(uid, 100, &[5, 4]));
        ViewKey { commits: vec![(index.into(), commit)], user: Some(user) }
    }

    #[test]
    fn a_view_is_made_once_by_all_who_want_it() {
        let ((_place, snapshot), cache, made) = (snapshot(), ViewCache::new(4), AtomicUsize::new(0));
        let together = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    together.wait();
                    let make = || {
                        made.fetch_add(1, Ordering::Relaxed);
                        Ok(Arc::clone(&snapshot))
                    };
                    cache.get_or_make(key("a", 1, 7), make).unwrap();
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn the_least_used_view_is_forgotten_and_so_are_those_of_older_commits() {
        let ((_place, snapshot), cache) = (snapshot(), ViewCache::new(2));
        let get = |key: ViewKey| {
            let mut made = false;
            let make = || {
                made = true;
                Ok(Arc::clone(&snapshot))
            };
            cache.get_or_make(key, make).unwrap();
            made
        };
        assert!(get(key("a", 1, 1)) && get(key("b", 1, 2)) && !get(key("a", 1, 1)));
        assert!(get(key("a", 1, 3)), "user 2 of b is forgotten");
        assert!(!get(key("a", 1, 1)) && get(key("b", 1, 2)));
        assert!(get(key("a", 2, 9)), "a new commit");
        assert!(get(key("a", 1, 1)), "the older one was forgotten");
        let error = cache.get_or_make(key("c", 1, 1), || Err(scanns::Error::Cancelled));
        assert!(error.is_err() && get(key("c", 1, 1)), "an error is not kept");
    }
}

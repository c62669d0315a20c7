//! Follows the commits of an index: opens the newest one, and only the segments that are not open already.

use std::path::Path;
use std::sync::Arc;

use super::open::Snapshot;
use crate::error::Result;
use crate::store::Directory;

impl Snapshot {
    /// Opens the newest commit of the index at `path`, and shares all segments that this snapshot has of it.
    /// Returns a clone of this snapshot if it is of that commit.
    pub(in crate::index) fn refreshed(&self, path: &Path) -> Result<Self> {
        self.refuse_in_view("a newer commit")?;
        Ok(self.unless_same(Self::open_knowing(path, &self.parts)?))
    }

    /// Does the same for any directory; returns `None` if it has no commit.
    pub(in crate::index) fn refreshed_in(&self, directory: &dyn Directory) -> Result<Option<Self>> {
        self.refuse_in_view("a newer commit")?;
        let newest = Self::open_in_knowing(directory, &self.parts)?;
        Ok(newest.map(|newest| self.unless_same(newest)))
    }

    /// Returns `newest`, or a clone of this snapshot if both are of the same commit.
    fn unless_same(&self, newest: Snapshot) -> Self {
        if newest.fingerprint() == self.fingerprint() {
            return self.clone();
        }
        let filters = Arc::new(self.filters.anew());
        Snapshot { stored_cache: self.stored_cache.clone(), filters, ..newest }
    }
}

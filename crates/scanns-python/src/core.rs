//! An open index, shared by everything that was made from it.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use scanns::Snapshot;
use scanns::query::WeightedField;
use scanns::schema::Field;
use scanns::search::{Budget, SearchThreads, Searcher};

use crate::guard::Opener;

/// A commit, and the threads that share its queries.
pub struct Core {
    pub snapshot: Snapshot,
    pub paths: Vec<PathBuf>,
    threads: SearchThreads,
    opener: Opener,
}

impl Core {
    /// A searcher in a field, limited to a budget. In a forked process, which has no helpers, a query uses
    /// one thread.
    pub fn searcher<'a>(&'a self, field: Option<Field>, budget: &'a Budget) -> Searcher<'a> {
        let searcher = match field {
            Some(field) => self.snapshot.searcher_in(field),
            None => self.snapshot.searcher(),
        };
        let searcher = searcher.within(budget);
        if self.opener.is_current() { searcher.with_threads(&self.threads) } else { searcher }
    }

    /// The field of snippets, expansions and similar documents, among those that words search.
    pub fn main_field(&self, fields: &[WeightedField]) -> Field {
        let default = self.snapshot.schema().default_field();
        let default = default.filter(|main| fields.iter().any(|of| of.field == *main));
        default.or(fields.first().map(|first| first.field)).unwrap_or_default()
    }
}

/// A reference to an open index. A forked process never closes it, since that would wait for threads of
/// the process that opened it.
#[derive(Clone)]
pub struct CoreRef(Arc<Core>);

impl CoreRef {
    pub fn new(snapshot: Snapshot, paths: Vec<PathBuf>, threads: usize) -> Self {
        let threads = SearchThreads::new(threads);
        CoreRef(Arc::new(Core { snapshot, paths, threads, opener: Opener::current() }))
    }
}

impl Deref for CoreRef {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.0
    }
}

impl Drop for CoreRef {
    fn drop(&mut self) {
        if !self.0.opener.is_current() {
            std::mem::forget(Arc::clone(&self.0));
        }
    }
}

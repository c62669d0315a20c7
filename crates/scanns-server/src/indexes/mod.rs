//! The indexes of a server: named, opened again after commits, and seen by callers as they may.
//!
//! `source.rs` says which indexes there are. `current.rs` has the newest snapshot of each, and `stamp.rs`
//! finds out cheaply whether there is a newer one; `lacks.rs` says what an index lacks. `views.rs` keeps what
//! callers see. Read [`Indexes::view`] first.
//!
//! Everything here may read files, and belongs outside of the async runtime.

mod current;
mod lacks;
mod source;
mod stamp;
mod views;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use scanns::Snapshot;

use crate::caller::Caller;
use crate::problem::Problem;
use current::CurrentIndex;
pub(crate) use current::Opened;
pub use source::{IndexSource, SourceError};
use views::{ViewCache, ViewKey};

/// How indexes are kept up to date, and how many views are kept.
#[derive(Clone, Copy, Debug)]
pub struct IndexSettings {
    /// How long an index is believed to be the newest before the next request looks for a new commit.
    pub refresh: Duration,
    /// The number of views that are kept: one for each set of rights and index.
    pub views: usize,
}

impl Default for IndexSettings {
    fn default() -> Self {
        IndexSettings { refresh: Duration::from_millis(500), views: 256 }
    }
}

/// The indexes that a server answers from, by name.
#[derive(Debug)]
pub struct Indexes {
    all: Vec<CurrentIndex>,
    views: ViewCache,
}

/// What a caller sees of an index, or of several as one. It stays as it is while a request uses it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The names of the indexes, in the order of their documents.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The commit of each index, as a whole.
    pub(crate) commits: Vec<Arc<Opened>>,
    /// True if the caller sees only what he may.
    pub(crate) trimmed: bool,
}

impl Seen {
    /// What changes if answers may change.
    pub(crate) fn state(&self) -> Vec<u64> {
        let commits = self.commits.iter().map(|commit| u64::from(commit.trouble.is_some()));
        std::iter::once(self.snapshot.fingerprint()).chain(commits).collect()
    }

    /// The names as one, for messages.
    pub(crate) fn name(&self) -> String {
        self.names.join(",")
    }
}

/// An index as a list of indexes shows it.
#[derive(Clone, Debug)]
pub(crate) struct IndexSummary {
    pub(crate) name: Arc<str>,
    /// Its path; for a user, the last part of it.
    pub(crate) path: String,
    pub(crate) seen: Seen,
}

impl Indexes {
    /// Opens the newest commit of each index.
    ///
    /// # Errors
    /// [`SourceError`] if two indexes have one name, or if one cannot be opened.
    pub fn open(sources: Vec<IndexSource>, settings: IndexSettings) -> Result<Self, SourceError> {
        let mut all: Vec<CurrentIndex> = Vec::new();
        for source in sources {
            if let Some(other) = all.iter().find(|other| *other.name == *source.name) {
                let paths = [&other.path, &source.path].map(|path| path.display().to_string());
                return Err(SourceError::SameName { name: source.name.to_string(), paths });
            }
            all.push(CurrentIndex::open(source, settings.refresh)?);
        }
        if all.is_empty() {
            return Err(SourceError::None);
        }
        Ok(Indexes { all, views: ViewCache::new(settings.views) })
    }

    /// The names of all indexes, in the order in which they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|index| &*index.name)
    }

    /// What a caller sees of an index: for [`Caller::Everything`] its newest snapshot, for a user a view of
    /// it. A view is made once; callers who want it meanwhile wait for it. May read files.
    ///
    /// # Errors
    /// 404 for an unknown name, 403 for a user of an index that does not know who may see what, 500 if the
    /// index cannot be read.
    pub fn view(&self, name: &str, caller: &Caller) -> Result<Arc<Snapshot>, Problem> {
        self.seen(&[name], caller, &|| false).map(|seen| seen.snapshot)
    }

    /// What a caller sees of indexes, as one. A view is not made to its end if `stop` returns true.
    pub(crate) fn seen(
        &self,
        names: &[&str],
        caller: &Caller,
        stop: &dyn Fn() -> bool,
    ) -> Result<Seen, Problem> {
        let mut indexes: Vec<&CurrentIndex> = Vec::with_capacity(names.len());
        for &name in names {
            let index = self.all.iter().find(|index| &*index.name == name).ok_or_else(|| unknown(name))?;
            if indexes.iter().any(|other| std::ptr::eq(*other, index)) {
                let detail = format!("the index '{}' is named twice: name it once", shown(name));
                return Err(bad_index(detail));
            }
            indexes.push(index);
        }
        let commits: Vec<Arc<Opened>> = indexes.iter().map(|index| index.newest()).collect();
        let names: Vec<Arc<str>> = indexes.iter().map(|index| Arc::clone(&index.name)).collect();
        let user = match caller {
            Caller::Everything { .. } => None,
            Caller::User { user, .. } => Some(user),
        };
        let (only, is_one) = (commits.first(), commits.len() == 1);
        if let (Some(only), true, None) = (only, is_one, user) {
            let snapshot = Arc::clone(&only.snapshot);
            return Ok(Seen { names, snapshot, commits, trimmed: false });
        }
        if user.is_some()
            && let Some((name, _)) = names.iter().zip(&commits).find(|(_, one)| !one.snapshot.has_access())
        {
            return Err(without_access(name));
        }
        let key = ViewKey {
            commits: names.iter().cloned().zip(commits.iter().map(|commit| commit.fingerprint)).collect(),
            user: user.cloned(),
        };
        let snapshot = self.views.get_or_make(key, || {
            let whole = match (only, is_one) {
                (Some(only), true) => Arc::clone(&only.snapshot),
                _ => {
                    let parts = commits.iter().map(|commit| Snapshot::clone(&commit.snapshot)).collect();
                    Arc::new(Snapshot::join(parts)?)
                }
            };
            user.map_or(Ok(Arc::clone(&whole)), |user| whole.seen_as_until(user, stop).map(Arc::new))
        });
        match snapshot {
            Ok(snapshot) => Ok(Seen { names, snapshot, commits, trimmed: user.is_some() }),
            // What does not fit together names files, which users need not know.
            Err(error @ scanns::Error::Conflict { .. }) if !is_one => {
                let detail = "these indexes were not built alike, and cannot be searched as one: name one, \
                              or those that fit, in index";
                Err(Problem { cause: Some(error.to_string()), ..bad_index(detail.into()) })
            }
            Err(error) => Err(Problem::of_engine(&error)),
        }
    }

    /// The number of indexes that were removed or cannot be opened any more.
    pub(crate) fn out_of_reach(&self) -> usize {
        self.all.iter().filter(|index| index.opened().trouble.is_some()).count()
    }

    /// The indexes that a caller may use. A user is not told of indexes that are refused to him.
    pub(crate) fn summaries(&self, caller: &Caller, stop: &dyn Fn() -> bool) -> Vec<IndexSummary> {
        let summary = |index: &CurrentIndex| {
            let seen = self.seen(&[&index.name], caller, stop).ok()?;
            let path = match caller {
                Caller::Everything { .. } => whole_path(&index.path),
                Caller::User { .. } => file_name(&index.path),
            };
            Some(IndexSummary { name: Arc::clone(&index.name), path, seen })
        };
        self.all.iter().filter_map(summary).collect()
    }
}

fn whole_path(path: &Path) -> String {
    let whole = std::path::absolute(path);
    whole.as_deref().unwrap_or(path).to_string_lossy().into_owned()
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A name as a message shows it: not longer than a line.
fn shown(name: &str) -> String {
    let cut: String = name.chars().take(60).collect();
    if cut.len() < name.len() { format!("{cut}…") } else { cut }
}

fn unknown(name: &str) -> Problem {
    let detail = format!("there is no index '{}': GET /api/v1 lists the indexes", shown(name));
    Problem::new(StatusCode::NOT_FOUND, "/problems/not-found", "There is no such index", detail)
}

fn bad_index(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "/problems/parameter", "A parameter has an error", detail)
        .of_parameter("index")
}

fn without_access(name: &str) -> Problem {
    let detail = format!(
        "the index '{name}' does not know who may see what, so only its owner can search it: it must be \
         built with --access"
    );
    Problem::new(StatusCode::FORBIDDEN, "/problems/no-access", "The index is not shared", detail)
}

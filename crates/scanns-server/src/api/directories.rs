//! Sums by directory: of what is directly below one, with everything below each.

use axum::http::StatusCode;
use scanns::aggregate::{Aggregated, Aggregation, Bucket, BucketKey, Facet, Stats, Sum};
use scanns::query::{BoolQuery, Pattern};
use scanns::schema::{Field, FieldKind, Value};
use scanns::search::Searcher;
use scanns::{Query, Snapshot};

use super::fields;
use crate::problem::Problem;

/// The greatest depth of the uppermost directory that has more than one child.
pub(super) const DEPTH: usize = 256;

/// The columns that are summed up by directory.
pub(super) struct Directories {
    path: Field,
    size: Field,
    modified: Option<Field>,
}

impl Directories {
    /// The columns of a snapshot; `None` if it has no paths or no sizes.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        let column = |name: &str, kind: &FieldKind| {
            let found = fields::known(snapshot).find(|(_, entry)| entry.name == name && entry.column);
            found.filter(|(_, entry)| entry.kind == *kind).map(|(field, _)| field)
        };
        let (path, size) = (column("path", &FieldKind::Path)?, column("size", &FieldKind::Unsigned)?);
        Some(Directories { path, size, modified: column("mtime", &FieldKind::Date) })
    }

    /// The documents of a query that are directly below a directory, which ends with a slash; all of them if
    /// it is empty.
    pub(super) fn below(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        below: &[u8],
    ) -> scanns::Result<Vec<Bucket>> {
        let stats = |field| Aggregation::Stats { field, percentiles: Vec::new() };
        let mut within = vec![stats(self.size)];
        within.extend(self.modified.map(stats));
        let facet = Facet::Path { field: self.path, below: below.to_vec(), limit: usize::MAX };
        let found = searcher.aggregate(query, &[Aggregation::Facet(facet, within)])?;
        Ok(match found.into_iter().next() {
            Some(Aggregated::Buckets(found)) => found.buckets,
            _ => Vec::new(),
        })
    }

    /// The documents of a query below a directory, which ends with a slash.
    pub(super) fn within(&self, query: &Query, below: &[u8]) -> Query {
        let inside = Query::ValuePattern { field: self.path, pattern: Pattern::Prefix(below.to_vec()) };
        Query::Bool(BoolQuery { filter: vec![query.clone(), inside], ..BoolQuery::default() })
    }
}

/// The path of a directory; it ends with a slash unless it is one of a file.
pub(super) fn path_of(bucket: &Bucket) -> Option<&Vec<u8>> {
    match &bucket.key {
        BucketKey::Value(Value::Text(path)) => Some(path),
        _ => None,
    }
}

/// The sum of the sizes.
pub(super) fn size_of(bucket: &Bucket) -> i128 {
    match bucket.nested.first() {
        Some(Aggregated::Stats(Stats { sum: Some(Sum::Whole(sum)), .. })) => *sum,
        _ => 0,
    }
}

/// A path that ends with a slash.
pub(super) fn with_slash(path: &[u8]) -> Vec<u8> {
    let mut place = path.to_vec();
    if !place.ends_with(b"/") {
        place.push(b'/');
    }
    place
}

/// A path without the slash at its end, unless it is the root.
pub(super) fn shown_place(place: &[u8]) -> &[u8] {
    place.strip_suffix(b"/").filter(|path| !path.is_empty()).unwrap_or(place)
}

/// What is directly below a directory, as it is shown.
pub(super) struct Named<'p> {
    /// The last part of the path.
    pub(super) name: &'p [u8],
    pub(super) path: &'p [u8],
    /// `directory`, or `files` for what is in the directory itself.
    pub(super) kind: &'static str,
}

/// The name and the path of what is directly below the directory `place`.
pub(super) fn named<'p>(place: &[u8], whole: &'p [u8]) -> Named<'p> {
    let path = shown_place(whole);
    let name = path.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty()).unwrap_or(path);
    Named { name, path, kind: if whole == place { "files" } else { "directory" } }
}

/// The problem of an index without paths or sizes.
pub(super) fn no_sizes() -> Problem {
    let detail = "the index has no paths and sizes of files: build one of files, or of a dump that has sizes";
    let (kind, title) = ("/problems/unsupported", "The index cannot answer this");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail)
}

/// The problem of a directory that has nothing.
pub(super) fn nothing_there() -> Problem {
    let detail = "there is nothing below this directory, or no such directory";
    let (kind, title) = ("/problems/not-found", "There is no such directory");
    Problem::new(StatusCode::NOT_FOUND, kind, title, detail).of_parameter("path")
}

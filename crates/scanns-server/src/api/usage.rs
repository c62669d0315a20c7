//! The use of space: what is below a directory, for a treemap.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use scanns::aggregate::{Aggregated, Aggregation, Bucket, BucketKey, Facet, Stats, Sum};
use scanns::schema::{Field, FieldKind, Value};
use scanns::search::Searcher;
use scanns::{Query, Snapshot};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::context::{Answer, ApiState, Context, Refusal};
use super::handle::{Asked, Handled, handle};
use super::parameter::USAGE;
use super::{fields, show};
use crate::problem::Problem;

/// The greatest depth of the uppermost directory that has more than one child.
const DEPTH: usize = 256;

/// What is below a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UsageAnswer {
    index: String,
    generation: u64,
    /// The directory, without a slash at its end.
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    total: UsageTotal,
    /// What is in the directory, the largest first.
    children: Vec<UsageChild>,
    /// The number of children that are not shown.
    more: u64,
    /// True if the time was up: sums are of what was counted until then.
    partial: bool,
}

/// The sum of everything below a directory.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct UsageTotal {
    count: u64,
    size: Json,
}

/// A directory with everything below it, or the files of the directory itself.
#[derive(Debug, Serialize, JsonSchema)]
struct UsageChild {
    /// The last part of the path.
    name: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    /// directory, or files for what is in the directory itself.
    kind: &'static str,
    /// The number of documents.
    count: u64,
    /// The sum of their sizes. A file with several names counts once for each.
    size: Json,
    /// The latest modification, in RFC 3339.
    newest: Json,
    /// The earliest modification.
    oldest: Json,
}

struct UsageRequest {
    index: String,
    path: Option<Vec<u8>>,
    by_count: bool,
    limit: usize,
}

/// Sums up what is below a directory.
pub(super) fn usage(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let given = &asked.given;
        Ok(UsageRequest {
            index: asked.head.index(),
            path: given.bytes("path")?.map(std::borrow::Cow::into_owned),
            by_count: given.word("by")? == Some("count"),
            limit: usize::try_from(given.number("limit")?.unwrap_or(100)).unwrap_or(usize::MAX),
        })
    };
    handle(state, request, &[USAGE], read, answer)
}

/// The columns that are summed up.
struct UsageColumns {
    path: Field,
    size: Field,
    modified: Option<Field>,
}

impl UsageColumns {
    fn of(snapshot: &Snapshot) -> Option<Self> {
        let column = |name: &str, kind: &FieldKind| {
            let found = fields::known(snapshot).find(|(_, entry)| entry.name == name && entry.column);
            found.filter(|(_, entry)| entry.kind == *kind).map(|(field, _)| field)
        };
        let (path, size) = (column("path", &FieldKind::Path)?, column("size", &FieldKind::Unsigned)?);
        Some(UsageColumns { path, size, modified: column("mtime", &FieldKind::Date) })
    }

    /// What is directly below a directory, which ends with a slash; of everything if it is empty.
    fn below(&self, searcher: &Searcher<'_>, below: &[u8]) -> scanns::Result<Vec<Bucket>> {
        let stats = |field| Aggregation::Stats { field, percentiles: Vec::new() };
        let mut within = vec![stats(self.size)];
        within.extend(self.modified.map(stats));
        let facet = Facet::Path { field: self.path, below: below.to_vec(), limit: usize::MAX };
        let found = searcher.aggregate(&Query::All, &[Aggregation::Facet(facet, within)])?;
        Ok(match found.into_iter().next() {
            Some(Aggregated::Buckets(found)) => found.buckets,
            _ => Vec::new(),
        })
    }
}

fn answer(context: &Context<'_>, request: &UsageRequest) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[&request.index])?;
    let snapshot = &*seen.snapshot;
    let columns = UsageColumns::of(snapshot).ok_or_else(no_sizes)?;
    let budget = context.task.budget(context.state.limits.facet_time);
    let searcher = snapshot.searcher().within(&budget).with_threads(&context.state.threads);
    let (place, mut buckets) = match &request.path {
        Some(path) => {
            let mut place = path.clone();
            if !place.ends_with(b"/") {
                place.push(b'/');
            }
            let buckets = columns.below(&searcher, &place)?;
            (place, buckets)
        }
        None => uppermost(&columns, &searcher)?,
    };
    if buckets.is_empty() && request.path.is_some() && !budget.ran_out() {
        let detail = "there is nothing below this directory, or no such directory";
        let (kind, title) = ("/problems/not-found", "There is no such directory");
        let problem = Problem::new(StatusCode::NOT_FOUND, kind, title, detail);
        return Err(problem.of_parameter("path").into());
    }
    let size = |bucket: &Bucket| size_of(bucket);
    buckets.sort_by(|a, b| {
        let by_count = b.count.cmp(&a.count);
        if request.by_count { by_count } else { size(b).cmp(&size(a)).then(by_count) }
    });
    let total = UsageTotal {
        count: buckets.iter().map(|bucket| bucket.count).sum(),
        size: show::sum(Sum::Whole(buckets.iter().map(size).sum())),
    };
    let more = buckets.len().saturating_sub(request.limit) as u64;
    let path = place.strip_suffix(b"/").filter(|path| !path.is_empty()).unwrap_or(&place);
    let answer = UsageAnswer {
        index: seen.name(),
        generation: snapshot.info().generation,
        path: show::shown(path).into_owned(),
        path_bytes: show::exact(path),
        total,
        children: buckets.iter().take(request.limit).map(|bucket| child(&place, bucket)).collect(),
        more,
        partial: budget.ran_out(),
    };
    let tag = tag.filter(|_| !answer.partial);
    Answer::json(&answer, tag)
}

/// The uppermost directory that has more than one child, and its children.
fn uppermost(columns: &UsageColumns, searcher: &Searcher<'_>) -> scanns::Result<(Vec<u8>, Vec<Bucket>)> {
    let (mut place, mut buckets) = (Vec::new(), columns.below(searcher, b"")?);
    for _ in 0..DEPTH {
        let only = match &buckets[..] {
            [only] => path_of(only).filter(|path| path.ends_with(b"/") && **path != place).cloned(),
            _ => None,
        };
        let Some(only) = only else { break };
        buckets = columns.below(searcher, &only)?;
        place = only;
    }
    Ok((place, buckets))
}

fn path_of(bucket: &Bucket) -> Option<&Vec<u8>> {
    match &bucket.key {
        BucketKey::Value(Value::Text(path)) => Some(path),
        _ => None,
    }
}

fn size_of(bucket: &Bucket) -> i128 {
    match bucket.nested.first() {
        Some(Aggregated::Stats(Stats { sum: Some(Sum::Whole(sum)), .. })) => *sum,
        _ => 0,
    }
}

fn child(place: &[u8], bucket: &Bucket) -> UsageChild {
    let whole = path_of(bucket).map(Vec::as_slice).unwrap_or_default();
    let path = whole.strip_suffix(b"/").filter(|path| !path.is_empty()).unwrap_or(whole);
    let is_itself = whole == place;
    let name = path.rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty()).unwrap_or(path);
    let (newest, oldest) = match bucket.nested.get(1) {
        Some(Aggregated::Stats(stats)) => (stats.max.as_ref(), stats.min.as_ref()),
        _ => (None, None),
    };
    let date = |value: Option<&Value>| value.map_or(Json::Null, show::value);
    UsageChild {
        name: show::shown(name).into_owned(),
        path: show::shown(path).into_owned(),
        path_bytes: show::exact(path),
        kind: if is_itself { "files" } else { "directory" },
        count: bucket.count,
        size: show::sum(Sum::Whole(size_of(bucket))),
        newest: date(newest),
        oldest: date(oldest),
    }
}

fn no_sizes() -> Problem {
    let detail = "the index has no paths and sizes of files: build one of files, or of a dump that has sizes";
    let (kind, title) = ("/problems/unsupported", "The index cannot answer this");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail)
}

//! The use of space: what is below a directory, for a treemap.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::Request;
use scanns::Query;
use scanns::aggregate::{Aggregated, Bucket, Sum};
use scanns::query::Operator;
use scanns::schema::Value;
use scanns::search::Searcher;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::context::{Answer, ApiState, Context, Refusal};
use super::directories::{self, Directories};
use super::given::Known;
use super::handle::{Asked, Handled, handle};
use super::parameter::{DIRECTORY, QUERY, USAGE, WORDS};
use super::request::{Question, operator, question};
use super::search::AskedQuery;
use super::show;

/// The parameters of a request for sums.
pub(super) const USAGES: Known = &[DIRECTORY, USAGE, QUERY, WORDS];

/// The maximum number of children whose own children are shown, and of the children of each.
const NESTED: usize = 100;

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
    /// With a depth of 2, what is in the directory, the largest first: up to 100 children of each of the
    /// first 100 directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<UsageChild>>,
    /// The number of children in it that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
}

struct UsageRequest {
    index: String,
    path: Option<Vec<u8>>,
    by_count: bool,
    limit: usize,
    /// True if children have children.
    is_nested: bool,
    question: Question,
    field: Option<String>,
    operator: Operator,
    /// True if all documents are summed up.
    is_all: bool,
}

/// Sums up what is below a directory.
pub(super) fn usage(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let given = &asked.given;
        Ok(UsageRequest {
            index: asked.head.index(),
            path: given.bytes("path")?.map(Cow::into_owned),
            by_count: given.word("by")? == Some("count"),
            limit: usize::try_from(given.number("limit")?.unwrap_or(100)).unwrap_or(usize::MAX),
            is_nested: given.number("depth")? == Some(2),
            question: question(given)?,
            field: given.text("field")?.map(String::from),
            operator: operator(given)?,
            is_all: !given.has("q") && !given.has("query"),
        })
    };
    handle(state, request, USAGES, read, answer)
}

/// Sums up the documents of a query.
struct Usage<'a> {
    directories: Directories,
    searcher: Searcher<'a>,
    query: Query,
    by_count: bool,
}

impl Usage<'_> {
    /// What is directly below a directory, in order.
    fn below(&self, query: &Query, place: &[u8]) -> scanns::Result<Vec<Bucket>> {
        let mut buckets = self.directories.below(&self.searcher, query, place)?;
        buckets.sort_by(|a, b| {
            let by_count = b.count.cmp(&a.count);
            let by_size = directories::size_of(b).cmp(&directories::size_of(a));
            if self.by_count { by_count } else { by_size.then(by_count) }
        });
        Ok(buckets)
    }

    /// The uppermost directory that has more than one child, and its children.
    fn uppermost(&self) -> scanns::Result<(Vec<u8>, Vec<Bucket>)> {
        let (mut place, mut buckets) = (Vec::new(), self.below(&self.query, b"")?);
        for _ in 0..directories::DEPTH {
            let only = match &buckets[..] {
                [only] => directories::path_of(only).filter(|path| path.ends_with(b"/") && **path != place),
                _ => None,
            };
            let Some(only) = only.cloned() else { break };
            buckets = self.below(&self.query, &only)?;
            place = only;
        }
        Ok((place, buckets))
    }

    /// The children of a directory that is shown in another one.
    fn nest(&self, place: &[u8], child: &mut UsageChild) -> scanns::Result<()> {
        let buckets = self.below(&self.directories.within(&self.query, place), place)?;
        child.children = Some(buckets.iter().take(NESTED).map(|bucket| child_of(place, bucket)).collect());
        child.more = Some(buckets.len().saturating_sub(NESTED) as u64);
        Ok(())
    }
}

fn answer(context: &Context<'_>, request: &UsageRequest) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[&request.index])?;
    let snapshot = &*seen.snapshot;
    let directories = Directories::of(snapshot).ok_or_else(directories::no_sizes)?;
    let UsageRequest { question, field, operator, .. } = request;
    let asked = AskedQuery::of(snapshot, question, field.as_deref(), *operator, context)?;
    let budget = context.task.budget(context.state.limits.facet_time);
    let searcher = snapshot.searcher_in(asked.field).within(&budget).with_threads(&context.state.threads);
    let usage = Usage { directories, searcher, query: asked.query, by_count: request.by_count };
    let (place, buckets) = match &request.path {
        Some(path) => {
            let place = directories::with_slash(path);
            let buckets = usage.below(&usage.query, &place)?;
            (place, buckets)
        }
        None => usage.uppermost()?,
    };
    if buckets.is_empty() && request.path.is_some() && request.is_all && !budget.ran_out() {
        return Err(directories::nothing_there().into());
    }
    let total = UsageTotal {
        count: buckets.iter().map(|bucket| bucket.count).sum(),
        size: Json::from(Sum::Whole(buckets.iter().map(directories::size_of).sum())),
    };
    let shown = buckets.iter().take(request.limit);
    let mut children: Vec<UsageChild> = shown.clone().map(|bucket| child_of(&place, bucket)).collect();
    let inner = shown.zip(&mut children).filter(|(_, child)| request.is_nested && child.kind == "directory");
    for (bucket, child) in inner.take(NESTED) {
        let path = directories::path_of(bucket).map(|path| directories::with_slash(path));
        usage.nest(&path.unwrap_or_default(), child)?;
    }
    let path = directories::shown_place(&place);
    let answer = UsageAnswer {
        index: seen.name(),
        generation: snapshot.info().generation,
        path: show::shown(path).into_owned(),
        path_bytes: show::exact(path),
        total,
        children,
        more: buckets.len().saturating_sub(request.limit) as u64,
        partial: budget.ran_out(),
    };
    let tag = tag.filter(|_| !answer.partial);
    Answer::json(&answer, tag)
}

fn child_of(place: &[u8], bucket: &Bucket) -> UsageChild {
    let whole = directories::path_of(bucket).map(Vec::as_slice).unwrap_or_default();
    let directories::Named { name, path, kind } = directories::named(place, whole);
    let (newest, oldest) = match bucket.nested.get(1) {
        Some(Aggregated::Stats(stats)) => (stats.max.as_ref(), stats.min.as_ref()),
        _ => (None, None),
    };
    let date = |value: Option<&Value>| value.map_or(Json::Null, show::value);
    UsageChild {
        name: show::shown(name).into_owned(),
        path: show::shown(path).into_owned(),
        path_bytes: show::exact(path),
        kind,
        count: bucket.count,
        size: Json::from(Sum::Whole(directories::size_of(bucket))),
        newest: date(newest),
        oldest: date(oldest),
        children: None,
        more: None,
    }
}

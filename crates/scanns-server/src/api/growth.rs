//! Growth: the sums of each directory in two indexes, such as those of two days.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::Request;
use scanns::Snapshot;
use scanns::aggregate::{Bucket, Sum};
use scanns::search::{Budget, Searcher};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::context::{Answer, ApiState, Context, Refusal};
use super::directories::{self, Directories};
use super::handle::{Asked, Handled, handle};
use super::parameter::{DIRECTORY, GROWTH};
use super::show;
use crate::problem::Problem;

/// How the directories below another one have grown.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GrowthAnswer {
    /// The index of the state after.
    index: String,
    generation: u64,
    /// The index of the state before.
    with: String,
    with_generation: u64,
    /// The directory, without a slash at its end.
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    total: GrowthSums,
    /// What is in the directory in any of the two, the greatest change first.
    children: Vec<GrowthChild>,
    /// The number of children that are not shown.
    more: u64,
    /// True if the time was up: sums are of what was counted until then.
    partial: bool,
}

/// Sums in both indexes, of documents that the caller sees.
#[derive(Debug, Serialize, JsonSchema)]
struct GrowthSums {
    before: GrowthSum,
    after: GrowthSum,
}

/// The number of documents, and the sum of their sizes.
#[derive(Debug, Serialize, JsonSchema)]
struct GrowthSum {
    count: u64,
    size: Json,
}

/// A directory with everything below it, or the files of the directory itself.
#[derive(Debug, Serialize, JsonSchema)]
struct GrowthChild {
    /// The last part of the path.
    name: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    /// directory, or files for what is in the directory itself.
    kind: &'static str,
    #[serde(flatten)]
    sums: GrowthSums,
}

struct GrowthRequest {
    index: String,
    with: String,
    path: Option<Vec<u8>>,
    by_count: bool,
    limit: usize,
}

/// Compares what is below a directory in two indexes.
pub(super) fn growth(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let given = &asked.given;
        let with = given.text("with")?;
        let missing = || Problem::parameter("with", "the index to compare with is missing: write with=NAME");
        Ok(GrowthRequest {
            index: asked.head.index(),
            with: with.ok_or_else(missing)?.to_owned(),
            path: given.bytes("path")?.map(Cow::into_owned),
            by_count: given.word("by")? == Some("count"),
            limit: usize::try_from(given.number("limit")?.unwrap_or(100)).unwrap_or(usize::MAX),
        })
    };
    handle(state, request, &[GROWTH, DIRECTORY], read, answer)
}

/// A count and a sum of sizes, before and after.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    before: (u64, i128),
    after: (u64, i128),
}

impl Change {
    /// The change, which sorts directories: by size or by count, and then by the other.
    fn distance(&self, by_count: bool) -> (u128, u128) {
        let count = u128::from(self.after.0.abs_diff(self.before.0));
        let size = self.after.1.abs_diff(self.before.1);
        if by_count { (count, size) } else { (size, count) }
    }

    fn sums(&self) -> GrowthSums {
        let sum = |(count, size)| GrowthSum { count, size: Json::from(Sum::Whole(size)) };
        GrowthSums { before: sum(self.before), after: sum(self.after) }
    }
}

/// A side of the comparison.
struct Side<'a> {
    directories: Directories,
    searcher: Searcher<'a>,
}

impl<'a> Side<'a> {
    fn of(context: &'a Context<'_>, snapshot: &'a Snapshot, budget: &'a Budget) -> Result<Self, Refusal> {
        let directories = Directories::of(snapshot).ok_or_else(directories::no_sizes)?;
        let searcher = snapshot.searcher().within(budget).with_threads(&context.state.threads);
        Ok(Side { directories, searcher })
    }
}

/// What is directly below a directory on both sides.
fn below(before: &Side<'_>, after: &Side<'_>, place: &[u8]) -> scanns::Result<BTreeMap<Vec<u8>, Change>> {
    let of = |side: &Side<'_>| side.directories.below(&side.searcher, &scanns::Query::All, place);
    let mut all: BTreeMap<Vec<u8>, Change> = BTreeMap::new();
    let named = |bucket: &Bucket| directories::path_of(bucket).cloned().unwrap_or_default();
    for bucket in of(before)? {
        all.entry(named(&bucket)).or_default().before = (bucket.count, directories::size_of(&bucket));
    }
    for bucket in of(after)? {
        all.entry(named(&bucket)).or_default().after = (bucket.count, directories::size_of(&bucket));
    }
    Ok(all)
}

fn answer(context: &Context<'_>, request: &GrowthRequest) -> Result<Answer, Refusal> {
    let after = context.view(&[&request.index])?;
    let before = context.view(&[&request.with]).map_err(|problem| problem.of_parameter("with"))?;
    let tag = context.tag(&[after.state(), before.state()].concat())?;
    let budget = context.task.budget(context.state.limits.facet_time);
    let sides = [&before, &after].map(|side| Side::of(context, &side.snapshot, &budget));
    let [old, new] = sides;
    let (old, new) = (old?, new?);
    let mut place = request.path.as_deref().map(directories::with_slash).unwrap_or_default();
    let mut children = below(&old, &new, &place)?;
    if request.path.is_none() {
        for _ in 0..directories::DEPTH {
            let mut paths = children.keys();
            let only = paths.next().filter(|path| path.ends_with(b"/") && **path != place).cloned();
            let Some(only) = only.filter(|_| paths.next().is_none()) else { break };
            children = below(&old, &new, &only)?;
            place = only;
        }
    }
    if children.is_empty() && request.path.is_some() && !budget.ran_out() {
        return Err(directories::nothing_there().into());
    }
    let mut total = Change::default();
    for one in children.values() {
        total.before = (total.before.0 + one.before.0, total.before.1 + one.before.1);
        total.after = (total.after.0 + one.after.0, total.after.1 + one.after.1);
    }
    let mut children: Vec<(Vec<u8>, Change)> = children.into_iter().collect();
    children.sort_by_key(|(_, change)| std::cmp::Reverse(change.distance(request.by_count)));
    let more = children.len().saturating_sub(request.limit) as u64;
    let path = directories::shown_place(&place);
    let answer = GrowthAnswer {
        index: after.name(),
        generation: after.snapshot.info().generation,
        with: before.name(),
        with_generation: before.snapshot.info().generation,
        path: show::shown(path).into_owned(),
        path_bytes: show::exact(path),
        total: total.sums(),
        children: children.iter().take(request.limit).map(|(path, sums)| child(&place, path, sums)).collect(),
        more,
        partial: budget.ran_out(),
    };
    let tag = tag.filter(|_| !answer.partial);
    Answer::json(&answer, tag)
}

fn child(place: &[u8], whole: &[u8], change: &Change) -> GrowthChild {
    let directories::Named { name, path, kind } = directories::named(place, whole);
    GrowthChild {
        name: show::shown(name).into_owned(),
        path: show::shown(path).into_owned(),
        path_bytes: show::exact(path),
        kind,
        sums: change.sums(),
    }
}

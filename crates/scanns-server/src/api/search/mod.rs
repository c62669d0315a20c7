//! Searches: the query, its hits, their number, and what is computed over all matches.
//!
//! Read [`search`] first. `page.rs` finds hits, `hits.rs` shows them, `facets.rs` has what is computed over
//! all matches, `meant.rs` other spellings, and `answer.rs` the answer as JSON.

pub(super) mod answer;
mod facets;
pub(super) mod hits;
mod meant;
mod page;

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use scanns::query::{Operator, WeightedField};
use scanns::schema::Field;
use scanns::search::{Budget, PreparedQuery, Searcher, SortedHit};
use scanns::{Hit, Query, Snapshot};
use serde_json::Value as Json;

use super::context::{Context, Refusal, identity};
use super::request::{Order, Question, SearchRequest};
use super::token::{OrderDigest, PageToken};
use super::{fields, show};
use crate::indexes::Seen;
use crate::problem::Problem;
use crate::work::Task;
use answer::{DidYouMean, GroupAnswer, HitAnswer, Incomplete, SearchAnswer};
use facets::{AskedFacets, FacetsFound};
use hits::{HitPrinter, Placed};
use meant::Misspelt;
pub(super) use page::sort_keys;
use page::{Page, Search};

/// A query with its fields.
pub(super) struct AskedQuery {
    pub(super) query: Query,
    pub(super) fields: Vec<WeightedField>,
    /// The field of snippets and of similar documents.
    pub(super) field: Field,
    /// The document that others are to be like.
    pub(super) itself: Option<Hit>,
}

impl AskedQuery {
    /// The query of a question.
    ///
    /// # Errors
    /// 400 with the place of an error in the query, 404 for a document that does not exist.
    pub(super) fn new(
        snapshot: &Snapshot,
        request: &SearchRequest,
        context: &Context<'_>,
    ) -> Result<Self, Refusal> {
        let SearchRequest { question, field, operator, .. } = request;
        Self::of(snapshot, question, field.as_deref(), *operator, context)
    }

    /// The query of a question whose words search these fields.
    pub(super) fn of(
        snapshot: &Snapshot,
        question: &Question,
        fields: Option<&str>,
        operator: Operator,
        context: &Context<'_>,
    ) -> Result<Self, Refusal> {
        let fields = fields::weighted(snapshot, fields)?;
        let field = fields::main_field(snapshot, &fields);
        let (query, itself) = match question {
            Question::Text(text) => (snapshot.parse_in(&fields, text, operator)?, None),
            Question::Json(json) => (snapshot.parse_json_in(&fields, json, operator)?, None),
            Question::Like(key, options) => {
                let hit = find(snapshot, key)?;
                (snapshot.like_until(&hit, field, options, &|| context.is_cancelled())?, Some(hit))
            }
        };
        Ok(AskedQuery { query, fields, field, itself })
    }
}

/// The document with a key.
///
/// # Errors
/// 404 if there is none, or none that the caller may see.
pub(super) fn find(snapshot: &Snapshot, key: &[u8]) -> Result<Hit, Refusal> {
    match snapshot.hit(key) {
        Ok(Some(hit)) => Ok(hit),
        // The path of a file whose lines are documents is not the key of one.
        Ok(None) | Err(scanns::Error::InvalidValue { .. }) => {
            let detail = "there is no such document: give a key as an answer shows it";
            let (kind, title) = ("/problems/not-found", "There is no such document");
            Err(Problem::new(StatusCode::NOT_FOUND, kind, title, detail).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The searcher of a query, whose helpers take a part of a long query if the server has little else to do.
pub(super) fn searcher<'a>(
    context: &'a Context<'_>,
    snapshot: &'a Snapshot,
    field: Field,
    budget: &'a Budget,
) -> Searcher<'a> {
    let searcher = snapshot.searcher_in(field).within(budget);
    let is_idle = context.state.workers.load().running * 2 <= context.state.limits.work.threads;
    if is_idle { searcher.with_threads(&context.state.threads) } else { searcher }
}

/// Answers a search.
///
/// # Errors
/// 400 for an error in the request, 404 for a document that does not exist, 422 for what the index cannot do.
pub(super) fn search(
    context: &Context<'_>,
    seen: &Seen,
    request: &SearchRequest,
) -> Result<SearchAnswer, Refusal> {
    let begin = Instant::now();
    let snapshot = &*seen.snapshot;
    let mut asked = AskedQuery::new(snapshot, request, context)?;
    let limits = &context.state.limits;
    let aggregations = AskedFacets::new(snapshot, &request.aggregations, limits.buckets)?;
    let budget = context.task.budget(request.time);
    let searcher = searcher(context, snapshot, asked.field, &budget);
    if let Some(rm3) = &request.feedback {
        asked.query = snapshot.expand_within(&searcher, &asked.query, asked.field, request.model, rm3)?;
    }
    let prepared = searcher.prepare(&asked.query)?;
    let (searcher, prepared, itself) = (&searcher, &prepared, asked.itself);
    let search = Search { snapshot, searcher, prepared, request, itself };
    let run = Run { context, seen, request, asked: &asked, search, budget: &budget };
    let shown = run.hits()?;
    let count = run.count(&shown)?;
    let query_is_partial = budget.ran_out();
    let did_you_mean = if query_is_partial { None } else { run.did_you_mean(&shown)? };
    let facets = run.facets(&aggregations)?;
    let facets_are_partial = facets.is_partial;
    let FacetsFound { facets, stats, distinct } = facets.found;
    Ok(SearchAnswer {
        index: seen.name(),
        generation: snapshot.info().generation,
        query: run.query_json(),
        query_text: match &request.question {
            Question::Text(text) => Some(text.clone()),
            _ => None,
        },
        count,
        partial: query_is_partial || shown.is_cut || facets_are_partial,
        partial_reason: reason(request, [query_is_partial, shown.is_cut, facets_are_partial]),
        took: begin.elapsed().as_secs_f64(),
        incomplete: incomplete(seen),
        did_you_mean,
        hits: shown.hits,
        after: shown.after,
        compared: shown.compared,
        groups: shown.groups,
        groups_total: shown.groups_total,
        facets,
        stats,
        distinct,
    })
}

/// Why an answer is partial.
fn reason(request: &SearchRequest, [query, hits, facets]: [bool; 3]) -> Option<String> {
    let longer = |what: &str, time: Duration| format!("{what} took longer than {time:?}");
    let query = query.then(|| longer("the query", request.time));
    let hits = hits.then(|| longer("showing the hits", request.time));
    let facets = facets.then(|| longer("the counts by value", request.facet_time));
    let all: Vec<String> = query.into_iter().chain(hits).chain(facets).collect();
    (!all.is_empty()).then(|| all.join(", and "))
}

/// What is said of an index that was removed while it is served.
const OUT_OF_REACH: &str = "the index was removed, or cannot be opened any more: this is its last state that \
                            could be read";

/// What the indexes lack. Of what a user sees it cannot be told, except that nothing new will come.
pub(super) fn incomplete(seen: &Seen) -> Option<Incomplete> {
    let lacks = seen.commits.iter().filter(|_| !seen.trimmed).filter_map(|commit| commit.lacks());
    let lacks: Vec<_> = lacks.collect();
    let trouble = seen.commits.iter().find_map(|commit| commit.trouble.as_ref());
    let out_of_reach = trouble.map(|trouble| match seen.trimmed {
        true => OUT_OF_REACH.to_owned(),
        false => format!("{OUT_OF_REACH} ({trouble})"),
    });
    let sentences = lacks.iter().flat_map(|one| &one.sentences).cloned();
    let sentences: Vec<String> = out_of_reach.into_iter().chain(sentences).collect();
    (!lacks.is_empty() || trouble.is_some()).then(|| Incomplete {
        text: sentences.join("; "),
        unread: lacks.iter().map(|one| one.unread).sum(),
        complete: lacks.iter().all(|one| one.complete),
    })
}

/// What an answer shows of the hits.
#[derive(Default)]
struct ShownHits {
    hits: Vec<HitAnswer>,
    after: Option<String>,
    compared: Option<usize>,
    groups: Option<Vec<GroupAnswer>>,
    groups_total: Option<u64>,
    /// The number of all matches, if the hits tell it.
    count: Option<u64>,
    /// True if some were found that are not shown, because that took too long.
    is_cut: bool,
}

/// The time for showing hits.
struct ShowTime<'a> {
    end: Option<Instant>,
    task: &'a Task,
}

impl ShowTime<'_> {
    fn is_over(&self) -> bool {
        self.task.is_cancelled() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Answers to what is computed over all matches.
#[derive(Default)]
struct TimedFacets {
    found: FacetsFound,
    is_partial: bool,
}

/// A search that runs.
struct Run<'a> {
    context: &'a Context<'a>,
    seen: &'a Seen,
    request: &'a SearchRequest,
    asked: &'a AskedQuery,
    search: Search<'a>,
    budget: &'a Budget,
}

impl<'a> Run<'a> {
    /// What must be the same for all pages.
    fn digest(&self) -> Result<OrderDigest, Refusal> {
        let Run { context, seen, request, asked, .. } = self;
        let SearchRequest { model, order, question, .. } = request;
        let query = seen.snapshot.query_json_in(&[], &asked.query)?;
        let order = format!("{model:?} {:?} {order:?}", asked.field);
        let example = match question {
            Question::Like(key, _) => key.as_slice(),
            _ => &[],
        };
        let (caller, name) = (identity(&context.head.caller), seen.name());
        Ok(context.state.keys.digest(&[
            b"page",
            &caller,
            name.as_bytes(),
            query.as_bytes(),
            order.as_bytes(),
            example,
        ]))
    }

    fn hits(&self) -> Result<ShownHits, Refusal> {
        let Run { context, seen, request, asked, search, budget } = self;
        let (model, room) = (request.model, context.state.limits.answer);
        let what = (&asked.query, search.prepared, asked.field);
        let mut printer = HitPrinter::new(seen, &request.show, what, model, room)?;
        if let Some(group) = &request.group {
            return self.groups(&mut printer, group);
        }
        let (digest, commit) = (self.digest()?, seen.snapshot.fingerprint());
        let keys = &context.state.keys;
        let token = request.after.as_deref().map(|text| keys.accept(text, commit, digest)).transpose()?;
        let before = token.map_or(0, |token| token.rank);
        let Page { hits, near, goes_on, compared } = search.page(token.map(|token| token.hit))?;
        let scored = page::has_scores(&seen.snapshot, &request.order);
        let mut shown = ShownHits { compared, ..ShownHits::default() };
        // Showing hits has a time of its own, so that those that were found in time are shown.
        let time = self.time_to_show();
        for (at, (hit, rank)) in hits.iter().zip(before + 1..).enumerate() {
            if time.is_over() {
                shown.is_cut = true;
                break;
            }
            let token = PageToken { commit, digest, rank, hit: hit.hit };
            let after = request.collapse.is_none().then(|| keys.seal(&token));
            let near = near.get(at).copied().unwrap_or(0);
            shown.hits.push(printer.print(Placed { rank, hit, near, scored, after })?);
        }
        let goes_on = goes_on || shown.is_cut;
        shown.after = shown.hits.last().filter(|_| goes_on).and_then(|last| last.after.clone());
        let is_all = !goes_on && token.is_none() && request.limit > 0 && request.collapse.is_none();
        // An example is a match, but not a hit.
        if is_all && asked.itself.is_none() && !budget.ran_out() {
            shown.count = Some(shown.hits.len() as u64);
        }
        Ok(shown)
    }

    fn groups(
        &self,
        printer: &mut HitPrinter<'_>,
        group: &super::request::GroupRequest,
    ) -> Result<ShownHits, Refusal> {
        let found = self.search.groups(group)?;
        let scored = page::has_scores(&self.seen.snapshot, &self.request.order);
        let (mut groups, mut rank) = (Vec::with_capacity(found.groups.len()), 0);
        let (time, mut is_cut) = (self.time_to_show(), false);
        for group in &found.groups {
            let mut hits = Vec::with_capacity(group.hits.len());
            for found in &group.hits {
                if time.is_over() {
                    is_cut = true;
                    break;
                }
                rank += 1;
                // Hits of groups are sorted by their scores where no other order is asked for.
                let keys = if self.request.order == Order::Score { Vec::new() } else { found.keys.clone() };
                let hit = &SortedHit { hit: found.hit, keys };
                hits.push(printer.print(Placed { rank, hit, near: 0, scored, after: None })?);
            }
            let value = group.value.as_ref().map_or(Json::Null, show::value);
            let value_bytes = group.value.as_ref().and_then(show::exact_value);
            groups.push(GroupAnswer { value, value_bytes, count: group.count, hits });
        }
        let groups_total = Some(found.total);
        Ok(ShownHits { groups: Some(groups), groups_total, is_cut, ..ShownHits::default() })
    }

    /// The time for showing hits: as much as the query may take, once more.
    fn time_to_show(&self) -> ShowTime<'_> {
        ShowTime { end: Instant::now().checked_add(self.request.time), task: self.context.task }
    }

    /// The number of all matches; `None` if it is not asked for or if the time is up.
    fn count(&self, shown: &ShownHits) -> Result<Option<u64>, Refusal> {
        if !self.request.count || self.budget.ran_out() {
            return Ok(None);
        }
        if shown.count.is_some() {
            return Ok(shown.count);
        }
        let count = self.search.prepared.count()?;
        let itself = u64::from(self.asked.itself.is_some());
        Ok(Some(count.saturating_sub(itself)).filter(|_| !self.budget.ran_out()))
    }

    /// Another spelling, if nothing matches.
    fn did_you_mean(&self, shown: &ShownHits) -> Result<Option<DidYouMean>, Refusal> {
        let (Question::Text(text), Some(0)) = (&self.request.question, shown.count) else { return Ok(None) };
        let AskedQuery { query, fields, .. } = self.asked;
        Ok(meant::meant(&self.seen.snapshot, self.search.searcher, fields, text, query, Misspelt::Unknown)?)
    }

    /// What is computed over all matches, in a time of its own.
    fn facets(&self, asked: &AskedFacets) -> Result<TimedFacets, Refusal> {
        if asked.aggregations.is_empty() {
            return Ok(TimedFacets::default());
        }
        let budget = self.context.task.budget(self.request.facet_time);
        let searcher = searcher(self.context, &self.seen.snapshot, self.asked.field, &budget);
        let prepared: PreparedQuery<'_, '_, '_> = searcher.prepare(&self.asked.query)?;
        let found = prepared.aggregate(&asked.aggregations)?;
        let is_partial = budget.ran_out();
        Ok(TimedFacets { found: asked.answers(&self.request.aggregations, found, is_partial), is_partial })
    }

    /// The query as JSON.
    fn query_json(&self) -> Json {
        let json = self.seen.snapshot.query_json_in(&self.asked.fields, &self.asked.query);
        json.ok().and_then(|json| serde_json::from_str(&json).ok()).unwrap_or(Json::Null)
    }
}

/// Another spelling of a text, for suggestions. Rare words may be misspelt, too.
pub(super) fn other_spelling(
    context: &Context<'_>,
    snapshot: &Snapshot,
    text: &str,
) -> Result<Option<DidYouMean>, Refusal> {
    let fields = fields::weighted(snapshot, None)?;
    let Ok(query) = snapshot.parse_in(&fields, text, scanns::query::Operator::Or) else { return Ok(None) };
    let budget = context.task.budget(context.state.limits.query_time);
    let searcher = snapshot.searcher_in(fields::main_field(snapshot, &fields)).within(&budget);
    Ok(meant::meant(snapshot, &searcher, &fields, text, &query, Misspelt::Rare)?)
}

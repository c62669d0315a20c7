//! Finds the hits of a page in an order, alone, in groups, or without near-duplicates.

use axum::http::StatusCode;
use scanns::aggregate::{GroupBy, Groups};
use scanns::schema::Field;
use scanns::search::{
    Collapsed, KeyOrder, KeyPage, Model, NearHits, PreparedQuery, Searcher, SortBy, SortKey, SortedHit,
};
use scanns::{Hit, Snapshot};

use crate::api::context::Refusal;
use crate::api::fields;
use crate::api::request::{GroupRequest, Order, OrderColumn, SearchRequest};
use crate::problem::Problem;

/// A search with everything that affects its hits.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) searcher: &'a Searcher<'a>,
    pub(crate) prepared: &'a PreparedQuery<'a, 'a, 'a>,
    pub(crate) request: &'a SearchRequest,
    /// The document that others are to be like; it is not a hit.
    pub(crate) itself: Option<Hit>,
}

/// Hits in order.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) hits: Vec<SortedHit>,
    /// For each hit the number of later ones that nearly repeat it; empty without `collapse`.
    pub(crate) near: Vec<u64>,
    /// True if there may be more hits.
    pub(crate) goes_on: bool,
    pub(crate) compared: Option<usize>,
}

/// The sort keys of columns.
pub(crate) fn sort_keys(snapshot: &Snapshot, columns: &[OrderColumn]) -> Result<Vec<SortKey>, Problem> {
    let key = |OrderColumn { name, descending, missing }: &OrderColumn| {
        // A field with the name `score` takes precedence.
        let by = match snapshot.schema().field(name) {
            None if name == "score" => SortBy::Score,
            _ => SortBy::Field(fields::column(snapshot, name, "sort")?.0),
        };
        Ok(SortKey { by, descending: *descending, missing: *missing })
    };
    columns.iter().map(key).collect()
}

/// True if hits in an order have scores.
pub(crate) fn has_scores(snapshot: &Snapshot, order: &Order) -> bool {
    match order {
        Order::Score => true,
        Order::Key { .. } => false,
        Order::Columns(columns) => {
            let is_score =
                |column: &OrderColumn| column.name == "score" && snapshot.schema().field("score").is_none();
            columns.iter().any(is_score)
        }
    }
}

impl Search<'_> {
    fn model(&self) -> Model {
        self.request.model
    }

    /// The page after a hit, or the first one.
    ///
    /// # Errors
    /// The errors of the engine, and 400 for an order by something that is not a column.
    pub(crate) fn page(&self, after: Option<Hit>) -> Result<Page, Refusal> {
        if let Some(distance) = self.request.collapse {
            return self.collapsed(distance);
        }
        let (prepared, model, limit) = (self.prepared, self.model(), self.request.limit);
        if limit == 0 {
            return Ok(Page::default());
        }
        let wanted = limit.saturating_add(self.itself.iter().count());
        let unsorted = |hit| SortedHit { hit, keys: Vec::new() };
        let mut hits: Vec<SortedHit> = match (&self.request.order, after) {
            (Order::Score, Some(after)) => {
                prepared.top_k_after(model, wanted, after)?.into_iter().map(unsorted).collect()
            }
            (Order::Score, None) => prepared.top_k(model, wanted)?.into_iter().map(unsorted).collect(),
            (Order::Columns(columns), after) => {
                let keys = sort_keys(self.snapshot, columns)?;
                let after = after.map(|hit| self.searcher.sorted_hit(&keys, hit)).transpose()?;
                prepared.top_k_sorted(model, &keys, wanted, after.as_ref())?
            }
            (Order::Key { descending }, after) => {
                let order = if *descending { KeyOrder::Descending } else { KeyOrder::Ascending };
                let page = KeyPage { order, limit: wanted, after: after.as_ref() };
                let found = prepared.top_by_key(model, page, |_| {})?;
                found.into_iter().map(|found| unsorted(found.hit)).collect()
            }
        };
        hits.retain(|found| self.itself.is_none_or(|itself| !is_same(&itself, &found.hit)));
        hits.truncate(limit);
        let goes_on = hits.len() == limit;
        Ok(Page { hits, goes_on, ..Page::default() })
    }

    /// The keys of an order without an order by key; `what` needs them.
    fn keys(&self, what: &'static str) -> Result<Vec<SortKey>, Refusal> {
        match &self.request.order {
            Order::Score => Ok(Vec::new()),
            Order::Columns(columns) => Ok(sort_keys(self.snapshot, columns)?),
            Order::Key { .. } => {
                let detail = format!("with {what}, hits can be sorted by score or by columns");
                Err(Problem::parameter("sort", detail).into())
            }
        }
    }

    fn collapsed(&self, distance: u32) -> Result<Page, Refusal> {
        let Some(field) = self.snapshot.sketch_field() else {
            let detail = "the index has no sketches of texts: it must be built with --near-duplicates";
            let (kind, title) = ("/problems/unsupported", "The index cannot answer this");
            let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail);
            return Err(problem.of_parameter("collapse").into());
        };
        let (keys, near) = (self.keys("collapse")?, NearHits { field, distance, without: self.itself });
        let Collapsed { hits, seen, is_all } =
            self.prepared.top_collapsed(self.model(), &keys, self.request.limit, near)?;
        let near = hits.iter().map(|kept| kept.near).collect();
        let hits = hits.into_iter().map(|kept| kept.hit).collect();
        Ok(Page { hits, near, goes_on: false, compared: (!is_all).then_some(seen) })
    }

    /// The groups of a column.
    ///
    /// # Errors
    /// The errors of the engine, and 400 for what is not a column.
    pub(crate) fn groups(&self, group: &GroupRequest) -> Result<Groups, Refusal> {
        let keys = self.keys("group")?;
        let field: Field = fields::column(self.snapshot, &group.field, "group")?.0;
        let (groups, hits) = (self.request.limit, group.hits);
        let by = GroupBy { field, keys, groups, hits, missing: group.missing };
        Ok(self.prepared.top_groups(self.model(), &by)?)
    }
}

fn is_same(one: &Hit, other: &Hit) -> bool {
    (one.leaf, one.doc) == (other.leaf, other.doc)
}

//! Terms of a field with their frequencies: words of texts, and values of columns.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::Request;
use scanns::aggregate::{Aggregated, Aggregation, BucketKey, Facet, FacetTerms, TermsOrder};
use scanns::schema::{Field, FieldKind, Value};
use scanns::{Query, Snapshot};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::context::{Answer, ApiState, Context, Refusal};
use super::handle::{Asked, Handled, handle};
use super::parameter::TERMS;
use super::{fields, show};
use crate::problem::Problem;

/// The number of terms between two looks at the clock.
const STEP: u64 = 256;

/// Terms of a field.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TermsAnswer {
    index: String,
    generation: u64,
    field: String,
    terms: Vec<TermAnswer>,
    /// True if the time was up: there may be more frequent terms.
    partial: bool,
}

/// A term.
#[derive(Debug, Serialize, JsonSchema)]
struct TermAnswer {
    /// A text; a number or a boolean of a column.
    term: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    term_bytes: Option<String>,
    /// The number of documents that have it.
    documents: u64,
}

struct TermsRequest {
    index: String,
    field: Option<String>,
    prefix: String,
    limit: usize,
    by_term: bool,
}

/// Lists terms.
pub(super) fn terms(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let given = &asked.given;
        Ok(TermsRequest {
            index: asked.head.index(),
            field: given.text("field")?.map(String::from),
            prefix: given.text("prefix")?.unwrap_or_default().to_owned(),
            limit: usize::try_from(given.number("limit")?.unwrap_or(20)).unwrap_or(usize::MAX),
            by_term: given.word("by")? == Some("term"),
        })
    };
    handle(state, request, &[TERMS], read, answer)
}

fn answer(context: &Context<'_>, request: &TermsRequest) -> Result<Answer, Refusal> {
    let (seen, tag) = context.seen(&[&request.index])?;
    let snapshot = &*seen.snapshot;
    let field = match &request.field {
        Some(name) => field_of(snapshot, name)?,
        None => snapshot.schema().default_field().unwrap_or_default(),
    };
    let listing = Listing {
        prefix: &request.prefix,
        limit: request.limit,
        by_term: request.by_term,
        time: context.state.limits.query_time,
    };
    let found = listing.list(context, snapshot, field)?;
    let one = |(value, documents): &(Value, u64)| TermAnswer {
        term: show::value(value),
        term_bytes: show::exact_value(value),
        documents: *documents,
    };
    let name = snapshot.schema().entry(field).map(|entry| entry.name.clone()).unwrap_or_default();
    let answer = TermsAnswer {
        index: seen.name(),
        generation: snapshot.info().generation,
        field: name,
        terms: found.terms.iter().map(one).collect(),
        partial: found.partial,
    };
    Answer::json(&answer, tag.filter(|_| !found.partial))
}

/// A field that is searched or a column.
pub(super) fn field_of(snapshot: &Snapshot, name: &str) -> Result<Field, Problem> {
    let usable = |(_, entry): &(Field, &scanns::schema::FieldEntry)| entry.searched || entry.column;
    let found = fields::known(snapshot).filter(usable).find(|(_, entry)| entry.name == name);
    found.map(|(field, _)| field).ok_or_else(|| {
        let names: Vec<&str> =
            fields::known(snapshot).filter(usable).map(|(_, entry)| &*entry.name).collect();
        let cut: String = name.chars().take(60).collect();
        Problem::parameter("field", format!("there is no field '{cut}': there are {}", names.join(", ")))
    })
}

/// Which terms of a field are listed.
pub(super) struct Listing<'a> {
    pub(super) prefix: &'a str,
    pub(super) limit: usize,
    /// True for the order of terms, false for the most frequent ones.
    pub(super) by_term: bool,
    pub(super) time: Duration,
}

/// Terms with their numbers of documents.
pub(super) struct ListedTerms {
    pub(super) terms: Vec<(Value, u64)>,
    /// True if the time was up.
    pub(super) partial: bool,
}

impl Listing<'_> {
    /// The terms of a field: those of its words or, if it is only a column, its values.
    ///
    /// # Errors
    /// Terms cannot be read.
    pub(super) fn list(
        &self,
        context: &Context<'_>,
        snapshot: &Snapshot,
        field: Field,
    ) -> Result<ListedTerms, Refusal> {
        let entry = snapshot.schema().entry(field);
        // The values of a column are whole, and those of a view are counted faster.
        match entry.filter(|entry| entry.column && !matches!(entry.kind, FieldKind::Text { .. })) {
            Some(_) => self.values(context, snapshot, field),
            None => self.words(context, snapshot, field),
        }
    }

    fn values(
        &self,
        context: &Context<'_>,
        snapshot: &Snapshot,
        field: Field,
    ) -> Result<ListedTerms, Refusal> {
        let budget = context.task.budget(self.time);
        let searcher = snapshot.searcher_in(field).within(&budget);
        let mut terms = FacetTerms::new(field);
        terms.limit = self.limit;
        terms.order = if self.by_term { TermsOrder::Term } else { TermsOrder::Count };
        terms.prefix = self.prefix.as_bytes().to_vec();
        let asked = [Aggregation::Facet(Facet::Terms(terms), Vec::new())];
        let found = searcher.aggregate(&Query::All, &asked)?.into_iter().next();
        let buckets = match found {
            Some(Aggregated::Buckets(found)) => found.buckets,
            _ => Vec::new(),
        };
        let terms = buckets.into_iter().filter_map(|bucket| match bucket.key {
            BucketKey::Value(value) => Some((value, bucket.count)),
            BucketKey::Range(_) => None,
        });
        Ok(ListedTerms { terms: terms.collect(), partial: budget.ran_out() })
    }

    fn words(
        &self,
        context: &Context<'_>,
        snapshot: &Snapshot,
        field: Field,
    ) -> Result<ListedTerms, Refusal> {
        let end = Instant::now() + self.time;
        let searcher = snapshot.searcher_in(field);
        let mut terms = searcher.terms(self.prefix.as_bytes())?;
        // The least frequent term is at the top, and of equally frequent ones the last.
        let mut kept: BinaryHeap<(Reverse<u64>, Vec<u8>)> = BinaryHeap::new();
        let (mut seen, mut partial) = (0u64, false);
        while let Some(one) = terms.advance()? {
            seen += 1;
            if seen.is_multiple_of(STEP) && (context.task.is_cancelled() || Instant::now() >= end) {
                partial = true;
                break;
            }
            if kept.len() < self.limit {
                kept.push((Reverse(one.doc_freq), one.term.clone()));
            } else if self.by_term {
                break;
            } else if kept.peek().is_some_and(|(Reverse(least), _)| one.doc_freq > *least) {
                kept.pop();
                kept.push((Reverse(one.doc_freq), one.term.clone()));
            }
        }
        let mut kept = kept.into_sorted_vec();
        if self.by_term {
            kept.sort_by(|a, b| a.1.cmp(&b.1));
        }
        let terms = kept.into_iter().map(|(Reverse(count), term)| (Value::Text(term), count));
        Ok(ListedTerms { terms: terms.collect(), partial })
    }
}

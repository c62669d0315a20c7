//! The requests that search: one index, several as one, and documents like another.

use std::sync::Arc;

use axum::extract::Request;

use super::context::{Answer, ApiState, Context, Refusal};
use super::given::Known;
use super::handle::{Asked, Handled, handle};
use super::parameter::{
    EXAMPLE, FACETS, FIELDS, GROUPS, INDEXES, MODEL, ORDER, PAGE, QUERY, RM3, SHOW, WORDS,
};
use super::request::SearchRequest;
use super::search::search;
use crate::problem::Problem;

/// The parameters of a search.
pub(super) const SEARCH: Known = &[QUERY, WORDS, PAGE, ORDER, FIELDS, FACETS, SHOW, GROUPS, MODEL, RM3];

/// The parameters of a search of several indexes.
pub(super) const SEARCH_ALL: Known =
    &[INDEXES, QUERY, WORDS, PAGE, ORDER, FIELDS, FACETS, SHOW, GROUPS, MODEL, RM3];

/// The parameters of a search for documents like another.
pub(super) const LIKE: Known = &[EXAMPLE, WORDS, PAGE, ORDER, FIELDS, FACETS, SHOW, GROUPS, MODEL];

/// A search with the names of its indexes; all of them without any.
struct Named {
    names: Vec<String>,
    request: SearchRequest,
}

/// Searches an index.
pub(super) fn one(state: Arc<ApiState>, request: Request) -> Handled {
    handle(state, request, SEARCH, of_path, answer)
}

/// Searches for documents like another.
pub(super) fn like(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        if !asked.given.has("key") {
            return Err(Problem::parameter("key", "the key of a document is missing"));
        }
        of_path(asked)
    };
    handle(state, request, LIKE, read, answer)
}

/// Searches several indexes as one.
pub(super) fn several(state: Arc<ApiState>, request: Request) -> Handled {
    let read = |asked: &Asked<'_>| {
        let request = SearchRequest::of(&asked.given, asked.limits)?;
        Ok(Named { names: asked.given.texts("index")?, request })
    };
    let job = |context: &Context<'_>, named: &Named| {
        if !named.names.is_empty() {
            return answer(context, named);
        }
        let all = context.indexes();
        let names = all.iter().map(|one| one.name.to_string()).collect();
        answer(context, &Named { names, request: named.request.clone() })
    };
    handle(state, request, SEARCH_ALL, read, job)
}

fn of_path(asked: &Asked<'_>) -> Result<Named, Problem> {
    let request = SearchRequest::of(&asked.given, asked.limits)?;
    Ok(Named { names: vec![asked.head.index()], request })
}

fn answer(context: &Context<'_>, named: &Named) -> Result<Answer, Refusal> {
    let names: Vec<&str> = named.names.iter().map(String::as_str).collect();
    if names.is_empty() {
        return Err(Problem::parameter("index", "there is no index that you may search").into());
    }
    let (seen, tag) = context.seen(&names)?;
    let answer = search(context, &seen, &named.request)?;
    let tag = tag.filter(|_| !answer.partial);
    Answer::json(&answer, tag)
}

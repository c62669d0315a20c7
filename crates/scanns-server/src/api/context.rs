//! Runs a request: on a thread of the pool, with what its caller sees, and with an ETag for what can be kept.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, request};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::limits::Limits;
use super::token::TokenKeys;
use crate::caller::{Caller, Recognition};
use crate::indexes::{IndexSummary, Indexes, Seen};
use crate::problem::Problem;
use crate::work::{Task, WorkError, Workers};

/// What all requests share.
#[derive(Debug)]
pub(super) struct ApiState {
    pub(super) indexes: Arc<Indexes>,
    pub(super) limits: Limits,
    pub(super) workers: Workers,
    pub(super) exporters: Workers,
    pub(super) threads: scanns::search::SearchThreads,
    pub(super) keys: TokenKeys,
}

/// The head of a request.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) caller: Caller,
    /// None if the program that serves the router does not say.
    pub(super) recognition: Option<Recognition>,
    pub(super) path: String,
    pub(super) query: Option<String>,
    /// True for a request whose answer can be cached.
    is_get: bool,
    /// The tags that the client has.
    known: Vec<String>,
}

impl Head {
    /// The head of a request.
    ///
    /// # Errors
    /// 401 for a request of nobody.
    pub(super) fn of(parts: &request::Parts) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(|| {
            let detail =
                "the server does not know who asks: open the link that it printed, or send its token";
            let (kind, title) = ("/problems/unauthorized", "Who asks is not known");
            Problem::new(StatusCode::UNAUTHORIZED, kind, title, detail)
        })?;
        Ok(Head {
            caller,
            recognition: parts.extensions.get::<Recognition>().cloned(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            is_get: parts.method == Method::GET || parts.method == Method::HEAD,
            known: known_tags(&parts.headers),
        })
    }
}

fn known_tags(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|tag| tag.trim().to_owned()).collect()
}

/// Why there is no answer with a body.
#[derive(Debug)]
pub(super) enum Refusal {
    Problem(Box<Problem>),
    /// The client has the answer, of this tag.
    NotModified(String),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Refusal::Problem(Box::new(problem))
    }
}

impl From<scanns::Error> for Refusal {
    fn from(error: scanns::Error) -> Self {
        Problem::of_engine(&error).into()
    }
}

/// A request on its thread.
pub(super) struct Context<'a> {
    pub(super) state: &'a ApiState,
    pub(super) head: &'a Head,
    pub(super) task: &'a Task,
}

/// An answer, ready to be sent.
#[derive(Debug)]
pub(super) struct Answer {
    body: Vec<u8>,
    content_type: &'static str,
    /// The tag under which the client may keep it; `None` for what is not to be kept.
    tag: Option<String>,
    headers: HeaderMap,
}

impl Answer {
    /// JSON that may be kept under a tag.
    pub(super) fn json(value: &impl Serialize, tag: Option<String>) -> Result<Self, Refusal> {
        let body = serde_json::to_vec(value).map_err(|error| Problem::internal(error.to_string()))?;
        Ok(Answer { body, content_type: "application/json", tag, headers: HeaderMap::new() })
    }

    /// Other content.
    pub(super) fn of(body: Vec<u8>, content_type: &'static str, tag: Option<String>) -> Self {
        Answer { body, content_type, tag, headers: HeaderMap::new() }
    }

    /// The same with another header.
    pub(super) fn with(mut self, name: axum::http::HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

impl Context<'_> {
    /// True if the client has gone.
    pub(super) fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// What the caller sees of indexes, for answers without a tag.
    ///
    /// # Errors
    /// 404, 403 and 500 as [`Indexes::view`].
    pub(super) fn view(&self, names: &[&str]) -> Result<Seen, Problem> {
        self.state.indexes.seen(names, &self.head.caller, &|| self.is_cancelled())
    }

    /// The indexes that the caller may use.
    pub(super) fn indexes(&self) -> Vec<IndexSummary> {
        self.state.indexes.summaries(&self.head.caller, &|| self.is_cancelled())
    }

    /// What the caller sees of indexes, and the tag of an answer about it.
    ///
    /// # Errors
    /// 404, 403 and 500 as [`Indexes::view`]; [`Refusal::NotModified`] if the client has the answer.
    pub(super) fn seen(&self, names: &[&str]) -> Result<(Seen, Option<String>), Refusal> {
        let seen = self.view(names)?;
        let tag = self.tag(&seen.state())?;
        Ok((seen, tag))
    }

    /// The tag of an answer about commits or views with these numbers.
    pub(super) fn tag(&self, commits: &[u64]) -> Result<Option<String>, Refusal> {
        if !self.head.is_get {
            return Ok(None);
        }
        let commits: Vec<u8> = commits.iter().flat_map(|commit| commit.to_le_bytes()).collect();
        let caller = identity(&self.head.caller);
        let query = self.head.query.as_deref().unwrap_or_default();
        let parts = [b"tag", &commits[..], &caller, self.head.path.as_bytes(), query.as_bytes()];
        let digest = u128::from_le_bytes(self.state.keys.digest(&parts));
        // Weak: the answer to the same question has another time in it.
        let tag = format!("W/\"{digest:032x}\"");
        // Tags are compared without their weakness.
        let plain = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
        if self.head.known.iter().any(|known| plain(known) == plain(&tag)) {
            return Err(Refusal::NotModified(tag));
        }
        Ok(Some(tag))
    }
}

/// Bytes that differ between callers.
pub(super) fn identity(caller: &Caller) -> Vec<u8> {
    match caller {
        Caller::Everything { name } => format!("everything {name}").into_bytes(),
        Caller::User { name, user } => {
            format!("user {} {} {:?} {name}", user.uid(), user.gid(), user.groups()).into_bytes()
        }
    }
}

/// The user whose share of what the server can do is limited; `None` for who may see everything.
pub(super) fn user_of(caller: &Caller) -> Option<Arc<str>> {
    match caller {
        Caller::Everything { .. } => None,
        Caller::User { name, .. } => Some(Arc::clone(name)),
    }
}

/// Runs a job and returns its answer as a response. If the client hangs up, the job is cancelled.
pub(super) async fn respond(
    state: Arc<ApiState>,
    head: Head,
    job: impl FnOnce(&Context<'_>) -> Result<Answer, Refusal> + Send + 'static,
) -> Response {
    let own = Arc::clone(&state);
    let user = user_of(&head.caller);
    let done = state.workers.run(user, move |task| job(&Context { state: &own, head: &head, task })).await;
    match done {
        Ok(Ok(answer)) => answer.into_response(),
        Ok(Err(Refusal::Problem(problem))) => problem.into_response(),
        Ok(Err(Refusal::NotModified(tag))) => {
            let mut response = StatusCode::NOT_MODIFIED.into_response();
            put_cache_headers(response.headers_mut(), Some(&tag));
            response
        }
        Err(error) => refused(error).into_response(),
    }
}

/// The problem of a job that was refused or that failed.
pub(super) fn refused(error: WorkError) -> Problem {
    match error {
        WorkError::Busy(wait) => Problem::busy(wait.as_secs().max(1)),
        WorkError::Panicked => Problem::internal("a request panicked; this is a bug in scanns"),
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(Bytes::from(self.body)));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        put_cache_headers(headers, self.tag.as_deref());
        headers.extend(self.headers);
        response
    }
}

/// Says who may keep an answer: the client alone, who must ask whether it is still the same.
fn put_cache_headers(headers: &mut HeaderMap, tag: Option<&str>) {
    let tag = tag.and_then(|tag| HeaderValue::from_str(tag).ok());
    let how = if tag.is_some() { "private, no-cache" } else { "private, no-store" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(how));
    headers.insert(VARY, HeaderValue::from_static("Authorization, Cookie"));
    if let Some(tag) = tag {
        headers.insert(ETAG, tag);
    }
}

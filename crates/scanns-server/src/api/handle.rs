//! Reads a request: its parameters, which are in its address or in a JSON object, and names in its path.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::LengthLimitError;

use super::context::{Answer, ApiState, Context, Head, Refusal, respond};
use super::given::{Given, Known, decoded};
use super::limits::Limits;
use crate::problem::Problem;

/// The response to come.
pub(super) type Handled = Pin<Box<dyn Future<Output = Response> + Send>>;

/// What comes before the names in paths.
const PREFIX: &str = "/api/v1/";

/// What the reader of a request gets.
pub(super) struct Asked<'a> {
    pub(super) given: Given,
    pub(super) head: &'a Head,
    pub(super) limits: &'a Limits,
}

/// Handles a request with these parameters: `read` makes something of them, and `job` answers it on a thread
/// of the pool.
pub(super) fn handle<R: Send + 'static>(
    state: Arc<ApiState>,
    request: Request,
    known: Known,
    read: impl FnOnce(&Asked<'_>) -> Result<R, Problem> + Send + 'static,
    job: impl FnOnce(&Context<'_>, &R) -> Result<Answer, Refusal> + Send + 'static,
) -> Handled {
    Box::pin(async move {
        let (head, given) = match given(request, known, &state.limits).await {
            Ok(found) => found,
            Err(problem) => return problem.into_response(),
        };
        let read = read(&Asked { given, head: &head, limits: &state.limits });
        match read {
            Ok(read) => respond(state, head, move |context| job(context, &read)).await,
            Err(problem) => problem.into_response(),
        }
    })
}

/// The head and the parameters of a request.
///
/// # Errors
/// 401 without a caller, 413 and 415 for a body that is too large or not JSON, 400 for wrong parameters.
pub(super) async fn given(request: Request, known: Known, limits: &Limits) -> Result<(Head, Given), Problem> {
    let (parts, body) = request.into_parts();
    let head = Head::of(&parts)?;
    let mut given = Given::of_address(head.query.as_deref(), known)?;
    if parts.method == Method::POST {
        must_be(&parts.headers, "application/json")?;
        let body = read_body(&parts.headers, body, limits.body).await?;
        given.merge(Given::of_json(&body, known)?)?;
    }
    Ok((head, given))
}

/// Refuses a body of another type.
pub(super) fn must_be(headers: &HeaderMap, expected: &str) -> Result<(), Problem> {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let detail = format!("send the header Content-Type: {expected}");
    let (kind, title) = ("/problems/media-type", "The body has another media type");
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, kind, title, detail))
}

/// The bytes of a body, of at most this number.
pub(super) async fn read_body(
    headers: &HeaderMap,
    body: axum::body::Body,
    most: usize,
) -> Result<axum::body::Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body has more than {most} bytes: send less at a time");
        let (kind, title) = ("/problems/body", "The body is too large");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, kind, title, detail)
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    axum::body::to_bytes(body, most).await.map_err(|error| {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(one) = cause {
            if one.is::<LengthLimitError>() {
                return too_large();
            }
            cause = one.source();
        }
        let (kind, title) = ("/problems/body", "The body cannot be read");
        Problem::new(StatusCode::BAD_REQUEST, kind, title, "the body ended before its end: send it again")
    })
}

impl Head {
    /// The name of the index in the path.
    pub(super) fn index(&self) -> String {
        let name = self.names().split('/').next().unwrap_or_default();
        let name = decoded(name, false).and_then(|name| String::from_utf8(name).ok());
        // No index has an empty name.
        name.unwrap_or_default()
    }

    /// What follows the name of the index and this word, as bytes.
    ///
    /// # Errors
    /// 400 for what is not percent-encoded.
    pub(super) fn rest(&self, word: &str) -> Result<Vec<u8>, Problem> {
        let rest = self.names().split_once('/').and_then(|(_, rest)| rest.strip_prefix(word));
        let rest = rest.and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
        decoded(rest, false)
            .ok_or_else(|| Problem::parameter("key", "the key is not percent-encoded: write % as %25"))
    }

    fn names(&self) -> &str {
        self.path.split_once(PREFIX).map_or("", |(_, names)| names)
    }
}

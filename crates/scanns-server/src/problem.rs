//! How errors are told: problem details as in RFC 9457.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use scanns::Error;
use serde::Serialize;

/// The number of characters of a detail, after which it is cut.
const LONGEST_DETAIL: usize = 4000;

/// The place of an error in a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub length: usize,
}

/// An error as a client reads it, of media type `application/problem+json`.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// The kind of error, as a reference that does not change: `/problems/query`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The kind in words.
    pub title: &'static str,
    #[serde(serialize_with = "as_number")]
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong, and what to do.
    pub detail: String,
    /// The parameter or field of the request that has the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// Its place in the text of the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Place>,
    /// Seconds after which another try may succeed.
    #[serde(skip)]
    pub retry_after: Option<u64>,
    /// What the log says and the client is not told.
    #[serde(skip)]
    pub cause: Option<String>,
}

fn as_number<S: serde::Serializer>(status: &StatusCode, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u16(status.as_u16())
}

impl Problem {
    /// A problem without a place.
    pub fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        let mut detail = detail.into();
        // It may repeat what the client has sent.
        if let Some((end, _)) = detail.char_indices().nth(LONGEST_DETAIL) {
            detail.truncate(end);
            detail.push('…');
        }
        Problem {
            kind,
            title,
            status,
            detail,
            parameter: None,
            position: None,
            retry_after: None,
            cause: None,
        }
    }

    /// The same, of a parameter or field of the request.
    #[must_use]
    pub fn of_parameter(self, name: impl Into<String>) -> Self {
        Problem { parameter: Some(name.into()), ..self }
    }

    /// The same, at a place in the text of the parameter.
    #[must_use]
    pub fn at(self, position: Place) -> Self {
        Problem { position: Some(position), ..self }
    }

    /// A parameter whose name or value is wrong: status 400.
    pub fn parameter(name: impl Into<String>, detail: impl Into<String>) -> Self {
        let (kind, title) = ("/problems/parameter", "A parameter has an error");
        Problem::new(StatusCode::BAD_REQUEST, kind, title, detail).of_parameter(name)
    }

    /// A failure that is not the fault of the client: status 500. The cause is for the log alone.
    pub fn internal(cause: impl Into<String>) -> Self {
        let detail = "the server failed: its log says why; try again, or tell who runs it";
        let (kind, title) = ("/problems/internal", "The server failed");
        let problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, kind, title, detail);
        Problem { cause: Some(cause.into()), ..problem }
    }

    /// All threads are busy: status 503, to be tried again after some seconds.
    pub fn busy(seconds: u64) -> Self {
        let detail = format!("the server answers as many requests as it can: try again in {seconds} s");
        let (kind, title) = ("/problems/busy", "The server is busy");
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, kind, title, detail);
        Problem { retry_after: Some(seconds), ..problem }
    }

    /// The problem of an error of the engine. What only the operator may know, such as a damaged file, is not
    /// told to the client.
    pub fn of_engine(error: &Error) -> Self {
        let query = |detail: &str| {
            let (kind, title) = ("/problems/query", "The query has an error");
            Problem::new(StatusCode::BAD_REQUEST, kind, title, detail)
        };
        match error {
            Error::Query { query: text, message, at } => {
                let place = text.char_indices().nth(at.saturating_sub(1));
                let offset = place.map_or(text.len(), |(offset, _)| offset);
                let length = place.map_or(0, |(_, letter)| letter.len_utf8());
                query(message).of_parameter("q").at(Place { offset, length })
            }
            Error::QueryJson { path, message } if path.is_empty() => query(message).of_parameter("query"),
            Error::QueryJson { path, message } => query(&format!("{path}: {message}")).of_parameter("query"),
            Error::UnknownName { .. }
            | Error::UnknownField { .. }
            | Error::InvalidField { .. }
            | Error::InvalidValue { .. }
            | Error::InvalidAnalyzer { .. }
            | Error::Conflict { .. }
            | Error::Expression { .. }
            | Error::TooMany { .. } => query(&error.to_string()),
            Error::Unsupported { .. } | Error::NotIndexed { .. } | Error::SourceChanged { .. } => {
                let advice = match error {
                    Error::NotIndexed { what } => format!(" (scanns index --{what} builds such an index)"),
                    _ => String::new(),
                };
                let (kind, title) = ("/problems/unsupported", "The index cannot answer this");
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, format!("{error}{advice}"))
            }
            Error::NotInView { .. } => {
                let (kind, title) = ("/problems/view", "This cannot be told of what you may see");
                let detail = "this cannot be told of an index of which you see only a part";
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail)
            }
            error => Problem::internal(error.to_string()),
        }
    }
}

impl Problem {
    /// The response to the request with a number, which is a member of the details.
    pub fn with_request_id(&self, id: &str) -> Response {
        // Texts and numbers can always be written.
        let mut details = serde_json::to_value(self).unwrap_or_default();
        if let Some(details) = details.as_object_mut() {
            details.insert("request_id".into(), id.into());
        }
        self.response(details.to_string().into_bytes())
    }

    fn response(&self, body: Vec<u8>) -> Response {
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The problem is an extension of the response, so that the number of the request can be added.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.response(serde_json::to_vec(&self).unwrap_or_default());
        response.extensions_mut().insert(self);
        response
    }
}

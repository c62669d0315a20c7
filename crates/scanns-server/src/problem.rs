//! How errors are told: problem details as in RFC 9457.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

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
        let detail = detail.into();
        Problem { kind, title, status, detail, parameter: None, position: None, retry_after: None }
    }

    /// The same, of a parameter or field of the request.
    #[must_use]
    pub fn of_parameter(self, name: impl Into<String>) -> Self {
        Problem { parameter: Some(name.into()), ..self }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Texts and numbers can always be written.
        let body = serde_json::to_vec(&self).unwrap_or_default();
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

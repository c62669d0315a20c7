//! What every answer has: headers that keep browsers from doing harm with it, and the number of the request.

use axum::body::Body;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode, Version};

use crate::problem::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a page may load, and who may show it in a frame. There is no script, style or font within pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'";

/// Headers of all answers that do not have them already.
const DEFAULTS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "private, no-cache"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Completes an answer to the request with a number.
pub fn finish(mut response: Response<Body>, id: &str, version: Version) -> Response<Body> {
    let problem = response.extensions_mut().remove::<Problem>().or_else(|| without_body(&response));
    if let Some(problem) = problem {
        let (head, _) = response.into_parts();
        let mut with_id = problem.with_request_id(id);
        for (name, value) in head.headers {
            // The text of the problem brings its own ones.
            if let Some(name) = name.filter(|name| *name != header::CONTENT_LENGTH) {
                with_id.headers_mut().entry(name).or_insert(value);
            }
        }
        response = with_id;
    }
    let headers = response.headers_mut();
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(REQUEST_ID, id);
    }
    // What is left of the body would have to be read before the next request.
    let ends = matches!(
        response.status(),
        StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    if ends && version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A problem for an answer of the router that has no text: there is no such path or method.
fn without_body(response: &Response<Body>) -> Option<Problem> {
    if response.headers().contains_key(header::CONTENT_TYPE) {
        return None;
    }
    match response.status() {
        StatusCode::NOT_FOUND => Some(Problem::new(
            StatusCode::NOT_FOUND,
            "/problems/path",
            "There is no such path",
            "the paths of this server are described in openapi.json",
        )),
        StatusCode::METHOD_NOT_ALLOWED => Some(Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "/problems/method",
            "The method is not allowed",
            "the header Allow has the methods of this path",
        )),
        _ => None,
    }
}

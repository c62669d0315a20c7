//! Answers to bytes that are not an HTTP request.
//!
//! hyper answers a head that it cannot read by itself, without a text, and nothing else sees it. The bytes of
//! such an answer are known, so that one with a problem can be sent instead.

use std::io::IoSlice;
use std::time::Duration;

use axum::http::{StatusCode, Version};
use axum::response::IntoResponse;
use futures_util::FutureExt;
use serde_json::json;

use super::Guard;
use super::finish::finish;
use crate::identity::Peer;
use crate::journal;
use crate::problem::Problem;

/// The longest answer of hyper's own, in bytes.
const LONGEST: usize = 200;

/// The number of bytes of a problem, of which none has as many.
const MOST: usize = 16 << 10;

/// The status of an answer that hyper made by itself: no other one has so few headers.
fn own_status(answer: &[u8]) -> Option<StatusCode> {
    let answer = std::str::from_utf8(answer).ok()?.strip_suffix("\r\n\r\n")?;
    let (status, rest) = answer.strip_prefix("HTTP/1.1 ")?.split_once("\r\nconnection: close\r\n")?;
    let after = rest.strip_prefix("content-length: 0")?;
    let is_own =
        after.is_empty() || after.strip_prefix("\r\ndate: ").is_some_and(|date| !date.contains('\r'));
    let status = StatusCode::from_bytes(status.get(..3)?.as_bytes()).ok()?;
    Some(status).filter(|_| is_own)
}

/// The problem of a head that hyper refused.
fn problem(status: StatusCode) -> Option<Problem> {
    let (title, detail) = match status {
        StatusCode::BAD_REQUEST => (
            "The request is not valid",
            "the server cannot read this as the head of an HTTP request. Characters such as < > or a space \
             in an address must be percent-encoded: curl -G --data-urlencode 'q=size:>1GiB' ADDRESS",
        ),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE | StatusCode::URI_TOO_LONG => (
            "The head of the request is too large",
            "the address and the headers have more bytes, or more headers, than the server takes: send a \
             long query as JSON in the body of a POST",
        ),
        _ => return None,
    };
    Some(Problem::new(status, "/problems/request", title, detail))
}

impl Guard {
    /// What to send to a client instead of these bytes, if hyper refuses the head of a request with them. It
    /// is counted and logged.
    pub fn explained(&self, written: &[IoSlice<'_>], peer: &Peer) -> Option<Vec<u8>> {
        if written.iter().map(|part| part.len()).sum::<usize>() > LONGEST {
            return None;
        }
        let answer = written.iter().flat_map(|part| part.iter().copied()).collect::<Vec<u8>>();
        let problem = problem(own_status(&answer)?)?;
        let (id, status, title) = (self.ids.next(), problem.status, problem.title);
        let response = finish(problem.into_response(), &id, Version::HTTP_11);
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, MOST).now_or_never()?.ok()?;
        let mut text = format!("HTTP/1.1 {status}\r\nconnection: close\r\n").into_bytes();
        for (name, value) in &head.headers {
            text.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        text.extend(format!("content-length: {}\r\n\r\n", body.len()).into_bytes());
        text.extend_from_slice(&body);
        self.watchers.metrics.began();
        self.watchers.metrics.ended("other", "other", status.as_u16(), body.len() as u64, Duration::ZERO);
        self.watchers.journal.line(&json!({
            "time": journal::now(),
            "request_id": &*id,
            "peer": peer.to_string(),
            "status": status.as_u16(),
            "bytes": body.len(),
            "cause": title,
        }));
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_of_hyper_are_its_own() {
        let close = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n";
        let own = |answer: &str| own_status(answer.as_bytes()).map(|status| status.as_u16());
        assert_eq!(own(&format!("{close}\r\n")), Some(400));
        assert_eq!(own(&format!("{close}date: Sat, 28 Nov 2026 05:03:11 GMT\r\n\r\n")), Some(400));
        assert_eq!(own(&format!("{close}x-request-id: a\r\n\r\n")), None);
        assert_eq!(own(&format!("{close}date: a\r\nx-request-id: a\r\n\r\n")), None);
        assert_eq!(own(&format!("a{close}\r\n")), None);
        assert_eq!(own("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"), None);
        assert_eq!(own(""), None);
    }
}

//! What is noted about a request: a line of the log, and counts.
//!
//! It is noted when the answer has ended, or the client hung up before. So it also knows how many bytes the
//! client took.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;
use tokio::time::Instant;

use super::memory::MemoryShare;
use crate::identity::Peer;
use crate::journal::{self, Journal};
use crate::metrics::Metrics;

/// The status of a request whose client hung up before the answer began, as other servers log it.
const HUNG_UP: u16 = 499;

/// The beginning of a body that is logged, in bytes.
const LOGGED: usize = 512;

/// The number of characters of a path or a query that are logged.
const LONGEST: usize = 1000;

/// What notes what happens.
#[derive(Clone)]
pub struct Watchers {
    pub metrics: Arc<Metrics>,
    pub journal: Arc<Journal>,
}

/// A request that runs.
pub struct Record {
    watchers: Watchers,
    pub began: Instant,
    pub id: Arc<str>,
    pub who: Option<Arc<str>>,
    peer: Peer,
    method: Method,
    uri: Uri,
    body: Option<Bytes>,
    /// The user, if it is one who may not see everything. What he can have at a time is limited.
    pub user: Option<Arc<str>>,
    /// The share of the body in the memory of all bodies, and of the answer in that of all answers.
    pub memory: Vec<MemoryShare>,
    pub route: String,
    pub status: Option<u16>,
    /// Why the server failed, which the client is not told.
    pub cause: Option<String>,
    bytes: u64,
    has_failed: bool,
}

impl Record {
    pub fn begin(watchers: &Watchers, head: &Parts, peer: &Peer, id: Arc<str>) -> Self {
        watchers.metrics.began();
        Record {
            watchers: watchers.clone(),
            began: Instant::now(),
            id,
            who: None,
            peer: peer.clone(),
            method: head.method.clone(),
            uri: head.uri.clone(),
            body: None,
            user: None,
            memory: Vec::new(),
            route: "other".into(),
            status: None,
            cause: None,
            bytes: 0,
            has_failed: false,
        }
    }

    /// Notes the body of a request.
    pub fn note_body(&mut self, body: &Bytes) {
        if self.watchers.journal.is_kept() && !body.is_empty() {
            self.body = Some(body.slice(..body.len().min(LOGGED)));
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let status = self.status.unwrap_or(HUNG_UP);
        let time = self.began.elapsed();
        let method = known_method(&self.method);
        self.watchers.metrics.ended(&self.route, method, status, self.bytes, time);
        if !self.watchers.journal.is_kept() {
            return;
        }
        self.watchers.journal.line(&RequestLine {
            time: journal::now(),
            request_id: &self.id,
            who: self.who.as_deref(),
            peer: self.peer.to_string(),
            method: self.method.as_str(),
            path: cut(self.uri.path()),
            query: self.uri.query().map(|query| cut(&without_token(query)).into_owned()),
            body: self.body.as_deref().map(String::from_utf8_lossy),
            status,
            bytes: self.bytes,
            ms: time.as_micros() as f64 / 1000.0,
            cause: self.cause.as_deref(),
            broken: self.has_failed.then_some(true),
        });
    }
}

/// A line of the log. What is not known is left out.
#[derive(Serialize)]
struct RequestLine<'a> {
    time: String,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<&'a str>,
    peer: String,
    method: &'a str,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, str>>,
    status: u16,
    bytes: u64,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    /// The answer ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<bool>,
}

/// The beginning of a long text, and its length.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()).into(),
        None => text.into(),
    }
}

/// A query without the value of the token.
fn without_token(query: &str) -> String {
    let pairs = query.split('&').map(|pair| if pair.starts_with("token=") { "token=…" } else { pair });
    pairs.collect::<Vec<_>>().join("&")
}

/// The name of a method that this server knows. Others could be any number.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// An answer whose bytes are counted.
pub struct RecordedBody {
    pub body: Body,
    pub record: Record,
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                self.record.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            Some(Err(_)) => self.record.has_failed = true,
            None => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_not_logged() {
        assert_eq!((cut("abc"), cut(&"ä".repeat(1001)).len()), ("abc".into(), 2000 + "… (2002 bytes)".len()));
        assert_eq!(without_token("token=abc"), "token=…");
        assert_eq!(without_token("q=token=1&token=abc&a=b"), "q=token=1&token=…&a=b");
    }
}

//! The bodies of requests: read as a whole, within limits of size, time and memory.

use std::sync::Arc;

use axum::body::{Bytes, HttpBody};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::memory::{MemoryShare, SharedMemory};
use crate::options::ConnectionLimits;
use crate::problem::Problem;

/// Reads bodies.
pub struct Bodies {
    limits: Arc<ConnectionLimits>,
    memory: SharedMemory,
}

/// A body, and its share of the memory of all bodies.
pub struct ReadBody {
    pub bytes: Bytes,
    pub memory: Option<MemoryShare>,
}

impl Bodies {
    pub fn new(limits: Arc<ConnectionLimits>) -> Self {
        let memory = SharedMemory::new(limits.all_body_bytes);
        Bodies { limits, memory }
    }

    /// Reads a body of at most `most` bytes, or fewer where the limit of all bodies is lower. What a client
    /// announces takes no memory before it comes. `user` is the one whose share is limited.
    ///
    /// # Errors
    ///
    /// It is compressed (415), too large (413), too slow (408) or broken (400), or there is no memory for it
    /// (503).
    pub async fn read(
        &self,
        head: &Parts,
        mut body: Incoming,
        most: usize,
        user: Option<Arc<str>>,
    ) -> Result<ReadBody, Box<Problem>> {
        if body.is_end_stream() {
            return Ok(ReadBody { bytes: Bytes::new(), memory: None });
        }
        if let Some(encoding) = head.headers.get(header::CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            let detail = "send the body without Content-Encoding";
            return Err(Problem::new(status, "/problems/encoding", "The body is compressed", detail).into());
        }
        let most = most.min(self.limits.body_bytes);
        let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if expected > most {
            return Err(too_large(most));
        }
        let deadline = Instant::now() + self.limits.body_time;
        let (mut bytes, mut memory) = (Vec::new(), self.memory.share(user));
        while let Some(frame) = timeout_at(deadline, body.frame()).await.map_err(|_| too_slow())? {
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
            let length = bytes.len() + data.len();
            if length > most {
                return Err(too_large(most));
            }
            if !memory.grow_to(length) {
                return Err(busy("too many large requests run: try again in a few seconds"));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(ReadBody { bytes: bytes.into(), memory: Some(memory) })
    }
}

fn too_large(most: usize) -> Box<Problem> {
    let detail = format!("the body of this request may have {most} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "/problems/size", "The body is too large", detail).into()
}

/// There is no memory for a body or an answer.
pub fn busy(detail: &str) -> Box<Problem> {
    let problem =
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "/problems/busy", "The server is busy", detail);
    Problem { retry_after: Some(1), ..problem }.into()
}

/// Refuses a body that is encoded otherwise than in chunks. hyper reads the chunks and leaves the rest, which
/// a proxy may see otherwise.
///
/// # Errors
///
/// There is a transfer encoding that is not exactly `chunked`.
pub fn check_encoding(head: &Parts) -> Result<(), Box<Problem>> {
    let mut encodings = head.headers.get_all(header::TRANSFER_ENCODING).iter();
    let first = encodings.next();
    if encodings.next().is_some()
        || first.is_some_and(|first| !first.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        let detail = "the transfer encoding of a request may only be chunked";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, "/problems/encoding", "The encoding is not known", detail).into());
    }
    Ok(())
}

fn too_slow() -> Box<Problem> {
    let detail = "the body of the request did not come in time";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "/problems/slow", "The request is too slow", detail).into()
}

fn broken() -> Box<Problem> {
    let detail = "the body of the request ended early, or is not encoded as its head says";
    Problem::new(StatusCode::BAD_REQUEST, "/problems/request", "The request is not valid", detail).into()
}

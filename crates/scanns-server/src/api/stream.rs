//! Answers that are sent while they are made: memory does not grow with their length.
//!
//! The job runs on a thread of its own and waits whenever the client has not read what was sent before. If
//! the client hangs up, or reads nothing for a long time, the job ends. If the job fails in the middle, the
//! connection is cut, so that the client does not take a part for the whole.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::context::{ApiState, Context, Head, Refusal, refused, user_of};
use crate::problem::Problem;

/// The number of pieces that wait to be read.
const PIECES: usize = 2;

/// About the number of bytes of a piece.
const PIECE: usize = 256 << 10;

/// The time after which a client that reads nothing is taken to have gone.
const STALLED: Duration = Duration::from_secs(60);

/// What a client that waits is told first: that the answer begins, or why it does not.
type Beginning = oneshot::Sender<Result<(), Problem>>;

/// How an answer is described.
pub(super) struct StreamHead {
    pub(super) content_type: &'static str,
    /// The name of a file, for answers that are to be saved.
    pub(super) file: Option<String>,
}

/// Sends the pieces of an answer.
pub(super) struct StreamOut {
    sender: Sender<Bytes, std::io::Error>,
    beginning: Option<Beginning>,
    runtime: Handle,
}

/// The client has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientGone;

impl StreamOut {
    /// Begins the answer, after which nothing can be refused.
    pub(super) fn begin(&mut self) {
        if let Some(beginning) = self.beginning.take() {
            // Without a client the next piece cannot be sent.
            let _ = beginning.send(Ok(()));
        }
    }

    /// Sends a piece, and waits until there is room for it.
    ///
    /// # Errors
    /// [`ClientGone`] if nobody reads.
    pub(super) fn send(&mut self, piece: Vec<u8>) -> Result<(), ClientGone> {
        self.begin();
        let Self { sender, runtime, .. } = self;
        let sending = async { tokio::time::timeout(STALLED, sender.send_data(Bytes::from(piece))).await };
        match runtime.block_on(sending) {
            Ok(Ok(())) => Ok(()),
            _ => Err(ClientGone),
        }
    }
}

/// Writes to an answer, in pieces.
pub(super) struct PieceWriter<'o> {
    out: &'o mut StreamOut,
    piece: Vec<u8>,
}

impl<'o> PieceWriter<'o> {
    /// A writer to an answer, which begins with the first piece.
    pub(super) fn new(out: &'o mut StreamOut) -> Self {
        PieceWriter { out, piece: Vec::new() }
    }

    fn send(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.piece);
        self.out
            .send(piece)
            .map_err(|ClientGone| io::Error::new(io::ErrorKind::BrokenPipe, "the client has gone"))
    }
}

impl Write for PieceWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    /// Sends what there is.
    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() { Ok(()) } else { self.send() }
    }
}

/// Responds with what a job sends. The job returns an error before it begins the answer if it refuses it.
pub(super) async fn stream(
    state: Arc<ApiState>,
    head: Head,
    described: StreamHead,
    job: impl FnOnce(&Context<'_>, &mut StreamOut) -> Result<(), Refusal> + Send + 'static,
) -> Response {
    let (sender, body) = Channel::<Bytes, std::io::Error>::new(PIECES);
    let (beginning, begins) = oneshot::channel();
    let runtime = Handle::current();
    let own = Arc::clone(&state);
    let user = user_of(&head.caller);
    let begun = state.exporters.begin(user, move |task| {
        let mut out = StreamOut { sender, beginning: Some(beginning), runtime };
        let done = job(&Context { state: &own, head: &head, task }, &mut out);
        match (done, out.beginning.take()) {
            (Ok(()), Some(beginning)) => drop(beginning.send(Ok(()))),
            (Ok(()), None) => {}
            (Err(refusal), Some(beginning)) => drop(beginning.send(Err(problem_of(refusal)))),
            (Err(refusal), None) => {
                let why = problem_of(refusal);
                out.sender.abort(std::io::Error::other(why.cause.unwrap_or(why.detail)));
            }
        }
    });
    let guard = match begun {
        Ok(guard) => guard,
        Err(error) => return refused(error).into_response(),
    };
    match begins.await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => return problem.into_response(),
        // The job panicked.
        Err(_) => return refused(crate::work::WorkError::Panicked).into_response(),
    }
    // The guard goes with the body, which is dropped if the client hangs up.
    let body = body.map_frame(move |frame| {
        let _ = &guard;
        frame
    });
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(described.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    let file = described.file.map(|file| format!("attachment; filename=\"{file}\""));
    if let Some(file) = file.and_then(|file| HeaderValue::from_str(&file).ok()) {
        headers.insert(CONTENT_DISPOSITION, file);
    }
    response
}

fn problem_of(refusal: Refusal) -> Problem {
    match refusal {
        Refusal::Problem(problem) => *problem,
        Refusal::NotModified(_) => Problem::internal("an answer that is sent has no tag"),
    }
}

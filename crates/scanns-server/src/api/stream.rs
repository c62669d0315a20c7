//! Answers that are sent while they are made: memory does not grow with their length.
//!
//! The job runs on a thread of its own and waits whenever the client has not read what was sent before. If
//! the client hangs up, or reads nothing for a long time, the job ends. If the job fails in the middle, the
//! connection is cut, so that the client does not take a part for the whole.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context as Polling, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::context::{ApiState, Context, Head, Refusal, refused, user_of};
use crate::problem::Problem;
use crate::work::CancelOnDrop;

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

/// How an answer ended: as it should, or why not. A job that panics does not say.
type Ending = Arc<OnceLock<Result<(), String>>>;

/// Sends the pieces of an answer.
pub(super) struct StreamOut {
    sender: Sender<Bytes>,
    ending: Ending,
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
        let sending = async { tokio::time::timeout(STALLED, sender.send(Bytes::from(piece))).await };
        match runtime.block_on(sending) {
            Ok(Ok(())) => Ok(()),
            _ => Err(ClientGone),
        }
    }

    /// Ends the answer.
    fn end(self, done: Result<(), Refusal>) {
        let Self { sender, ending, beginning, .. } = self;
        match (done, beginning) {
            (Ok(()), beginning) => {
                let _ = ending.set(Ok(()));
                beginning.map(|beginning| beginning.send(Ok(())));
            }
            (Err(refusal), Some(beginning)) => drop(beginning.send(Err(problem_of(refusal)))),
            (Err(refusal), None) => {
                let why = problem_of(refusal);
                let _ = ending.set(Err(why.cause.unwrap_or(why.detail)));
            }
        }
        // The body sees the end of the pieces after it is known what it means.
        drop(sender);
    }
}

/// The pieces of an answer as they come. An answer whose job has not said that it is complete is broken.
struct StreamBody {
    pieces: Receiver<Bytes>,
    ending: Ending,
    is_over: bool,
    /// Cancels the job when the body is dropped, as it is if the client hangs up.
    _guard: CancelOnDrop,
}

impl HttpBody for StreamBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Polling<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Some(piece) = ready!(self.pieces.poll_recv(context)) {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        self.is_over = true;
        Poll::Ready(match self.ending.get() {
            Some(Ok(())) => None,
            Some(Err(why)) => Some(Err(io::Error::other(why.clone()))),
            None => Some(Err(io::Error::other("the job panicked"))),
        })
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
    let ((sender, pieces), ending) = (channel(PIECES), Ending::default());
    let (beginning, begins) = oneshot::channel();
    let runtime = Handle::current();
    let own = Arc::clone(&state);
    let user = user_of(&head.caller);
    let told = Arc::clone(&ending);
    let begun = state.exporters.begin(user, move |task| {
        let mut out = StreamOut { sender, ending: told, beginning: Some(beginning), runtime };
        let done = job(&Context { state: &own, head: &head, task }, &mut out);
        // The client learns that the answer is complete when the thread is free for its next one.
        Box::new(move || out.end(done))
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
    let body = StreamBody { pieces, ending, is_over: false, _guard: guard };
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

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::work::{WorkSettings, Workers};

    /// The bytes of an answer of a job, or its error.
    async fn answer(
        workers: &Workers,
        job: impl FnOnce(&mut StreamOut) -> Result<(), Refusal> + Send + 'static,
    ) -> io::Result<usize> {
        let ((sender, pieces), ending) = (channel(PIECES), Ending::default());
        let (told, runtime) = (Arc::clone(&ending), Handle::current());
        let guard = workers.begin(None, move |_| {
            let mut out = StreamOut { sender, ending: told, beginning: None, runtime };
            let done = job(&mut out);
            Box::new(move || out.end(done))
        });
        let body = StreamBody { pieces, ending, is_over: false, _guard: guard.unwrap() };
        Ok(body.collect().await?.to_bytes().len())
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_answer_ends_after_its_last_piece_and_a_broken_one_does_not_look_whole() {
        let workers = Workers::start(WorkSettings { threads: 2, of_one_user: 2, waiting: 1 }).unwrap();
        for round in 0..2000 {
            let pieces = round % 5;
            let whole = answer(&workers, move |out| {
                (0..pieces).try_for_each(|_| out.send(vec![b'a'; 10])).unwrap();
                Ok(())
            });
            assert_eq!(whole.await.unwrap(), pieces * 10, "round {round}");
        }
        let failed = answer(&workers, |out| {
            out.send(vec![b'a']).unwrap();
            Err(Problem::internal("the disk failed").into())
        });
        assert_eq!(failed.await.unwrap_err().to_string(), "the disk failed");
        let panicked = answer(&workers, |out| {
            out.send(vec![b'a']).unwrap();
            panic!("a test")
        });
        assert!(panicked.await.is_err());
    }
}

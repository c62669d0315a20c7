//! Serving one connection, and ending it if nothing happens when something should.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Version};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::activity::{Activity, Running};
use super::counts::Place;
use super::handshake::{FailureNotes, NoTls, handshake};
use super::socket::{NotedSocket, Socket};
use super::stream::{ClientStream, Transport};
use crate::expired::Expired;
use crate::guard::Guard;
use crate::identity::Peer;
use crate::options::ConnectionLimits;
use crate::tls::CurrentTls;

/// How long the rest of what a client sends is read after the last answer, so that the answer reaches it.
const DRAIN: Duration = Duration::from_secs(1);

/// The answer to a request whose head does not come.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Whether a server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It does not.
    Not,
    /// It finishes what runs.
    Finish,
    /// It ends now.
    Now,
}

/// How the connections of a server are served.
pub(super) struct Serving {
    pub guard: Arc<Guard>,
    pub limits: Arc<ConnectionLimits>,
    /// The certificate, if the server speaks TLS.
    pub tls: Option<Arc<CurrentTls>>,
    failures: FailureNotes,
    http: auto::Builder<TokioExecutor>,
}

impl Serving {
    pub fn new(guard: Arc<Guard>, limits: Arc<ConnectionLimits>, tls: Option<Arc<CurrentTls>>) -> Self {
        let mut http = auto::Builder::new(TokioExecutor::new());
        let buffer = limits.head_bytes.max(8 << 10);
        // `Activity` notices slow heads earlier; hyper's own limit would notice if it did not.
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle + limits.head)
            .max_buf_size(buffer)
            .max_headers(limits.headers);
        http.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(u32::try_from(buffer).unwrap_or(u32::MAX))
            .max_send_buf_size(64 << 10)
            .keep_alive_interval(limits.idle / 2)
            .keep_alive_timeout(limits.send);
        Serving { guard, limits, tls, failures: FailureNotes::default(), http }
    }

    /// Serves a connection until it ends. The connection of a trusted proxy leaves the count of its peer.
    pub async fn serve(&self, socket: Socket, peer: Peer, place: &mut Place, stop: watch::Receiver<Stop>) {
        let socket = Arc::new(socket);
        let Some(tls) = &self.tls else {
            let activity = Arc::new(Activity::new(Arc::clone(&self.limits)));
            let noted = NotedSocket { socket: Arc::clone(&socket), activity: Arc::clone(&activity) };
            let expired = self.answer(Transport::Plain(noted), activity, peer, stop).await;
            if expired == Some(Expired::Head) {
                socket.send_now(TOO_SLOW);
            }
            return self.end(&socket, expired).await;
        };
        let mut stopping = stop.clone();
        let begun = tokio::select! {
            begun = handshake(&socket, tls, &self.limits) => begun,
            _ = stopping.wait_for(|stop| *stop != Stop::Not) => Err(NoTls::Gone),
        };
        let expired = match begun {
            Ok(mut stream) => {
                self.guard.metrics().handshake_done();
                let peer = match peer {
                    // Only proxies get through the handshake.
                    Peer::Tcp(address) if tls.is_for_proxies() => {
                        place.leave_peer();
                        Peer::Proxy(address)
                    }
                    peer => peer,
                };
                let activity = Arc::clone(&stream.get_mut().0.activity);
                self.answer(Transport::Tls(Box::new(stream)), activity, peer, stop).await
            }
            Err(NoTls::Silent) => Some(Expired::Silent),
            Err(NoTls::Gone) => return,
            Err(NoTls::Failed(failure)) => {
                if let Peer::Tcp(address) = peer {
                    self.failures.note(&self.guard, address, &failure);
                }
                None
            }
        };
        self.end(&socket, expired).await;
    }

    /// Answers the requests of a connection until it ends, or until something has not happened in time.
    async fn answer(
        &self,
        transport: Transport,
        activity: Arc<Activity>,
        peer: Peer,
        stop: watch::Receiver<Stop>,
    ) -> Option<Expired> {
        let (guard, peer, noting) = (Arc::clone(&self.guard), Arc::new(peer), Arc::clone(&activity));
        let stream = ClientStream::new(transport, Arc::clone(&guard), Arc::clone(&peer));
        let service = service_fn(move |request: Request<Incoming>| {
            let running = noting.begin_request(request.version() == Version::HTTP_2);
            let (guard, peer) = (Arc::clone(&guard), Arc::clone(&peer));
            async move {
                let response = guard.answer(request, &peer).await;
                Ok::<_, Infallible>(response.map(|body| NotedBody { body, rest: Bytes::new(), running }))
            }
        });
        let mut connection = Box::pin(self.http.serve_connection(TokioIo::new(stream), service));
        watched(&activity, stop, |context, finish| {
            if finish {
                connection.as_mut().graceful_shutdown();
            }
            connection.as_mut().poll(context).map(|_| ())
        })
        .await
    }

    /// Ends a connection, so that the other end gets what was sent last.
    async fn end(&self, socket: &Socket, expired: Option<Expired>) {
        if let Some(expired) = expired {
            self.guard.metrics().connection_expired(expired);
        }
        if !matches!(expired, Some(Expired::Silent | Expired::Idle | Expired::Send)) {
            socket.finish();
            // The other end may never stop to send.
            let _ = timeout(DRAIN, socket.drain()).await;
        }
    }
}

/// Polls a connection until it ends, or until something that should have happened on it has not. Asks it once
/// to finish when the server stops.
async fn watched(
    activity: &Activity,
    mut stop: watch::Receiver<Stop>,
    mut poll: impl FnMut(&mut Context<'_>, bool) -> Poll<()>,
) -> Option<Expired> {
    let mut timer = Box::pin(sleep_until(activity.deadline().0));
    let mut stopping = Box::pin(async move { stop.wait_for(|stop| *stop != Stop::Not).await.map(|_| ()) });
    let mut is_stopping = false;
    poll_fn(move |context| {
        let stops_now = !is_stopping && stopping.as_mut().poll(context).is_ready();
        is_stopping |= stops_now;
        if poll(context, stops_now).is_ready() {
            return Poll::Ready(None);
        }
        loop {
            let (deadline, expired) = activity.deadline();
            if deadline <= Instant::now() {
                return Poll::Ready(Some(expired));
            }
            // A timer that is too early only looks again, which costs less than to set it at each event.
            if deadline < timer.deadline() || timer.is_elapsed() {
                timer.as_mut().reset(deadline);
            }
            ready!(timer.as_mut().poll(context));
        }
    })
    .await
}

/// The maximum size of a piece of an answer, in bytes. A client must take each within a time.
const PIECE: usize = 64 << 10;

/// The body of an answer, which notes when it is asked for, and comes in pieces.
struct NotedBody {
    body: Body,
    /// What is left of the last frame.
    rest: Bytes,
    running: Running,
}

impl HttpBody for NotedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.running.asked();
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context))
                .map(|frame| frame.map(Frame::into_data))
            {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        self.running.handed();
        let length = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut whole = SizeHint::new();
        if let Some(upper) = hint.upper() {
            whole.set_upper(upper + rest);
        }
        whole.set_lower(hint.lower() + rest);
        whole
    }
}

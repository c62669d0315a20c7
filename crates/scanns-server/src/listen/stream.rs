//! What hyper reads and writes: a socket, or TLS over it.
//!
//! One type for both, so that the code of hyper is compiled once. What hyper answers by itself, because it
//! cannot read a request, is replaced by an answer that says so.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::socket::NotedSocket;
use crate::guard::Guard;
use crate::identity::Peer;

/// How bytes are sent.
pub(super) enum Transport {
    Plain(NotedSocket),
    Tls(Box<TlsStream<NotedSocket>>),
}

/// The bytes of requests and answers.
pub(super) struct ClientStream {
    transport: Transport,
    guard: Arc<Guard>,
    peer: Arc<Peer>,
    /// What is sent instead of hyper's own answer, until it is sent.
    instead: Option<Vec<u8>>,
}

impl ClientStream {
    pub fn new(transport: Transport, guard: Arc<Guard>, peer: Arc<Peer>) -> Self {
        ClientStream { transport, guard, peer, instead: None }
    }

    /// Sends another answer if hyper writes one of its own, which is short and the last one.
    fn poll_explain(
        &mut self,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Option<Poll<io::Result<usize>>> {
        // It is counted and logged once, however often the socket is not ready.
        if self.instead.is_none() {
            self.instead = self.guard.explained(parts, &self.peer);
        }
        let answer = self.instead.as_ref()?;
        let written = match &mut self.transport {
            Transport::Plain(socket) => Pin::new(socket).poll_write(context, answer),
            Transport::Tls(stream) => Pin::new(stream).poll_write(context, answer),
        };
        if written.is_ready() {
            self.instead = None;
        }
        Some(written.map_ok(|_| parts.iter().map(|part| part.len()).sum()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Transport::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(explained) = self.poll_explain(context, &[IoSlice::new(bytes)]) {
            return explained;
        }
        match &mut self.get_mut().transport {
            Transport::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Transport::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(explained) = self.poll_explain(context, parts) {
            return explained;
        }
        match &mut self.get_mut().transport {
            Transport::Plain(socket) => Pin::new(socket).poll_write_vectored(context, parts),
            Transport::Tls(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(socket) => socket.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(socket) => Pin::new(socket).poll_flush(context),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().transport {
            Transport::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

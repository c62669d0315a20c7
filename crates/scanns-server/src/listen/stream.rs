//! What hyper reads and writes: a socket, or TLS over it.
//!
//! One type for both, so that the code of hyper is compiled once.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::socket::NotedSocket;

/// The bytes of requests and answers.
pub(super) enum ClientStream {
    Plain(NotedSocket),
    Tls(Box<TlsStream<NotedSocket>>),
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            ClientStream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            ClientStream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(socket) => Pin::new(socket).poll_write_vectored(context, parts),
            ClientStream::Tls(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            ClientStream::Plain(socket) => socket.is_write_vectored(),
            ClientStream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(socket) => Pin::new(socket).poll_flush(context),
            ClientStream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            ClientStream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

//! The bytes of a connection, of TCP or of a Unix socket, which its activity is noted from.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::net::Shutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::activity::Activity;

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Tcp(stream) => stream.poll_read_ready(context),
            Socket::Unix(stream) => stream.poll_read_ready(context),
        }
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Tcp(stream) => stream.poll_write_ready(context),
            Socket::Unix(stream) => stream.poll_write_ready(context),
        }
    }

    fn read(&self, buffer: &mut ReadBuf<'_>) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.try_read_buf(buffer),
            Socket::Unix(stream) => stream.try_read_buf(buffer),
        }
    }

    fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.try_write_vectored(parts),
            Socket::Unix(stream) => stream.try_write_vectored(parts),
        }
    }

    /// Says that nothing more will be sent.
    pub fn finish(&self) {
        // If the other end is gone, there is nobody to tell.
        let _ = match self {
            Socket::Tcp(stream) => rustix::net::shutdown(stream, Shutdown::Write),
            Socket::Unix(stream) => rustix::net::shutdown(stream, Shutdown::Write),
        };
    }

    /// Sends a few bytes if they can be sent at once, as is so on a new connection.
    pub fn send_now(&self, bytes: &[u8]) {
        let _ = self.write(&[IoSlice::new(bytes)]);
    }

    /// Reads what the other end still sends, until it ends. If a socket is closed while there is something to
    /// read, the system tells the other end so, which may then lose the answer.
    pub async fn drain(&self) {
        let mut bytes = [0; 4096];
        loop {
            let ready = std::future::poll_fn(|context| self.poll_readable(context)).await;
            let read = match self {
                Socket::Tcp(stream) => stream.try_read(&mut bytes),
                Socket::Unix(stream) => stream.try_read(&mut bytes),
            };
            match (ready, read) {
                (Ok(()), Ok(1..)) => {}
                (Ok(()), Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }
}

/// A socket that hyper reads and writes; what happens is noted.
pub(super) struct NotedSocket {
    pub socket: Arc<Socket>,
    pub activity: Arc<Activity>,
}

impl NotedSocket {
    fn poll_write_parts(&self, context: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        loop {
            let ready = self.socket.poll_writable(context);
            if ready.is_pending() {
                self.activity.blocked();
            }
            ready!(ready)?;
            match self.socket.write(parts) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(written) => {
                    self.activity.wrote(written, written == length);
                    return Poll::Ready(Ok(written));
                }
            }
        }
    }
}

impl AsyncRead for NotedSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.poll_readable(context))?;
            match self.socket.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(read) => {
                    self.activity.read(read);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for NotedSocket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_parts(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_parts(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.finish();
        Poll::Ready(Ok(()))
    }
}

//! The TLS handshake of a connection, within the limits of time of one without TLS.
//!
//! The first byte must come within its limit, and the handshake then within the one of a head.
//! Nothing is allocated before the first byte. rustls limits what it keeps of a handshake to 64 KiB. A failed
//! handshake is counted, and its reason is in the log: of each kind at most one line in ten seconds.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_rustls::server::TlsStream;

use super::activity::Activity;
use super::socket::{NotedSocket, Socket};
use crate::guard::Guard;
use crate::options::ConnectionLimits;
use crate::tls::{CurrentTls, FailureKind, HandshakeFailure};

/// The time between two lines about failures of the same kind.
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// The first byte of TLS: the type of a record of a handshake.
const HANDSHAKE: u8 = 0x16;

const PLAIN_HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\
    content-type: application/problem+json\r\ncontent-length: 126\r\n\r\n\
    {\"type\":\"/problems/tls\",\"title\":\"TLS is needed\",\"status\":400,\"detail\":\"this port speaks \
    TLS: begin the address with https://\"}";

/// Why there is no TLS on a connection.
pub(super) enum NoTls {
    /// It sent nothing in time.
    Silent,
    /// It ended before its first byte: a program looked whether the port is open.
    Gone,
    /// The handshake failed.
    Failed(HandshakeFailure),
}

/// Does the handshake of a connection.
pub(super) async fn handshake(
    socket: &Arc<Socket>,
    tls: &CurrentTls,
    limits: &Arc<ConnectionLimits>,
) -> Result<TlsStream<NotedSocket>, NoTls> {
    match timeout(limits.first_byte, socket.first_byte()).await {
        Err(_) => return Err(NoTls::Silent),
        Ok(Err(_) | Ok(None)) => return Err(NoTls::Gone),
        Ok(Ok(Some(HANDSHAKE))) => {}
        Ok(Ok(Some(_))) => {
            socket.send_now(PLAIN_HTTP);
            let reason = "the client sent a request without TLS";
            return Err(NoTls::Failed(HandshakeFailure::new(FailureKind::PlainHttp, reason)));
        }
    }
    let activity = || Arc::new(Activity::new(Arc::clone(limits)));
    let noted = NotedSocket { socket: Arc::clone(socket), activity: activity() };
    match timeout(limits.head, tls.acceptor().accept(noted)).await {
        Err(_) => {
            let reason = "the client did not finish in time";
            Err(NoTls::Failed(HandshakeFailure::new(FailureKind::Slow, reason)))
        }
        Ok(Err(error)) => Err(NoTls::Failed(HandshakeFailure::of(&error))),
        Ok(Ok(mut stream)) => {
            // For the first request the times begin anew.
            stream.get_mut().0.activity = activity();
            Ok(stream)
        }
    }
}

/// When a failure of a kind was written last, and how many were left out since.
#[derive(Debug, Default)]
struct Written {
    last: Option<Instant>,
    left_out: u64,
}

/// The failures of handshakes in the log.
#[derive(Debug, Default)]
pub(super) struct FailureNotes([Mutex<Written>; FailureKind::ALL.len()]);

impl FailureNotes {
    /// Counts a failure, and writes it to the log unless one of its kind was written shortly before.
    pub fn note(&self, guard: &Guard, address: IpAddr, failure: &HandshakeFailure) {
        let HandshakeFailure { kind, reason } = failure;
        guard.metrics().handshake_failed(*kind);
        let of_kind = FailureKind::ALL.iter().zip(&self.0).find(|(of, _)| *of == kind);
        let Some((_, written)) = of_kind else { return };
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.last.is_some_and(|last| last.elapsed() < NOTE_EVERY) {
            written.left_out += 1;
            return;
        }
        written.last = Some(Instant::now());
        let more = match std::mem::take(&mut written.left_out) {
            0 => String::new(),
            more => format!(" ({more} others of this kind were left out)"),
        };
        let what = format!("a TLS handshake with {address} failed: {reason}{more}");
        guard.journal().event("warning", &what);
    }
}

impl Socket {
    /// The first byte that the other end sends, which stays to be read; `None` if it sends nothing more.
    async fn first_byte(&self) -> io::Result<Option<u8>> {
        let Socket::Tcp(stream) = self else {
            return Err(io::Error::other("a Unix socket has no TLS"));
        };
        let mut byte = [0];
        let read = stream.peek(&mut byte).await?;
        Ok(byte.first().copied().filter(|_| read > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_request_without_tls_has_the_length_that_it_says() {
        let text = std::str::from_utf8(PLAIN_HTTP).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    }
}

//! Accepting connections until the server stops.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::connection::{Serving, Stop};
use super::counts::{Counts, Place, Refused};
use super::door::Door;
use super::socket::Socket;
use crate::guard::Guard;
use crate::identity::Peer;
use crate::options::ConnectionLimits;
use crate::tls::CurrentTls;

/// The pause after the system had no means for a connection, such as descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// The time between two notes that connections cannot be accepted.
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// Connections that are told that there are too many, at the same time; others are just closed.
const TOLD: usize = 64;

const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/problem+json\r\ncontent-length: 123\r\n\r\n\
    {\"type\":\"/problems/busy\",\"title\":\"Busy\",\"status\":503,\"detail\":\"there are too many \
    connections: try again in a few seconds\"}";

const TOO_MANY_OF_PEER: &[u8] = b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/problem+json\r\ncontent-length: 121\r\n\r\n\
    {\"type\":\"/problems/busy\",\"title\":\"Busy\",\"status\":429,\"detail\":\"you have too many \
    connections: close some, or reuse them\"}";

/// Accepts connections.
pub struct Accepting {
    door: Door,
    serving: Arc<Serving>,
    counts: Arc<Counts>,
    told: Arc<Semaphore>,
}

impl Accepting {
    /// Accepts connections at a door, perhaps with TLS, and answers their requests.
    pub fn new(
        door: Door,
        guard: Arc<Guard>,
        limits: Arc<ConnectionLimits>,
        tls: Option<Arc<CurrentTls>>,
    ) -> Self {
        Accepting {
            door,
            serving: Arc::new(Serving::new(guard, limits, tls)),
            counts: Arc::default(),
            told: Arc::new(Semaphore::new(TOLD)),
        }
    }

    /// The door.
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Accepts connections until `stop` changes. Then running requests have a time `grace` to end.
    pub async fn run(self, mut stop: watch::Receiver<Stop>, grace: Duration) {
        let (mut connections, told) = (JoinSet::new(), stop.clone());
        let mut noted: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop != Stop::Not) => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = self.door.accept() => match accepted {
                    Ok((socket, peer)) => self.enter(&mut connections, socket, peer, &told),
                    Err(error) if is_of_the_connection(&error) => {}
                    Err(error) => {
                        if noted.is_none_or(|noted| noted.elapsed() > NOTE_EVERY) {
                            let what = format!("connections cannot be accepted: {error}");
                            self.serving.guard.journal().event("error", &what);
                            noted = Some(Instant::now());
                        }
                        sleep(PAUSE).await;
                    }
                },
            }
        }
        // Nobody can connect from now on.
        drop(self.door);
        let until = Instant::now() + grace;
        let finish = async { while connections.join_next().await.is_some() {} };
        tokio::select! {
            _ = timeout_at(until, finish) => {}
            _ = stop.wait_for(|stop| *stop == Stop::Now) => {}
        }
        connections.shutdown().await;
    }

    /// Serves a connection, unless there are too many.
    fn enter(&self, connections: &mut JoinSet<()>, socket: Socket, peer: Peer, stop: &watch::Receiver<Stop>) {
        let (serving, stop) = (Arc::clone(&self.serving), stop.clone());
        match self.place(&peer) {
            Ok(mut place) => {
                serving.guard.metrics().connected();
                connections.spawn(async move {
                    serving.serve(socket, peer, &mut place, stop).await;
                    drop(place);
                    serving.guard.metrics().disconnected();
                });
            }
            Err(refused) => {
                let of_peer = refused == Refused::Peer;
                serving.guard.metrics().connection_refused(of_peer);
                // A client that expects TLS could not read it.
                if serving.tls.is_none() {
                    socket.send_now(if of_peer { TOO_MANY_OF_PEER } else { TOO_MANY });
                }
                socket.finish();
                if let Ok(told) = Arc::clone(&self.told).try_acquire_owned() {
                    connections.spawn(async move {
                        let _ = timeout(Duration::from_millis(200), socket.drain()).await;
                        drop(told);
                    });
                }
            }
        }
    }

    fn place(&self, peer: &Peer) -> Result<Place, Refused> {
        let limits = &self.serving.limits;
        let is_proxy = self.serving.guard.identity().is_proxy(peer);
        // All users of a proxy are one peer.
        let per_peer = if is_proxy { limits.connections } else { limits.per_peer };
        self.counts.enter(peer.key(), limits.connections, per_peer)
    }
}

/// True for an error of the connection that would have been accepted; the next one may have none.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, NotConnected};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | NotConnected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_refused_connections_have_the_length_that_they_say() {
        for answer in [TOO_MANY, TOO_MANY_OF_PEER] {
            let text = std::str::from_utf8(answer).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())), "{}", body.len());
            assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
        }
    }
}

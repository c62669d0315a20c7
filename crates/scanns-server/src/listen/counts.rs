//! How many connections there are, in all and of each peer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::identity::PeerKey;

/// Counts connections.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    all: usize,
    peers: HashMap<PeerKey, usize>,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// There are too many.
    All,
    /// There are too many of the same peer.
    Peer,
}

impl Counts {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection until the result is dropped.
    pub fn enter(self: &Arc<Self>, peer: PeerKey, all: usize, per_peer: usize) -> Result<Place, Refused> {
        let mut counted = self.counted();
        if counted.all >= all {
            return Err(Refused::All);
        }
        let of_peer = counted.peers.entry(peer).or_default();
        if *of_peer >= per_peer {
            return Err(Refused::Peer);
        }
        *of_peer += 1;
        counted.all += 1;
        Ok(Place { counts: Arc::clone(self), peer: Some(peer) })
    }
}

/// A connection that counts.
#[derive(Debug)]
pub(super) struct Place {
    counts: Arc<Counts>,
    /// As whose it counts, besides in all.
    peer: Option<PeerKey>,
}

impl Place {
    /// Counts the connection in all only, since a proxy has many users.
    pub fn leave_peer(&mut self) {
        if let Some(peer) = self.peer.take() {
            self.counts.counted().leave(peer);
        }
    }
}

impl Counted {
    fn leave(&mut self, peer: PeerKey) {
        if let Some(of_peer) = self.peers.get_mut(&peer) {
            *of_peer = of_peer.saturating_sub(1);
            if *of_peer == 0 {
                self.peers.remove(&peer);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counted = self.counts.counted();
        counted.all = counted.all.saturating_sub(1);
        if let Some(peer) = self.peer {
            counted.leave(peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_limits_of_their_own_and_are_forgotten() {
        let counts = Arc::new(Counts::default());
        let enter = |uid| counts.enter(PeerKey::User(uid), 3, 2);
        let first = enter(1).unwrap();
        let _second = enter(1).unwrap();
        assert_eq!(enter(1).unwrap_err(), Refused::Peer);
        let third = enter(2).unwrap();
        assert_eq!(enter(3).unwrap_err(), Refused::All);
        assert_eq!(counts.counted().all, 3);
        drop(first);
        let mut again = enter(1).unwrap();
        drop(third);
        again.leave_peer();
        assert_eq!(counts.counted().peers.values().copied().collect::<Vec<_>>(), [1]);
        let _more = enter(1).unwrap();
        drop(again);
        assert_eq!(counts.counted().all, 2);
        assert_eq!(counts.counted().peers.len(), 1);
    }
}

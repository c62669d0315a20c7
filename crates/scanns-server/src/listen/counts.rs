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
        Ok(Place { counts: Arc::clone(self), peer })
    }
}

/// A connection that counts.
#[derive(Debug)]
pub(super) struct Place {
    counts: Arc<Counts>,
    peer: PeerKey,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counted = self.counts.counted();
        counted.all = counted.all.saturating_sub(1);
        if let Some(of_peer) = counted.peers.get_mut(&self.peer) {
            *of_peer = of_peer.saturating_sub(1);
            if *of_peer == 0 {
                counted.peers.remove(&self.peer);
            }
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
        let _again = enter(1).unwrap();
        drop(third);
        assert_eq!(counts.counted().peers.len(), 1);
    }
}

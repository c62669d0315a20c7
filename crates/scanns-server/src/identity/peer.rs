//! What the kernel says of the other end of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use scanns::access::AccessUser;

/// The other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A process anywhere, known by its address only.
    Tcp(IpAddr),
    /// A trusted proxy at an address, as its certificate has shown.
    Proxy(IpAddr),
    /// A process on this machine, with the user and the groups that it had when it connected.
    Unix(Arc<AccessUser>),
}

impl Peer {
    /// As what connections are counted.
    pub fn key(&self) -> PeerKey {
        match self {
            Peer::Tcp(address) | Peer::Proxy(address) => PeerKey::Address(*address),
            Peer::Unix(user) => PeerKey::User(user.uid()),
        }
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Peer::Tcp(address) | Peer::Proxy(address) => address.fmt(out),
            Peer::Unix(user) => write!(out, "uid {}", user.uid()),
        }
    }
}

/// As what connections are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerKey {
    /// Of one address.
    Address(IpAddr),
    /// Of one user.
    User(u32),
}

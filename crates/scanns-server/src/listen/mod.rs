//! Connections: from a listening socket to requests, within limits.
//!
//! hyper reads and writes HTTP. What it does not do is here, because a server that people can reach needs it:
//! `socket.rs` is one connection's bytes, `handshake.rs` begins TLS on it, `stream.rs` is either of the two,
//! `activity.rs` notes what happens on it and says until when something must happen, `connection.rs` serves
//! it and ends it if nothing did, `counts.rs` limits the number of connections, and `accept.rs` accepts them
//! until the server stops. `place.rs` finds and makes Unix sockets, and `door.rs` opens sockets. Read
//! `connection.rs` first.

mod accept;
mod activity;
mod connection;
mod counts;
mod door;
mod handshake;
mod place;
mod socket;
mod stream;

pub use accept::Accepting;
pub use connection::Stop;
pub use door::Door;
pub use place::{SocketPlaceError, own_socket};

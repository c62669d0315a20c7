//! Who is at the other end of a connection, and who a request is from.
//!
//! `peer.rs` is what the kernel says of a connection, `token.rs` the secret of a TCP socket, and `names.rs`
//! looks users up whom a reverse proxy names. `decide.rs` decides from these who asks; read it first.

mod decide;
mod names;
mod peer;
mod token;

pub use decide::Identity;
pub use peer::{Peer, PeerKey};
pub use token::Token;

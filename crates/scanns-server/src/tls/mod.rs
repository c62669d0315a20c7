//! TLS of a TCP socket: the certificate of the server, and the certificates by which it knows its proxies.
//!
//! `files.rs` reads certificates and keys in PEM, `config.rs` makes from them what rustls needs, `proxy.rs`
//! decides whether a client is a trusted proxy, `current.rs` has what new connections use and reads the files
//! again when they change, and `failure.rs` says why a handshake failed. Read `config.rs` first.

mod config;
mod current;
mod failure;
mod files;
mod proxy;

pub use current::CurrentTls;
pub use failure::{FailureKind, HandshakeFailure};
pub use files::TlsFileError;

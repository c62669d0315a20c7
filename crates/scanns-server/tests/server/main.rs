//! Tests of the whole server over sockets: bytes go in as a client, a proxy or an attacker sends them.
//!
//! `bench.rs` starts servers, `connections.rs` is about limits, `smuggling.rs` about requests that two
//! programs could read differently, `answers.rs` about what answers have, `browsers.rs` about tokens, cookies
//! and pages of others, `users.rs` about who asks, `stopping.rs` about the end, and `http2.rs` about HTTP/2.
//! `tls.rs` is about TLS, and `certificates.rs` makes certificates for it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod answers;
mod bench;
mod browsers;
mod certificates;
mod connections;
mod http2;
mod smuggling;
mod stopping;
mod tls;
mod users;

//! The HTTP API of indexes, and a page for people: `scanns serve`.
//!
//! A [`Server`] takes any router whose handlers read the [`Caller`] from the extensions of a request. Then a
//! request goes through these files: `listen/` accepts connections within limits, with the certificate of
//! `tls/` if there is one, `guard/` refuses what must not pass, `identity/` decides who asks, and the router
//! answers: `indexes/` has the indexes and what callers see of them, `work/` the threads that answer, and
//! `api/` the requests and answers. `caller.rs` says who asks, and `problem.rs` how errors are told. `page/`
//! has the page for people. `journal.rs` is the log, and `metrics.rs` counts. `options.rs` has what can be
//! chosen, and `check.rs` refuses what is not safe together. `server.rs` starts and stops everything,
//! `link.rs` says where it is, `renew.rs` reads a new certificate, `notify.rs` tells the service manager, and
//! `sys.rs` has calls of the system.

mod api;
mod caller;
mod check;
mod error;
mod expired;
mod guard;
mod identity;
mod indexes;
mod journal;
mod link;
mod listen;
mod metrics;
mod notify;
mod options;
mod page;
mod problem;
mod renew;
mod server;
mod sys;
mod tls;
mod work;

pub use api::{Api, ApiLoad, Limits, api_guide, router};
pub use axum::Router;
pub use caller::{Caller, Recognition};
pub use error::ServeError;
pub use guard::Gauges;
pub use indexes::{IndexSettings, IndexSource, Indexes, SourceError};
pub use listen::{SocketPlaceError, own_socket};
pub use metrics::Gauge;
pub use options::{Audience, ConnectionLimits, ListenOn, LogTarget, ServeOptions, TlsFiles, TrustedProxy};
pub use problem::{Place, Problem};
pub use server::Server;
pub use tls::TlsFileError;
pub use work::{WorkLoad, WorkSettings};

//! The HTTP API of indexes, and a page for people: `scanns serve`.
//!
//! A [`Server`] takes any router whose handlers read the [`Caller`] from the extensions of a request. Then a
//! request goes through these files: `listen/` accepts connections within limits, `guard/` refuses what must
//! not pass, `identity/` decides who asks, and the router answers: `indexes/` has the indexes and what
//! callers see of them, `work/` the threads that answer, and `api/` the requests and answers. `caller.rs`
//! says who asks, and `problem.rs` how errors are told. `page/` has the page for people. `journal.rs` is the
//! log, and `metrics.rs` counts. `options.rs` has what can be chosen, `server.rs` starts and stops
//! everything, `notify.rs` tells the service manager, and `sys.rs` has calls of the system.

mod api;
mod caller;
mod error;
mod expired;
mod guard;
mod identity;
mod indexes;
mod journal;
mod listen;
mod metrics;
mod notify;
mod options;
mod page;
mod problem;
mod server;
mod sys;
mod work;

pub use api::{Api, ApiLoad, Limits, api_guide, router};
pub use axum::Router;
pub use caller::{Caller, Recognition};
pub use error::ServeError;
pub use guard::Gauges;
pub use indexes::{IndexSettings, IndexSource, Indexes, SourceError};
pub use listen::{SocketPlaceError, own_socket};
pub use metrics::Gauge;
pub use options::{Audience, ConnectionLimits, ListenOn, LogTarget, ServeOptions, TrustedProxy};
pub use problem::{Place, Problem};
pub use server::Server;
pub use work::{WorkLoad, WorkSettings};

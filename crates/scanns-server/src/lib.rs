//! The HTTP API of indexes, and a page for people: `scanns serve`.
//!
//! `caller.rs` says who asks, and `problem.rs` how errors are told. `indexes/` has the indexes and what
//! callers see of them, `work/` the threads that answer, and `api/` the requests and answers.

mod api;
mod caller;
mod indexes;
mod problem;
mod work;

pub use api::{Api, ApiLoad, Limits, router};
pub use indexes::{IndexSettings, IndexSource, Indexes, SourceError};
pub use work::{WorkLoad, WorkSettings};

pub use caller::Caller;
pub use problem::{Place, Problem};

//! The HTTP API of indexes, and a page for people: `scanns serve`.
//!
//! `caller.rs` says who asks, and `problem.rs` how errors are told.

mod caller;
mod problem;

pub use caller::Caller;
pub use problem::{Place, Problem};

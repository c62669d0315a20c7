//! Terms of an index: those that a pattern matches, the most frequent ones, and those that may have been
//! meant.
//!
//! `patterns/` knows leaves only, and the plan of a query uses it. `frequent.rs` and `suggest.rs` add to the
//! searcher.

pub(crate) mod frequent;
pub(crate) mod patterns;
pub(crate) mod suggest;
pub(crate) mod term_count;

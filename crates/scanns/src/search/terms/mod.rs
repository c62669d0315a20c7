//! Terms of an index: the terms that a pattern matches, the most frequent terms, and suggestions for misspelt
//! terms.
//!
//! `patterns/` depends on leaves only, and the plan of a query uses it. `frequent.rs` and `suggest.rs` add
//! methods to the searcher.

pub(crate) mod frequent;
pub(crate) mod patterns;
pub(crate) mod suggest;
pub(crate) mod term_count;

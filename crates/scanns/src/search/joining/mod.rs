//! Joins: the values of the documents that match the query inside, and the documents that have them.
//!
//! ```text
//! query inside ─► matches ─► values (gatherer.rs) ─► values of all leaves (values.rs)
//!                                                      └─► numbers of a leaf (leaf_numbers.rs) ─► documents
//! ```
//!
//! `joins.rs` of the search runs the query inside, once for each search. In each leaf, the values are looked
//! up in the dictionary of the column, or among the keys, once. Then documents are tested by numbers, in
//! `exec/joined.rs`. Read `values.rs` first.

pub(crate) mod gatherer;
pub(crate) mod leaf_numbers;
pub(crate) mod tally;
pub(crate) mod values;

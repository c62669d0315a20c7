//! Turns a query into a plan, which is run in every leaf.
//!
//! `planner.rs` lowers the tree of a query to a tree of nodes (`node.rs`), in which terms, fields, patterns
//! and ranges are indexes into the lists of a plan (`query_plan.rs`). `found.rs` has the terms and matches of
//! a plan in the leaves, of which threads find some together (`together.rs`), and `shape.rs` detects queries
//! that have faster algorithms than one document at a time, once their filters are set apart (`filtered.rs`)
//! and named (`filter_key.rs`).

mod filter_key;
pub(crate) mod filtered;
pub(crate) mod found;
mod join_check;
pub(crate) mod node;
mod planner;
mod query_plan;
pub(crate) mod shape;
mod together;

pub(crate) use query_plan::QueryPlan;

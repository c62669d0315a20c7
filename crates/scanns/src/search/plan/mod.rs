//! From a query to what is run in every leaf.
//!
//! `planner.rs` lowers the tree of a query to a tree of nodes (`node.rs`), in which terms, fields, patterns
//! and ranges are indexes into the lists of a plan (`query_plan.rs`). `found.rs` has what a plan finds in the
//! leaves, and `shape.rs` the queries that have faster algorithms than one document at a time.

pub(crate) mod found;
pub(crate) mod node;
mod planner;
mod query_plan;
pub(crate) mod shape;

pub(crate) use query_plan::QueryPlan;

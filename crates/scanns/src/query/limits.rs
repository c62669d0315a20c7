//! Limits on the size of queries. Both parsers and the planner enforce them.

/// The maximum number of terms of a query.
pub const MAX_CLAUSES: usize = 1024;

/// The maximum depth of nested parentheses and negations.
pub const MAX_DEPTH: usize = 64;

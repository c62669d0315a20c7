//! Limits on the size of queries. Both parsers and the planner enforce them.

/// The maximum number of terms of a query.
pub const MAX_CLAUSES: usize = 1024;

/// The maximum depth of nested parentheses and negations.
pub const MAX_DEPTH: usize = 64;

/// The maximum number of characters of a wildcard or a regular expression.
pub const MAX_PATTERN: usize = 1_000;

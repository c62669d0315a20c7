//! How large a query may be. Both parsers and the planner enforce these limits.

/// The most terms that a query may have.
pub const MAX_CLAUSES: usize = 1024;

/// The most levels of parentheses and negations, one inside the other.
pub const MAX_DEPTH: usize = 64;

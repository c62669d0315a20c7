//! Errors in the text of a query, with their position.

use crate::error::Error;

/// The error for a problem in `query` at character `at`, counted from 1.
pub(super) fn fault(query: &str, at: usize, message: &str) -> Error {
    Error::Query { query: query.to_owned(), message: message.to_owned(), at }
}

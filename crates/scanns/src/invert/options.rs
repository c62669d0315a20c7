//! The memory of an inverter, and what it keeps.

use crate::schema::Postings;
use crate::sys::PageSize;

/// The memory of one inverter, and what it keeps.
#[derive(Clone, Copy, Debug)]
pub struct InvertOptions {
    /// Bytes at which [`Inverter::is_full`](super::Inverter::is_full) returns true, whatever its limit.
    pub budget: usize,
    /// Number of distinct terms to make room for at once.
    pub expected_terms: usize,
    /// Pages that back the memory.
    pub pages: PageSize,
    /// What is kept of a term in a document.
    pub postings: Postings,
}

impl Default for InvertOptions {
    fn default() -> Self {
        InvertOptions {
            budget: 1 << 30,
            expected_terms: 0,
            pages: PageSize::Auto,
            postings: Postings::default(),
        }
    }
}

/// Bytes of text that may be pushed between two calls of [`Inverter::is_full`](super::Inverter::is_full).
pub const CHECK_EVERY: usize = 256 << 10;

//! Options of an inverter: its memory, and the details that it stores.

use crate::schema::Postings;
use crate::sys::PageSize;

/// Options of an inverter.
#[derive(Clone, Copy, Debug)]
pub struct InvertOptions {
    /// The number of bytes at which [`Inverter::is_full`](super::Inverter::is_full) returns true, regardless
    /// of its limit.
    pub budget: usize,
    /// The number of distinct terms to make room for initially.
    pub expected_terms: usize,
    /// Pages that back the memory.
    pub pages: PageSize,
    /// The details that postings contain.
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

/// The maximum number of bytes of text between two calls of [`Inverter::is_full`](super::Inverter::is_full).
pub const CHECK_EVERY: usize = 256 << 10;

//! Threads that share single queries, and the sizes from which sharing pays.

use crate::sys::Helpers;

/// Threads that share single queries; see [`Searcher::with_threads`](crate::search::Searcher::with_threads).
///
/// They start with the first query that is large enough and wait for the next one until this is dropped. Any
/// number of searchers may use them concurrently: if no thread is free, the calling thread does the work.
#[derive(Debug)]
pub struct SearchThreads {
    pub(crate) helpers: Helpers,
    pub(crate) sizes: SharingSizes,
}

/// The sizes from which sharing pays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharingSizes {
    /// The minimum estimated time of a query that is shared, in nanoseconds.
    pub(crate) query: u64,
    /// The minimum estimated time of a range of documents, in nanoseconds.
    pub(crate) range: u64,
    /// The minimum number of documents of a range.
    pub(crate) documents: u32,
}

/// Measured while the machine did other work: a query that is shared needlessly takes 25 to 60 µs longer, to
/// wake a helper and because each range starts without knowing which scores are high.
const SIZES: SharingSizes = SharingSizes { query: 400_000, range: 200_000, documents: 1 << 16 };

impl SearchThreads {
    /// Creates a pool of up to `threads` threads for one query, including the calling thread; at least 1.
    pub fn new(threads: usize) -> Self {
        SearchThreads { helpers: Helpers::new(threads.saturating_sub(1)), sizes: SIZES }
    }

    /// Shares every query in ranges of `documents` documents, rounded up to whole windows.
    #[cfg(test)]
    pub(crate) fn always(threads: usize, documents: u32) -> Self {
        let sizes = SharingSizes { query: 0, range: 0, documents };
        SearchThreads { sizes, ..SearchThreads::new(threads) }
    }

    /// Returns the maximum number of threads that work on one query.
    pub fn threads(&self) -> usize {
        self.helpers.most() + 1
    }
}

impl SharingSizes {
    /// Documents of each range of a leaf with `max_doc` documents that takes `time` nanoseconds, in multiples
    /// of `grain`.
    pub(crate) fn range_of(&self, time: u64, max_doc: u32, grain: u32) -> u32 {
        let most = u64::from(max_doc / self.documents.max(1)).max(1);
        let ranges = time.checked_div(self.range).unwrap_or(u64::MAX).clamp(1, most);
        let documents = u64::from(max_doc).div_ceil(ranges).next_multiple_of(u64::from(grain));
        u32::try_from(documents).unwrap_or(u32::MAX)
    }
}

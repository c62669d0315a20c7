//! What a request may take: time, hits, bytes, threads.

use std::time::Duration;

use crate::work::WorkSettings;

/// What a request may take. All have defaults.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time of a query, without facets. A request can ask for less.
    pub query_time: Duration,
    /// The time of all facets of a query. A request can ask for less.
    pub facet_time: Duration,
    /// The maximum number of hits of an answer, of all groups together.
    pub window: usize,
    /// The maximum size of a body in bytes.
    pub body: usize,
    /// The maximum size of a batch of queries in bytes, and the maximum number of queries in it.
    pub batch: (usize, usize),
    /// The maximum number of bytes of the hits of an answer, as JSON.
    pub answer: usize,
    /// The maximum number of facets, statistics and numbers of different values of a request.
    pub aggregations: usize,
    /// The maximum number of values that a facet shows.
    pub buckets: usize,
    /// The memory of an export that is sorted, in bytes. What does not fit goes to temporary files.
    pub sort_memory: usize,
    /// The threads for requests, and how many may wait.
    pub work: WorkSettings,
    /// The threads for exports, and how many may wait.
    pub exports: WorkSettings,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            query_time: Duration::from_secs(10),
            facet_time: Duration::from_secs(10),
            window: 10_000,
            body: 1 << 20,
            batch: (16 << 20, 1000),
            answer: 32 << 20,
            aggregations: 64,
            buckets: 10_000,
            sort_memory: 64 << 20,
            work: WorkSettings { threads: cores, of_one_user: cores, waiting: cores * 32 },
            exports: WorkSettings { threads: 4, of_one_user: 2, waiting: 8 },
        }
    }
}

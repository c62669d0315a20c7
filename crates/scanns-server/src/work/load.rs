//! What the threads do, and why a job has no result.

use std::time::Duration;

/// Why a job has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkError {
    /// All threads are busy and all places to wait are taken; try again after this time.
    Busy(Duration),
    /// The job panicked.
    Panicked,
}

/// The numbers of jobs of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkLoad {
    /// Jobs that run.
    pub running: usize,
    /// Jobs that wait.
    pub waiting: usize,
    /// Jobs that were refused since the start.
    pub refused: u64,
    /// Jobs that panicked since the start.
    pub panicked: u64,
}

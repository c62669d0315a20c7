//! How a merge is done.

use crate::segment::flush::FlushBuffers;

/// How a merge is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeWork {
    /// Buffers of the new file.
    pub buffers: FlushBuffers,
    /// Threads that merge terms, at least 1.
    pub threads: usize,
    /// Bytes of the sources that a thread merges at a time, if there are several threads.
    pub piece: u64,
}

impl Default for MergeWork {
    fn default() -> Self {
        MergeWork { buffers: FlushBuffers::default(), threads: 1, piece: 4 << 20 }
    }
}

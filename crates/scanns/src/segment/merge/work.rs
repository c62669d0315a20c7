//! The resources of a merge.

use crate::segment::flush::FlushBuffers;

/// The resources of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeWork {
    /// Buffer sizes for the new file.
    pub buffers: FlushBuffers,
    /// The number of threads that merge terms, at least 1.
    pub threads: usize,
    /// Bytes of the sources that a thread merges in one piece, if there are several threads.
    pub piece: u64,
}

impl Default for MergeWork {
    fn default() -> Self {
        MergeWork { buffers: FlushBuffers::default(), threads: 1, piece: 4 << 20 }
    }
}

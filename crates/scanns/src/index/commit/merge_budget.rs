//! The memory reserved for merging in the background.

/// The buffers of a merge in the background.
const MERGE_BUFFERS: u64 = 4 << 20;

/// The minimum memory for a merge, including its buffers.
const LEAST_FOR_MERGING: u64 = 24 << 20;

/// The bytes reserved for background merging under a memory cap of `cap` bytes.
pub(crate) fn merging_bytes(cap: u64) -> u64 {
    LEAST_FOR_MERGING + cap / 64
}

/// The bytes that such a merge may use in addition to its buffers: norms, new document numbers, sparse
/// indexes.
pub(crate) fn merging_room(cap: u64) -> u64 {
    merging_bytes(cap) - MERGE_BUFFERS
}

//! Numbers and texts in the records of a list.

/// `bytes` up to the first NUL byte.
pub(super) fn text_of(bytes: &[u8]) -> &[u8] {
    bytes.get(..memchr::memchr(0, bytes).unwrap_or(bytes.len())).unwrap_or(bytes)
}

/// The number at `at`; 0 behind the end.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().map(u64::from_be_bytes).unwrap_or_default()
}

/// A length as an index; lengths that are used fit.
pub(super) fn usize_of(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

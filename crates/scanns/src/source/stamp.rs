//! What tells whether a file has changed since it was indexed.

/// Size and time of modification, which tell whether a file has changed since it was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its size in bytes.
    pub bytes: u64,
    /// The time of the last modification, in nanoseconds since 1970.
    pub modified: i64,
}

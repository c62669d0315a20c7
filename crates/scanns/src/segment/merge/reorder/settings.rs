//! The resources for computing an order.

/// The resources for computing an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// The maximum number of bytes of memory to use.
    pub memory: u64,
    /// The number of threads to use, at least 1.
    pub threads: usize,
}

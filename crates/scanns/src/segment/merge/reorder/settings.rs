//! The resources for finding an order.

/// The resources for finding an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// Most bytes of memory to use.
    pub memory: u64,
    /// Threads to use, at least 1.
    pub threads: usize,
}

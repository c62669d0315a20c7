//! The bytes of one immutable file, mapped or owned.

use std::ops::Deref;
use std::sync::Arc;

/// Cheap to clone; derefs to the bytes.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// A file mapped into memory.
    Mapped(Arc<memmap2::Mmap>),
    /// A file held in memory.
    Owned(Arc<[u8]>),
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

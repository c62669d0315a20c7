//! The bytes of one immutable file, mapped or owned.

use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// The bytes of a file: cheap to clone, dereferences to a slice. Can be created from a `Vec<u8>` or an
/// `Arc<[u8]>`.
#[derive(Clone, Debug)]
pub struct Bytes(Storage);

#[derive(Clone, Debug)]
enum Storage {
    Mapped(Arc<Mmap>),
    Owned(Arc<[u8]>),
}

impl Bytes {
    /// A file mapped into memory.
    pub(super) fn mapped(map: Mmap) -> Self {
        Bytes(Storage::Mapped(Arc::new(map)))
    }
}

impl From<Arc<[u8]>> for Bytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Bytes(Storage::Owned(bytes))
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes(Storage::Owned(bytes.into()))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Mapped(map) => map,
            Storage::Owned(bytes) => bytes,
        }
    }
}

//! The interface between the index and its storage.

use std::fmt::Debug;
use std::io::Write;

use super::Bytes;
use crate::error::Result;

/// A flat set of named files.
///
/// A file is written once from front to back and never changed; only [`Directory::rename`] binds a name to
/// new content. The bytes of a file are durable after [`Output::finish`], and its name after
/// [`Directory::sync`].
///
/// Programs can implement their own storage: `examples/directory.rs` keeps an index in an object store.
pub trait Directory: Debug + Send + Sync {
    /// Creates a file; a file with the same name is replaced.
    fn create(&self, name: &str) -> Result<Box<dyn Output>>;

    /// Opens a file and returns its bytes.
    fn open(&self, name: &str) -> Result<Bytes>;

    /// Renames a file; a file with the new name is replaced.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a file; it is not an error if the file does not exist.
    fn remove(&self, name: &str) -> Result<()>;

    /// Returns the names of all files, in any order.
    fn list(&self) -> Result<Vec<String>>;

    /// Makes created, renamed and removed names durable.
    fn sync(&self) -> Result<()>;

    /// Takes the writer's lock, so that this process is the only writer; fails with
    /// [`Error::Locked`](crate::Error::Locked) if another process has it.
    fn lock(&self) -> Result<WriterLock>;

    /// The location of the directory, for messages.
    fn describe(&self) -> String;

    /// True if a file can be opened as soon as all its bytes are written, before [`Output::finish`] makes
    /// them durable. Otherwise a writer finishes a file before it is read.
    fn reads_unfinished(&self) -> bool {
        false
    }

    /// True if files may be removed while they are read, so that readers must take leases.
    ///
    /// On a local file system and in memory, an open file stays readable after its name is removed.
    fn needs_leases(&self) -> bool {
        false
    }

    /// Protects the files of a commit until the lease is dropped or the process ends. Returns `None` if a
    /// writer is removing the files, which means that there is a newer commit. If the storage has no leases,
    /// the returned lease protects nothing.
    fn lease(&self, _generation: u64) -> Option<Lease> {
        Some(Lease::unneeded())
    }

    /// Takes the right to remove the files of a commit while the lease is held; returns `None` if a reader
    /// uses them.
    fn retire(&self, _generation: u64) -> Option<Lease> {
        Some(Lease::unneeded())
    }
}

/// A file being written. [`Write::flush`] tells the medium to start writing, and does not wait.
pub trait Output: Write + Send {
    /// Writes all bytes to the medium and closes the file.
    ///
    /// # Errors
    /// If the file could not be made durable. It must not be used then.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Holds the writer's lock until it is dropped.
#[derive(Debug)]
pub struct WriterLock {
    _held: Box<dyn Debug + Send + Sync>,
}

impl WriterLock {
    /// Creates a lock that is released when `held` is dropped.
    pub fn new(held: impl Debug + Send + Sync + 'static) -> Self {
        WriterLock { _held: Box::new(held) }
    }
}

/// The right to use the files of a commit, or to remove them, until it is dropped.
#[derive(Debug)]
pub struct Lease {
    _held: Option<Box<dyn Debug + Send + Sync>>,
}

impl Lease {
    /// Creates a lease that ends when `held` is dropped.
    pub fn new(held: impl Debug + Send + Sync + 'static) -> Self {
        Lease { _held: Some(Box::new(held)) }
    }

    /// Creates a lease for storage that does not need leases.
    pub fn unneeded() -> Self {
        Lease { _held: None }
    }
}

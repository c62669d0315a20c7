//! The seam between the index and its storage.

use std::fmt::Debug;
use std::io::Write;

use super::Bytes;
use crate::error::Result;

/// A flat set of named files.
///
/// Files are written once from front to back and never changed; a name is bound to new content only by
/// [`Directory::rename`]. What was written is durable after [`Output::finish`] and, for the name,
/// [`Directory::sync`].
///
/// Programs can bring their own: `examples/directory.rs` keeps an index in a store of objects.
pub trait Directory: Debug + Send + Sync {
    /// Begins a new file; a file of that name is replaced.
    fn create(&self, name: &str) -> Result<Box<dyn Output>>;

    /// The bytes of a file.
    fn open(&self, name: &str) -> Result<Bytes>;

    /// Gives a file another name, replacing the file that has it.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a file; one that is gone already is no error.
    fn remove(&self, name: &str) -> Result<()>;

    /// Names of all files, in no order.
    fn list(&self) -> Result<Vec<String>>;

    /// Makes names created, renamed and removed durable.
    fn sync(&self) -> Result<()>;

    /// Takes the lock that makes this process the only writer, or says that another has it.
    fn lock(&self) -> Result<WriterLock>;

    /// Where this is, for messages.
    fn describe(&self) -> String;

    /// True if files may go away under those who read them, so that readers have to say what they use.
    ///
    /// On a file system of one machine, and in memory, a file that is in use stays when its name goes.
    fn needs_leases(&self) -> bool {
        false
    }

    /// Keeps the files of a commit until the lease is dropped or the process ends; `None` if a writer is
    /// removing them right now, so that a newer commit is there. Where that cannot be done, the lease
    /// keeps nothing.
    fn lease(&self, _generation: u64) -> Option<Lease> {
        Some(Lease::unneeded())
    }

    /// Takes the right to remove the files of a commit for as long as the lease is held; `None` if a reader
    /// uses them.
    fn retire(&self, _generation: u64) -> Option<Lease> {
        Some(Lease::unneeded())
    }
}

/// A file being written; [`Write::flush`] has the medium start on what was written and waits for nothing.
pub trait Output: Write + Send {
    /// Writes everything through to the medium and closes the file.
    ///
    /// # Errors
    /// If anything could not be made durable; the file must then not be used.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Holds the writer's lock until it is dropped.
#[derive(Debug)]
pub struct WriterLock {
    _held: Box<dyn Debug + Send + Sync>,
}

impl WriterLock {
    /// A lock that is free again when `held` is dropped.
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
    /// A lease that ends when `held` is dropped.
    pub fn new(held: impl Debug + Send + Sync + 'static) -> Self {
        Lease { _held: Some(Box::new(held)) }
    }

    /// A lease where files stay without one.
    pub fn unneeded() -> Self {
        Lease { _held: None }
    }
}

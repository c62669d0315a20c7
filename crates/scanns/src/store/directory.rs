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
    /// The resource whose release frees the lock.
    pub(super) _held: Box<dyn Debug + Send + Sync>,
}

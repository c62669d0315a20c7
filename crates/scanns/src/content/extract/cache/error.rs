//! Why a directory is refused as a cache.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why the cache of extracted text cannot be used.
#[derive(Debug, Error)]
pub enum ExtractCacheError {
    /// The system refuses an operation.
    #[error("cannot use {} as a cache of extracted text: {error}", .directory.display())]
    Io {
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// Another user owns the directory, and could put wrong text into it.
    #[error(
        "{} belongs to user {owner}, but this is user {user}; each user needs a cache of their own, because \
         it holds the text of their documents",
        .directory.display()
    )]
    Owner {
        /// The directory.
        directory: PathBuf,
        /// The number of its owner.
        owner: u32,
        /// The number of this user.
        user: u32,
    },
    /// Other users can write to the directory.
    #[error(
        "other users can write to {} (mode {mode:04o}), and could put wrong text into it; run: chmod 700 {}",
        .directory.display(),
        .directory.display()
    )]
    Writable {
        /// The directory.
        directory: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The directory holds other files.
    #[error(
        "{} holds other files, such as {name}, and is not a cache of extracted text; give an empty or a new \
         directory",
        .directory.display()
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// The name of one of the files.
        name: String,
    },
}

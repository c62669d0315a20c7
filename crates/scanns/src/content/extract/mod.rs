//! Text extraction in child processes. Parsers of documents crash, hang and use all memory on bad files, so
//! they run apart from the engine: a file goes in as a descriptor, its text and fields come out.
//!
//! Start with `pool.rs` (which child serves which file); `process.rs` is one of them, which `child.rs` starts
//! and ends, `exchange.rs` sends one file and receives one answer, `frame.rs` has the messages. `cache/`
//! keeps answers for later builds. `table_stream.rs` reads the rows of a table from a child. The other end is
//! the crate `scanns-extract`.

mod cache;
mod child;
mod exchange;
mod failure;
pub mod frame;
mod pool;
mod process;
mod table_stream;

use std::ffi::OsString;
use std::path::PathBuf;

pub use cache::{CacheNotes, ExtractCache, ExtractCacheError, ExtractCacheOptions};
pub use failure::ExtractFailure;
pub use pool::Extractors;
pub use table_stream::TableConverter;
pub(crate) use table_stream::{TableStream, TakeRemark};

/// The command that starts a child: a program that serves files on its standard input, a Unix socket.
#[derive(Clone, Debug)]
pub struct ExtractorCommand {
    /// The program, such as `/proc/self/exe`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// What one file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractLimits {
    /// Bytes of address space of a child.
    pub memory: u64,
    /// Seconds from sending a file to its whole answer.
    pub seconds: u64,
    /// Bytes of text; the text of a longer document is cut. At most 4 GiB.
    pub text: u64,
    /// Fields of a document; further ones are left out.
    pub fields: u64,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self { memory: 2 << 30, seconds: 60, text: 64 << 20, fields: 1000 }
    }
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The format that the child found, such as `pdf`.
    pub format: String,
    /// Valid UTF-8.
    pub text: Vec<u8>,
    /// Names and values, such as `title` or `author`.
    pub fields: Vec<(String, String)>,
    /// A limit ended the text or the fields.
    pub cut: bool,
}

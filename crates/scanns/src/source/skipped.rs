//! A count of entries that something happened to, with an example.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A count of entries, with an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// The path of the first.
    pub first: Option<PathBuf>,
}

impl Skipped {
    pub(crate) fn add(&mut self, path: &[u8]) {
        self.count += 1;
        self.first.get_or_insert_with(|| PathBuf::from(OsStr::from_bytes(path)));
    }

    pub(crate) fn append(&mut self, other: Skipped) {
        self.count += other.count;
        if self.first.is_none() {
            self.first = other.first;
        }
    }
}

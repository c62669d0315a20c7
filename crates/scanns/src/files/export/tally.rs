//! What an export tells about entries that it could not write in full.

use crate::files::find::{UnknownColumn, lack};

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReport {
    /// Entries that were written, without the added directories.
    pub entries: u64,
    /// Directories that were written although they were not asked for, because the format needs them.
    pub added: u64,
    /// Directories of which the index has no entry; they were written with their path alone.
    pub made_up: u64,
    /// The first of them.
    pub first_made_up: Vec<u8>,
    /// Values that the format has and the index does not know, by their name.
    pub unknown: Vec<UnknownColumn>,
    /// Paths that were asked for and are not in the index.
    pub missing: Vec<Vec<u8>>,
    /// Entries that are not below the directory of relative paths, or whose path is too long for the format;
    /// they were left out.
    pub left_out: u64,
    /// The first of them.
    pub first_left_out: Vec<u8>,
    /// Names with a line feed in a format in which it ends a path.
    pub divided: u64,
    /// The first of them.
    pub first_divided: Vec<u8>,
}

impl ExportReport {
    /// True if all that was asked for was written as the format wants it.
    pub fn is_whole(&self) -> bool {
        self.unknown.is_empty()
            && self.missing.is_empty()
            && self.made_up == 0
            && self.left_out == 0
            && self.divided == 0
    }

    /// Counts a value that is not known.
    pub(super) fn lack(&mut self, value: &str, path: &[u8]) {
        lack(&mut self.unknown, value, path);
    }

    /// Counts a directory that was made up.
    pub(super) fn make_up(&mut self, path: &[u8]) {
        count(&mut self.made_up, &mut self.first_made_up, path);
    }

    /// Counts an entry that was left out.
    pub(super) fn leave_out(&mut self, path: &[u8]) {
        count(&mut self.left_out, &mut self.first_left_out, path);
    }

    /// Counts a path that its reader will divide.
    pub(super) fn divide(&mut self, path: &[u8]) {
        count(&mut self.divided, &mut self.first_divided, path);
    }
}

fn count(count: &mut u64, first: &mut Vec<u8>, path: &[u8]) {
    if *count == 0 {
        *first = path.to_vec();
    }
    *count += 1;
}

//! What was wrong with rules: damaged patterns, and files that could not be read. Nothing of it ends a walk.

use std::io;
use std::path::{Path, PathBuf};

/// A pattern that can match nothing, such as `a[b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPattern {
    /// The file in which it stands.
    pub file: PathBuf,
    /// The number of its line, from 1.
    pub line: u64,
    /// Its first 200 bytes.
    pub text: Vec<u8>,
    /// What is wrong.
    pub reason: &'static str,
}

/// A file of rules that could not be read, so the walk goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadRules {
    /// The file.
    pub file: PathBuf,
    /// The reason, as text.
    pub reason: String,
}

/// Counts of what was wrong with rules, with the first of each kind. Its size does not grow with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoreFaults {
    /// The number of damaged patterns. They were left out.
    pub damaged: u64,
    /// One of them.
    pub first_damaged: Option<DamagedPattern>,
    /// The number of files that could not be read.
    pub unread: u64,
    /// One of them.
    pub first_unread: Option<UnreadRules>,
}

impl IgnoreFaults {
    /// Adds what another thread found.
    pub fn append(&mut self, other: IgnoreFaults) {
        self.damaged += other.damaged;
        self.unread += other.unread;
        self.first_damaged = self.first_damaged.take().or(other.first_damaged);
        self.first_unread = self.first_unread.take().or(other.first_unread);
    }

    /// Counts a file that could not be read.
    pub(super) fn add_unread(&mut self, file: &Path, error: &io::Error) {
        self.unread += 1;
        let of_file = || UnreadRules { file: file.to_path_buf(), reason: error.to_string() };
        self.first_unread.get_or_insert_with(of_file);
    }
}

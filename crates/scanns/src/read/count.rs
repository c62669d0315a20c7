//! Counts of files that are not plain text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The number of files of one kind, with an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentCount {
    /// The kind: a binary format, or how text is encoded.
    pub kind: String,
    /// The number of files.
    pub files: u64,
    /// The sum of their sizes in bytes.
    pub bytes: u64,
    /// The first of them by path.
    pub example: PathBuf,
}

/// Counts by kind.
#[derive(Debug, Default)]
pub(super) struct ContentCounts {
    kinds: BTreeMap<String, ContentCount>,
}

impl ContentCounts {
    /// Counts a file.
    pub(super) fn add(&mut self, kind: &str, bytes: u64, path: &Path) {
        let count = self.kinds.entry(kind.into()).or_insert_with(|| ContentCount {
            kind: kind.into(),
            example: path.into(),
            ..ContentCount::default()
        });
        count.files += 1;
        count.bytes += bytes;
        if path < count.example.as_path() {
            count.example = path.into();
        }
    }

    /// All counts, the most frequent kind first.
    pub(super) fn list(&self) -> Vec<ContentCount> {
        let mut counts: Vec<_> = self.kinds.values().cloned().collect();
        counts.sort_by(|a, b| b.files.cmp(&a.files).then_with(|| a.kind.cmp(&b.kind)));
        counts
    }
}

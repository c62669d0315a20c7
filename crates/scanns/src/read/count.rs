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
pub(crate) struct ContentCounts {
    kinds: BTreeMap<String, ContentCount>,
}

impl ContentCounts {
    /// Counts a file.
    pub(crate) fn add(&mut self, kind: &str, bytes: u64, path: &Path) {
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

    /// Adds them to a list, which has the most frequent kind first.
    pub(crate) fn add_to(&self, list: &mut Vec<ContentCount>) {
        for count in self.kinds.values() {
            match list.iter_mut().find(|known| known.kind == count.kind) {
                Some(known) => {
                    known.files += count.files;
                    known.bytes += count.bytes;
                    if count.example < known.example {
                        known.example.clone_from(&count.example);
                    }
                }
                None => list.push(count.clone()),
            }
        }
        sort(list);
    }

    /// All counts, the most frequent kind first.
    pub(super) fn list(&self) -> Vec<ContentCount> {
        let mut counts: Vec<_> = self.kinds.values().cloned().collect();
        sort(&mut counts);
        counts
    }
}

fn sort(counts: &mut [ContentCount]) {
    counts.sort_by(|a, b| b.files.cmp(&a.files).then_with(|| a.kind.cmp(&b.kind)));
}

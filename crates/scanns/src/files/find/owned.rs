//! A copy of an entry, for directories that wait until the entries below them are done.

use std::ops::Range;

use crate::source::Entry;

/// A copy of an entry that keeps its memory when it takes the next one.
#[derive(Debug, Default)]
pub(super) struct WaitingEntry {
    bytes: Vec<u8>,
    path: Range<usize>,
    target: Option<Range<usize>>,
    owner: Option<Range<usize>>,
    group: Option<Range<usize>>,
    pool: Option<Range<usize>>,
    /// The columns that are no bytes.
    fixed: Entry<'static>,
}

impl WaitingEntry {
    /// Becomes a copy of an entry.
    pub(super) fn copy(&mut self, entry: &Entry) {
        self.bytes.clear();
        self.path = self.keep(entry.path);
        self.target = entry.target.map(|bytes| self.keep(bytes));
        self.owner = entry.owner.map(|bytes| self.keep(bytes));
        self.group = entry.group.map(|bytes| self.keep(bytes));
        self.pool = entry.pool.map(|bytes| self.keep(bytes));
        self.fixed = Entry {
            path: b"",
            target: None,
            owner: None,
            group: None,
            pool: None,
            xattrs: None,
            acl: None,
            access: None,
            ..*entry
        };
    }

    /// The entry.
    pub(super) fn entry(&self) -> Entry<'_> {
        let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
        Entry {
            path: bytes(&self.path),
            target: self.target.as_ref().map(bytes),
            owner: self.owner.as_ref().map(bytes),
            group: self.group.as_ref().map(bytes),
            pool: self.pool.as_ref().map(bytes),
            ..self.fixed
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}

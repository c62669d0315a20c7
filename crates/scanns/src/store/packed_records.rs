//! Records one after the other in one allocation, and their order.

use std::cmp::Ordering;

/// Compares two records.
pub(crate) type RecordOrder = fn(&[u8], &[u8]) -> Ordering;

/// Records one after the other in one allocation.
#[derive(Debug, Default)]
pub(crate) struct PackedRecords {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl PackedRecords {
    /// Adds a record.
    pub(crate) fn push(&mut self, record: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(record));
    }

    /// Adds the record that `put` appends.
    pub(crate) fn push_with(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The memory that they take.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<usize>()
    }

    /// The bytes of a record; empty if there are not as many.
    pub(crate) fn record(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(at).copied());
        range.and_then(|(start, end)| self.bytes.get(start..end)).unwrap_or_default()
    }
}

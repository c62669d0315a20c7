//! A record whose values are not places in its bytes: a parser makes them.

use std::ops::Range;

/// The values of a record, in a buffer of their own.
#[derive(Clone, Debug, Default)]
pub struct MadeRecord {
    bytes: Vec<u8>,
    /// The number of the name of each value, and its place in `bytes`.
    values: Vec<(u32, Range<usize>)>,
}

impl MadeRecord {
    /// Forgets all values.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
    }

    /// Adds a value for the name with a number, unless it is empty.
    pub fn put(&mut self, name: u32, value: &[u8]) {
        self.make(name, |bytes| bytes.extend_from_slice(value));
    }

    /// Adds the value that `write` appends to the buffer, unless it is empty. Bytes that are not UTF-8 become
    /// U+FFFD.
    pub fn make(&mut self, name: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let value = self.bytes.get(start..).unwrap_or_default();
        if simdutf8::basic::from_utf8(value).is_err() {
            let valid = String::from_utf8_lossy(value).into_owned();
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(valid.as_bytes());
        }
        if self.bytes.len() > start {
            self.values.push((name, start..self.bytes.len()));
        }
    }

    /// The buffer of all values.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The numbers of the names and the places of the values, in order.
    pub fn values(&self) -> impl Iterator<Item = (u32, Range<usize>)> {
        self.values.iter().cloned()
    }
}

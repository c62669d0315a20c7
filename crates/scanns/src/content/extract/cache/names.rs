//! The names of files in a cache.
//!
//! ```text
//! DIR/scanns-extract-cache        the marker: it makes a directory a cache
//! DIR/tmp-0123456789abcdef        an entry that is being written
//! DIR/ab/cdef…                    an entry: the hash of its key, 2 and 30 hexadecimal digits
//! ```

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};

/// The name of the marker.
pub(super) const MARKER: &str = "scanns-extract-cache";
/// The beginning of the names of files that are being written.
const TEMPORARY: &str = "tmp-";
/// Digits of the name of an entry in its sub-directory.
const DIGITS: usize = 30;

/// The place of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EntryName {
    /// Of the sub-directory.
    pub(super) group: u8,
    /// In the sub-directory.
    pub(super) rest: [u8; DIGITS],
}

impl EntryName {
    pub(super) fn of(hash: &[u8; 16]) -> Self {
        let [group, others @ ..] = hash;
        let mut rest = [0; DIGITS];
        for (pair, byte) in rest.as_chunks_mut::<2>().0.iter_mut().zip(others) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        Self { group: *group, rest }
    }

    /// The place of the entry with this name in a sub-directory; `None` for a file that is not an entry.
    pub(super) fn parse(group: u8, name: &[u8]) -> Option<Self> {
        let rest = <[u8; DIGITS]>::try_from(name).ok()?;
        rest.iter().all(is_digit).then_some(Self { group, rest })
    }
}

/// The name of a sub-directory.
pub(super) fn group_name(group: u8) -> String {
    format!("{group:02x}")
}

/// A name for a new file that no other process chooses.
pub(super) fn temporary_name() -> String {
    let mut name = TEMPORARY.to_owned();
    // Every state of the standard library has other random keys.
    let number = RandomState::new().hash_one(std::process::id());
    // Writing to a string does not fail.
    let _ = write!(name, "{number:016x}");
    name
}

/// True for a file that is being written, or was when its process ended.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    let digits = name.strip_prefix(TEMPORARY.as_bytes());
    digits.is_some_and(|digits| digits.len() == 16 && digits.iter().all(is_digit))
}

/// True for a name that a cache may have at its top.
pub(super) fn is_of_cache(name: &[u8]) -> bool {
    let is_group = name.len() == 2 && name.iter().all(is_digit);
    is_group || is_temporary(name) || name == MARKER.as_bytes()
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

fn is_digit(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_entry_is_its_hash() {
        let name = EntryName::of(&std::array::from_fn(|at| u8::try_from(0xab + at * 3).unwrap()));
        assert_eq!(name.group, 0xab);
        assert_eq!(&name.rest, b"aeb1b4b7babdc0c3c6c9cccfd2d5d8");
        assert_eq!(EntryName::parse(0xab, &name.rest), Some(name.clone()));
        assert_eq!(EntryName::parse(0xab, b"tmp"), None);
        assert_eq!(EntryName::parse(0xab, &name.rest.to_ascii_uppercase()), None);
    }

    #[test]
    fn names_of_a_cache_are_told_from_others() {
        assert!(is_temporary(temporary_name().as_bytes()));
        assert_ne!(temporary_name(), temporary_name());
        for (name, expected) in [
            (MARKER, true),
            ("0f", true),
            ("tmp-0123456789abcdef", true),
            ("0F", false),
            ("thesis.pdf", false),
            ("tmp-", false),
            ("", false),
        ] {
            assert_eq!(is_of_cache(name.as_bytes()), expected, "{name}");
        }
    }
}

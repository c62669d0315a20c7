//! The comparison of answers by two digests of each answer.
//!
//! The strict digest covers the whole answer, in order:
//!
//! - facets: values and counts, the highest count first, ties by the least value
//! - groups: the number of groups, and their values, counts and heads
//! - sorts: ids and lengths, the longest document first, ties by the first document
//! - fields of hits: the values
//! - exports: the bytes
//!
//! The loose digest leaves out what depends on the order of ties, for engines that do not define this order.
//! It covers, for example, only the counts of facets and the lengths of a sort.

use serde::{Deserialize, Serialize};

/// A 64-bit FNV-1a hash, which takes two lines in any language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a number: its bytes, little-endian.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Adds a string: its length and its bytes.
    pub fn string(&mut self, string: &[u8]) {
        self.number(string.len() as u64);
        self.bytes(string);
    }

    /// Returns the hash in hexadecimal digits.
    pub fn finish(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The digests of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// The digest of the whole answer.
    pub strict: String,
    /// The digest of what does not depend on the order of ties.
    pub loose: String,
}

/// Both digests during their computation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both {
    /// The digest of the whole answer.
    pub strict: Digest,
    /// The digest of what does not depend on the order of ties.
    pub loose: Digest,
}

impl Both {
    /// Adds a number to both digests.
    pub fn number(&mut self, number: u64) {
        self.strict.number(number);
        self.loose.number(number);
    }

    /// Returns both digests in hexadecimal digits.
    pub fn finish(self) -> Digests {
        Digests { strict: self.strict.finish(), loose: self.loose.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_fnv_1a_and_tells_strings_apart() {
        let of = |strings: &[&str]| {
            let mut digest = Digest::default();
            strings.iter().for_each(|string| digest.string(string.as_bytes()));
            digest.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        let mut known = Digest::default();
        known.bytes(b"foobar");
        assert_eq!(known.finish(), "85944171f73967e8", "the value published by the authors of FNV");
    }
}

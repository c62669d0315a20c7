//! What answers have in common: two digests of each.
//!
//! The strict one takes in everything that was found, in its order: of facets values and counts, the most
//! frequent first and of equal ones the least value; of groups their number, values, counts and heads; of a
//! sort ids and lengths, the longest first and of equal ones the first document; of hits their values; of an
//! export its bytes. The loose one leaves out what the order of equal ones decides, for engines that define
//! none: it has counts of facets and lengths of a sort only.

use serde::{Deserialize, Serialize};

/// FNV-1a of 64 bits, which takes two lines in any language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes in bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Takes in a number: its bytes, little-endian.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Takes in a string: its length and its bytes.
    pub fn string(&mut self, string: &[u8]) {
        self.number(string.len() as u64);
        self.bytes(string);
    }

    /// In hexadecimal digits.
    pub fn finish(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// What was found, as far as it is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// Everything.
    pub strict: String,
    /// What no order of equal ones decides.
    pub loose: String,
}

/// Both digests while they are made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both {
    /// Everything.
    pub strict: Digest,
    /// What no order of equal ones decides.
    pub loose: Digest,
}

impl Both {
    /// Takes a number into both.
    pub fn number(&mut self, number: u64) {
        self.strict.number(number);
        self.loose.number(number);
    }

    /// In hexadecimal digits.
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
        assert_eq!(known.finish(), "85944171f73967e8", "the value that the authors of FNV publish");
    }
}

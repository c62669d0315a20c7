//! A digest of stored text, to check that all engines return the same. It does not depend on the order of
//! documents.
//!
//! The digest covers only the ASCII bytes of a document, because tantivy stores text and replaces invalid
//! UTF-8 by replacement characters. The Java adapter computes the same digest.

use crate::protocol::Contents;

/// Computes the digest of the documents that are read back.
#[derive(Debug, Default)]
pub struct Digest {
    contents: Contents,
    ascii: Vec<u8>,
}

impl Digest {
    /// Adds one document: a file, or a line without its end.
    pub fn add(&mut self, document: &[u8]) {
        let ascii = if document.is_ascii() {
            document
        } else {
            self.ascii.clear();
            self.ascii.extend(document.iter().filter(|byte| byte.is_ascii()));
            &self.ascii
        };
        self.contents.bytes += ascii.len() as u64;
        self.contents.crcs += u64::from(crc32fast::hash(ascii));
    }

    /// Returns the digest of all added documents.
    pub fn finish(self) -> Contents {
        self.contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(documents: &[&[u8]]) -> Contents {
        let mut digest = Digest::default();
        documents.iter().for_each(|document| digest.add(document));
        digest.finish()
    }

    #[test]
    fn order_and_replaced_bytes_do_not_matter_and_all_else_does() {
        // The check value of CRC-32, from its catalogue.
        assert_eq!(of(&[b"123456789"]), Contents { bytes: 9, crcs: 0xcbf4_3926 });
        assert_eq!(of(&[b"one", b"two"]), of(&[b"two", b"one"]));
        assert_eq!(of(&[b"caf\xe9 au lait"]), of(&["caf\u{fffd} au lait".as_bytes()]));
        for other in [&[&b"one"[..], b"twp"][..], &[b"onetwo"], &[b"one", b"two", b"two"], &[]] {
            assert_ne!(of(&[b"one", b"two"]), of(other), "{other:?}");
        }
    }
}

//! A section of an open file. The checksum of a block is verified at the first access to the block.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::Bytes;
use crate::error::{Error, Result};
use crate::sys::prefetch;

/// The number of bytes of a section under one checksum.
pub(super) const BLOCK: usize = 16 << 10;

/// A section of an open file; its bytes are verified when they are accessed.
#[derive(Debug)]
pub struct Section {
    pub(super) bytes: Bytes,
    pub(super) range: Range<usize>,
    /// The range of the checksums of its blocks in the file; the table was verified when the file was opened.
    pub(super) checks: Range<usize>,
    /// One bit per block, set after the checksum of the block was verified.
    pub(super) verified: Vec<AtomicU64>,
    pub(super) name: Arc<str>,
}

impl Section {
    /// Creates a section without bytes.
    pub fn empty() -> Arc<Self> {
        let bytes = Bytes::from(Vec::new());
        Arc::new(Section { bytes, range: 0..0, checks: 0..0, verified: Vec::new(), name: "".into() })
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// An [`Error::Corrupt`] about this file.
    pub fn corrupt(&self, what: impl Into<String>) -> Error {
        Error::corrupt(&*self.name, what)
    }

    /// Verifies the bytes `range` of the section and returns them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the range exceeds the section or a checksum is wrong.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> Result<&[u8]> {
        let content = self.bytes.get(self.range.clone()).unwrap_or_default();
        let Some(wanted) = content.get(range.clone()) else {
            return Err(
                self.corrupt(format!("bytes {range:?} are outside of a section of {} bytes", content.len()))
            );
        };
        if !wanted.is_empty() {
            let (mut block, last) = (range.start / BLOCK, (range.end - 1) / BLOCK);
            while block <= last {
                let verified = self.verified.get(block / 64).map_or(0, |word| word.load(Ordering::Relaxed));
                if verified == u64::MAX {
                    block = (block / 64 + 1) * 64;
                    continue;
                }
                if verified & 1 << (block % 64) == 0 {
                    self.verify(content, block)?;
                }
                block += 1;
            }
        }
        Ok(wanted)
    }

    /// Prefetches the byte `at`, which the caller will access soon.
    #[inline]
    pub fn prefetch(&self, at: usize) {
        if let Some(byte) = self.bytes.get(self.range.clone()).and_then(|content| content.get(at)) {
            prefetch(byte);
        }
    }

    /// Verifies all bytes of the section and returns them.
    pub fn all(&self) -> Result<&[u8]> {
        self.get(0..self.len())
    }

    #[cold]
    fn verify(&self, content: &[u8], block: usize) -> Result<()> {
        let start = block * BLOCK;
        let bytes = content.get(start..content.len().min(start + BLOCK)).unwrap_or_default();
        let checks = self.bytes.get(self.checks.clone()).unwrap_or_default().as_chunks::<8>().0;
        if checks.get(block) != Some(&xxh3_64(bytes).to_le_bytes()) {
            let at = self.range.start + start;
            return Err(self.corrupt(format!("the checksum of bytes {at}..{} is wrong", at + bytes.len())));
        }
        if let Some(word) = self.verified.get(block / 64) {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
        Ok(())
    }
}

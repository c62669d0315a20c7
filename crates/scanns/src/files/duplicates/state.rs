//! Hashes of files that were read, kept in a file between runs.
//!
//! A file is known by its device, inode, size, mtime and ctime, so that it may be renamed. The file of the
//! state is the magic number `scanhash`, the version (4 bytes), the number of records (8 bytes), the records
//! and the xxh3 of everything before it (8 bytes). A record is the device, the inode, the size, the mtime and
//! the ctime (8 bytes each), a byte that is 1 for the hash of a whole file and 0 for the hash of its
//! start and end, and the hash (16 bytes). Numbers are little-endian.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::candidates::FileCandidate;
use crate::codec::ByteReader;

const MAGIC: &[u8; 8] = b"scanhash";
const VERSION: u32 = 1;
const RECORD: usize = 57;
const CHECKSUM: usize = 8;

/// What identifies a file and its content, and whether the whole file was hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct HashKey {
    file: (u64, u64),
    size: u64,
    mtime: i64,
    ctime: i64,
    is_whole: bool,
}

impl HashKey {
    /// The key of a file; `None` if the index does not know what identifies it.
    pub(super) fn of(candidate: &FileCandidate, is_whole: bool) -> Option<Self> {
        let FileCandidate { size, file, mtime, ctime, .. } = candidate;
        Some(HashKey { file: (*file)?, size: *size, mtime: (*mtime)?, ctime: (*ctime)?, is_whole })
    }
}

/// Hashes of files that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashState {
    hashes: HashMap<HashKey, u128>,
}

/// Why the bytes are not a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateFault {
    /// They are another file.
    #[error("it is not a file with hashes of scanns")]
    Other,
    /// A newer version has written them.
    #[error("it has version {found}, and this program reads version {VERSION}: use a newer scanns")]
    Newer {
        /// The version.
        found: u32,
    },
    /// They are not the bytes that were written.
    #[error("it is damaged: {what}; remove it to begin again")]
    Damaged {
        /// What was expected and what was found.
        what: String,
    },
}

impl HashState {
    /// The number of hashes.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// True if there are no hashes.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    pub(super) fn get(&self, key: &HashKey) -> Option<u128> {
        self.hashes.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: HashKey, hash: u128) {
        self.hashes.insert(key, hash);
    }

    /// The bytes of a file with the hashes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut records: Vec<(&HashKey, &u128)> = self.hashes.iter().collect();
        records.sort_unstable();
        let mut out = Vec::with_capacity(MAGIC.len() + 12 + records.len() * RECORD + CHECKSUM);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(records.len() as u64).to_le_bytes());
        for (key, hash) in records {
            for number in [key.file.0, key.file.1, key.size] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(&key.mtime.to_le_bytes());
            out.extend_from_slice(&key.ctime.to_le_bytes());
            out.push(u8::from(key.is_whole));
            out.extend_from_slice(&hash.to_le_bytes());
        }
        let checksum = xxh3_64(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    /// Reads the bytes of [`HashState::to_bytes`].
    ///
    /// # Errors
    /// What is wrong with other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateFault> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(StateFault::Other)?;
        let damaged = |what: &str| StateFault::Damaged { what: what.into() };
        let mut from = ByteReader::new(rest);
        match from.u32().ok_or_else(|| damaged("it ends before its version"))? {
            0 => return Err(damaged("its version is 0")),
            VERSION => {}
            found => return Err(StateFault::Newer { found }),
        }
        let body = bytes.len().checked_sub(CHECKSUM).and_then(|end| bytes.split_at_checked(end));
        let (body, checksum) = body.ok_or_else(|| damaged("it ends before its checksum"))?;
        if checksum != xxh3_64(body).to_le_bytes() {
            return Err(damaged("its checksum is another one, as if it were cut or changed"));
        }
        let count = from.u64().ok_or_else(|| damaged("it ends before the number of hashes"))?;
        let records = from.remaining().len().saturating_sub(CHECKSUM);
        if records as u64 != count.saturating_mul(RECORD as u64) {
            return Err(damaged("its length does not fit the number of hashes"));
        }
        let mut hashes = HashMap::new();
        for _ in 0..count {
            let (key, hash) = record(&mut from).ok_or_else(|| damaged("a hash is not complete"))?;
            hashes.insert(key, hash);
        }
        Ok(HashState { hashes })
    }
}

fn record(from: &mut ByteReader<'_>) -> Option<(HashKey, u128)> {
    let (file, size) = ((from.u64()?, from.u64()?), from.u64()?);
    let mtime = i64::from_le_bytes(from.take(8)?.try_into().ok()?);
    let ctime = i64::from_le_bytes(from.take(8)?.try_into().ok()?);
    let is_whole = match from.u8()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let hash = u128::from_le_bytes(from.take(16)?.try_into().ok()?);
    Some((HashKey { file, size, mtime, ctime, is_whole }, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_come_back_and_other_bytes_are_refused() {
        let mut state = HashState::default();
        for at in 0..5_i64 {
            let file = (1, at.unsigned_abs());
            let key = HashKey { file, size: u64::MAX, mtime: -at, ctime: at, is_whole: at % 2 == 0 };
            state.insert(key, u128::MAX - at.unsigned_abs() as u128);
        }
        let bytes = state.to_bytes();
        assert_eq!(HashState::from_bytes(&bytes), Ok(state));
        assert_eq!(HashState::from_bytes(b"text"), Err(StateFault::Other));
        for length in 8..bytes.len() {
            let fault = HashState::from_bytes(&bytes[..length]).unwrap_err();
            assert!(matches!(fault, StateFault::Damaged { .. }), "{length}: {fault}");
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1 << (at % 8);
            assert!(HashState::from_bytes(&other).is_err(), "byte {at}");
        }
        let mut newer = bytes;
        newer[8] = 2;
        assert_eq!(HashState::from_bytes(&newer), Err(StateFault::Newer { found: 2 }));
    }
}

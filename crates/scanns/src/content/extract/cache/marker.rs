//! The marker of a cache: it tells a cache from other directories, and holds the key of its hashes.
//!
//! ```text
//! marker := magic:8 secret:16 check:8         check: xxh3-64 of the bytes before it
//! ```
//!
//! A damaged marker is replaced by one with another secret: then no older entry is found, and they go as
//! those do that are not used.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use xxhash_rust::xxh3::xxh3_64;

use super::directory::CacheDirectory;

const MAGIC: [u8; 8] = *b"SCANNSXC";
const MARKER_BYTES: usize = 32;
/// How often a marker is written that other processes write too.
const ATTEMPTS: usize = 4;

/// What the marker of a directory says.
pub(super) enum Marked {
    /// The key of the hashes.
    Cache([u8; 16]),
    /// The directory holds files that are not of a cache, such as the one with this name.
    Foreign(String),
}

/// Reads the marker of a directory. An empty directory gets one.
pub(super) fn marked(directory: &CacheDirectory) -> io::Result<Marked> {
    for _ in 0..ATTEMPTS {
        let bytes = directory.read_marker(MARKER_BYTES as u64 + 1)?;
        if let Some(secret) = bytes.as_deref().and_then(decode) {
            return Ok(Marked::Cache(secret));
        }
        if bytes.is_none()
            && let Some(name) = directory.foreign_name()?
        {
            return Ok(Marked::Foreign(name));
        }
        directory.write_marker(&encode(new_secret()?), bytes.is_some())?;
    }
    Err(io::Error::other("its marker cannot be read after it was written"))
}

fn new_secret() -> io::Result<[u8; 16]> {
    let mut secret = [0; 16];
    let got = getrandom(secret.as_mut_slice(), GetRandomFlags::empty())?;
    // The system gives up to 256 bytes at once or none.
    if got == secret.len() { Ok(secret) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn encode(secret: [u8; 16]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&secret);
    let check = xxh3_64(&bytes);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<[u8; 16]> {
    let secret = *bytes.strip_prefix(&MAGIC)?.first_chunk::<16>()?;
    (bytes == encode(secret)).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_with_any_other_byte_is_damaged() {
        let whole = encode([9; 16]);
        assert_eq!(whole.len(), MARKER_BYTES);
        assert_eq!(decode(&whole), Some([9; 16]));
        for at in 0..whole.len() {
            assert_eq!(decode(&whole[..at]), None);
            let mut other = whole.clone();
            other[at] ^= 1;
            assert_eq!(decode(&other), None);
        }
        assert_eq!(decode(&[whole.as_slice(), b"x"].concat()), None);
    }
}

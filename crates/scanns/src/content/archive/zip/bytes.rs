//! Numbers and parts of zip archives.

use std::io::{self, Read, Seek};

use super::super::error::member_error;

/// The number of two bytes at an offset.
pub(super) fn number16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|chunk| u16::from_le_bytes(*chunk))
}

/// The number of four bytes at an offset.
pub(super) fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|chunk| u32::from_le_bytes(*chunk))
}

/// The number of eight bytes at an offset.
pub(super) fn number64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Reads up to `count` bytes at an offset; fewer at the end of the source.
pub(super) fn read_at<R: Read + Seek + Send>(source: &mut R, at: u64, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if i64::try_from(at).is_err() {
        // Files cannot be so long, and refuse to seek there.
        return Ok(bytes);
    }
    source.seek(io::SeekFrom::Start(at))?;
    source.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The error of a member that says why its header is not valid.
pub(super) fn local_error(reason: &str) -> io::Error {
    member_error(format!("the local header of this member {reason}"))
}

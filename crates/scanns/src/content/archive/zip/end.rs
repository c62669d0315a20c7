//! The end of a zip archive, which tells where its directory is.
//!
//! ```text
//! end      "PK\5\6" disk[2] directory_disk[2] entries_here[2] entries[2] size[4] offset[4]
//!          comment_length[2] comment
//! locator  "PK\6\7" disk[4] zip64_end[8] disks[4], directly before the end
//! zip64    "PK\6\6" length[8] versions[4] disk[4] directory_disk[4] entries_here[8] entries[8] size[8]
//!          offset[8]
//! ```

use std::io::{Read, Seek, SeekFrom};

use super::super::error::ArchiveError;
use super::bytes::{number16, number32, number64, read_at};

/// The length of the end without its comment.
const END: usize = 22;
/// The greatest length of the end, after a locator.
const LONGEST: u64 = 20 + END as u64 + 0xffff;
/// The length of the zip64 end.
const END64: u64 = 56;

/// Where the directory is.
pub(super) struct ZipEnd {
    /// The offset of the directory in the source.
    pub(super) start: u64,
    /// The offset of the byte after the directory.
    pub(super) end: u64,
    /// What to add to the offsets in the directory.
    pub(super) shift: u64,
}

/// Finds the directory: the last end whose directory is where it should be.
pub(super) fn find<R: Read + Seek + Send>(source: &mut R) -> Result<ZipEnd, ArchiveError> {
    let length = source.seek(SeekFrom::End(0)).map_err(ArchiveError::Source)?;
    let tail_at = length.saturating_sub(LONGEST);
    let tail = read_at(source, tail_at, LONGEST).map_err(ArchiveError::Source)?;
    let mut reason = "has no directory at its end: it is cut off or not a zip archive";
    for at in memchr::memmem::rfind_iter(&tail, b"PK\x05\x06") {
        match examine(source, &tail, tail_at, at) {
            Ok(end) => return Ok(end),
            Err(ArchiveError::NoDirectory { reason: why }) => reason = why,
            Err(error) => return Err(error),
        }
    }
    Err(ArchiveError::NoDirectory { reason })
}

/// The place of the directory by the end at `at` of the tail.
fn examine<R: Read + Seek + Send>(
    source: &mut R,
    tail: &[u8],
    tail_at: u64,
    at: usize,
) -> Result<ZipEnd, ArchiveError> {
    let no = |reason| ArchiveError::NoDirectory { reason };
    let cut = || no("has an incomplete end");
    let end = tail.get(at..).unwrap_or_default();
    let comment = usize::from(number16(end, 20).ok_or_else(cut)?);
    if END + comment > end.len() {
        return Err(cut());
    }
    let mut end_at = tail_at + at as u64;
    let mut disk = u32::from(number16(end, 4).ok_or_else(cut)?);
    let mut size = u64::from(number32(end, 12).ok_or_else(cut)?);
    let mut offset = u64::from(number32(end, 16).ok_or_else(cut)?);
    if offset == u64::from(u32::MAX) {
        // Info-ZIP writes this to a pipe even where it writes no zip64 end.
        offset = end_at.saturating_sub(size);
    }
    let locator = at.checked_sub(20).and_then(|at| tail.get(at..)).unwrap_or_default();
    if locator.starts_with(b"PK\x06\x07") {
        let declared = number64(locator, 8).ok_or_else(cut)?;
        // Bytes before the archive move the zip64 end, too: it is usually directly before its locator.
        for place in [declared, end_at.saturating_sub(20 + END64)] {
            let bytes = read_at(source, place, END64).map_err(ArchiveError::Source)?;
            if bytes.starts_with(b"PK\x06\x06") {
                end_at = place;
                disk = number32(&bytes, 16).ok_or_else(cut)?;
                size = number64(&bytes, 40).ok_or_else(cut)?;
                offset = number64(&bytes, 48).ok_or_else(cut)?;
                break;
            }
        }
    }
    if disk != 0 && disk != 0xffff {
        return Err(no("is the last part of an archive that was split"));
    }
    place(source, end_at, offset, size)
}

/// The directory lies directly before its end; where it does not, its offset is taken as it is.
fn place<R: Read + Seek + Send>(
    source: &mut R,
    end_at: u64,
    offset: u64,
    size: u64,
) -> Result<ZipEnd, ArchiveError> {
    let before_end = end_at.checked_sub(size);
    for start in before_end.into_iter().chain([offset]) {
        let Some(end) = start.checked_add(size).filter(|&end| end <= end_at) else { continue };
        let Some(shift) = start.checked_sub(offset) else { continue };
        let signature = read_at(source, start, 4).map_err(ArchiveError::Source)?;
        if size == 0 || signature == b"PK\x01\x02" {
            return Ok(ZipEnd { start, end, shift });
        }
    }
    Err(ArchiveError::NoDirectory { reason: "has no directory where its end says" })
}

//! The directory of a zip archive, read in parts: its memory does not depend on the number of entries.

use std::io::{Read, Seek};

use super::super::error::ArchiveError;
use super::bytes::{number16, read_at};
use super::end::ZipEnd;
use super::entry::ZipEntry;

/// The bytes of a part: at least the longest entry.
const PART: usize = 256 << 10;
/// The length of an entry without its name, extra fields and comment.
const ENTRY: usize = 46;

/// The entries that were not read yet.
pub(super) struct ZipDirectory {
    part: Vec<u8>,
    /// The place of the next entry in the part.
    at: usize,
    /// The offset of the byte after the part in the source.
    part_end: u64,
    /// The offset of the byte after the directory in the source.
    end: u64,
}

impl ZipDirectory {
    pub(super) fn new(end: &ZipEnd) -> Self {
        Self { part: Vec::new(), at: 0, part_end: end.start, end: end.end }
    }

    /// The next entry; none at the end.
    pub(super) fn next_entry<R: Read + Seek + Send>(
        &mut self,
        source: &mut R,
    ) -> Result<Option<ZipEntry>, ArchiveError> {
        if self.rest().len() < PART / 2 {
            self.read_part(source)?;
        }
        let offset = self.part_end - self.rest().len() as u64;
        let rest = self.rest();
        if rest.is_empty() && offset == self.end {
            return Ok(None);
        }
        let cut = ArchiveError::CutOff { at: offset + rest.len() as u64, within: "the directory" };
        let Some(fixed) = rest.get(..ENTRY) else { return Err(cut) };
        if !fixed.starts_with(b"PK\x01\x02") {
            let reason = "has a wrong signature";
            return Err(ArchiveError::Header { format: "zip", at: offset, reason });
        }
        let length = |at| usize::from(number16(fixed, at).unwrap_or_default());
        let (name, extra, comment) = (length(28), length(30), length(32));
        let Some(entry) = rest.get(..ENTRY + name + extra + comment) else { return Err(cut) };
        let name_end = ENTRY + name;
        let entry_length = entry.len();
        let entry = ZipEntry::parse(
            fixed,
            entry.get(ENTRY..name_end).unwrap_or_default(),
            entry.get(name_end..name_end + extra).unwrap_or_default(),
        );
        self.at += entry_length;
        let invalid = ArchiveError::Header { format: "zip", at: offset, reason: "has no valid sizes" };
        entry.map(Some).ok_or(invalid)
    }

    fn rest(&self) -> &[u8] {
        self.part.get(self.at..).unwrap_or_default()
    }

    /// Drops the entries that were read, and reads more of the directory.
    fn read_part<R: Read + Seek + Send>(&mut self, source: &mut R) -> Result<(), ArchiveError> {
        let wanted = (self.end - self.part_end).min((PART - self.rest().len()) as u64);
        if wanted > 0 {
            let more = read_at(source, self.part_end, wanted).map_err(ArchiveError::Source)?;
            self.part.drain(..self.at);
            self.at = 0;
            self.part_end += more.len() as u64;
            self.part.extend_from_slice(&more);
        }
        Ok(())
    }
}

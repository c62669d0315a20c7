//! The header block of a tar member.

use super::super::member::{MemberKind, until_nul};
use super::number::{BLOCK, number};
use super::sparse::SparseMap;

/// A header.
pub(super) struct TarHeader([u8; BLOCK]);

impl TarHeader {
    pub(super) fn new() -> Self {
        Self([0; BLOCK])
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn field(&self, from: usize, length: usize) -> &[u8] {
        self.0.get(from..from + length).unwrap_or_default()
    }

    /// Whether the block is zero throughout, as at the end of an archive.
    pub(super) fn is_zero(&self) -> bool {
        self.0.iter().fold(0, |all, &byte| all | byte) == 0
    }

    /// Whether the sum of the bytes is the declared one. Old writers summed the bytes as signed numbers.
    pub(super) fn has_valid_checksum(&self) -> bool {
        let declared = self.field(148, 8);
        let Some(sum) = number(declared) else { return false };
        let blanks = 8 * i64::from(b' ');
        // 16-bit sums of parts: the compiler sums 16 bytes at a time.
        let unsigned = |bytes: &[u8]| {
            bytes
                .chunks(256)
                .map(|part| i64::from(part.iter().map(|&b| u16::from(b)).sum::<u16>()))
                .sum::<i64>()
        };
        if unsigned(&self.0) - unsigned(declared) + blanks == sum {
            return true;
        }
        let signed = |bytes: &[u8]| bytes.iter().map(|&byte| i64::from(byte.cast_signed())).sum::<i64>();
        signed(&self.0) - signed(declared) + blanks == sum
    }

    pub(super) fn type_flag(&self) -> u8 {
        self.0[156]
    }

    /// Whether the header has the fields of POSIX; GNU tar and v7 have other ones or none.
    fn is_posix(&self) -> bool {
        self.field(257, 6) == b"ustar\0"
    }

    fn is_gnu(&self) -> bool {
        self.field(257, 8) == b"ustar  \0"
    }

    /// The path of the header, its prefix included.
    pub(super) fn path(&self) -> Vec<u8> {
        let name = until_nul(self.field(0, 100));
        // star has times at the end of the prefix.
        let star = self.field(508, 4) == b"tar\0";
        let prefix = until_nul(self.field(345, if star { 131 } else { 155 }));
        if !self.is_posix() || prefix.is_empty() {
            return name.to_vec();
        }
        let mut path = Vec::with_capacity(prefix.len() + 1 + name.len());
        path.extend_from_slice(prefix);
        path.push(b'/');
        path.extend_from_slice(name);
        path
    }

    /// What the member is. v7 marks a directory by a slash at the end of its path.
    pub(super) fn kind(&self, path: &[u8]) -> MemberKind {
        match self.type_flag() {
            0 | b'0' if path.last() == Some(&b'/') => MemberKind::Directory,
            b'1' => MemberKind::HardLink,
            b'2' => MemberKind::Symlink,
            b'5' | b'D' => MemberKind::Directory,
            // Devices, pipes, parts of a member on another volume, old long names, and labels.
            b'3' | b'4' | b'6' | b'M' | b'N' | b'V' => MemberKind::Other,
            _ => MemberKind::File,
        }
    }

    /// The size, unless it is not a number or negative.
    pub(super) fn size(&self) -> Option<u64> {
        u64::try_from(number(self.field(124, 12))?).ok()
    }

    pub(super) fn mode(&self) -> Option<i64> {
        number(self.field(100, 8))
    }

    pub(super) fn uid(&self) -> Option<i64> {
        number(self.field(108, 8))
    }

    pub(super) fn gid(&self) -> Option<i64> {
        number(self.field(116, 8))
    }

    /// The time of the last modification in seconds.
    pub(super) fn modified(&self) -> Option<i64> {
        number(self.field(136, 12))
    }

    pub(super) fn target(&self) -> &[u8] {
        until_nul(self.field(157, 100))
    }

    pub(super) fn owner(&self) -> Option<Vec<u8>> {
        self.text(265)
    }

    pub(super) fn group(&self) -> Option<Vec<u8>> {
        self.text(297)
    }

    fn text(&self, from: usize) -> Option<Vec<u8>> {
        let text = until_nul(self.field(from, 32));
        ((self.is_posix() || self.is_gnu()) && !text.is_empty()).then(|| text.to_vec())
    }

    /// The map in the header of an old sparse file of GNU tar.
    pub(super) fn old_sparse_map(&self) -> Option<SparseMap> {
        (self.type_flag() == b'S').then(|| SparseMap::old(self.real_size(), self.field(386, 4 * 24)))
    }

    /// The size of an old sparse file of GNU tar with its holes.
    pub(super) fn real_size(&self) -> Option<u64> {
        if self.type_flag() != b'S' {
            return None;
        }
        u64::try_from(number(self.field(483, 12))?).ok()
    }

    /// Whether blocks with more regions of the sparse file follow.
    pub(super) fn has_more_regions(&self) -> bool {
        self.0[482] != 0
    }
}

/// Whether a file is a tar archive: its first header has a valid checksum, and the magic of ustar or, in v7,
/// a name and numbers.
pub(in super::super) fn is_tar(head: &[u8]) -> bool {
    let Some(block) = head.first_chunk() else { return false };
    let header = TarHeader(*block);
    if header.is_zero() || !header.has_valid_checksum() {
        return false;
    }
    let numbers = [header.mode(), header.uid(), header.gid(), header.modified()];
    header.field(257, 5) == b"ustar"
        || (numbers.iter().all(Option::is_some)
            && header.size().is_some()
            && header.0[0] != 0
            && matches!(header.type_flag(), 0 | b'0'..=b'7'))
}

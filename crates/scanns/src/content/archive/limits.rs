//! The limits of a walk. They stop archives that are made to exhaust a reader.

/// How much of one archive is read. The defaults let every honest archive through that fits a disk, and end
/// a decompression bomb within minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// The number of members. The default is 100 million: a backup of a large file system has 10 million, and
    /// a walk handles a million members a second.
    pub members: u64,
    /// The bytes of the whole archive after expansion, holes of sparse files included. Bytes that the visitor
    /// skips count in tar, cpio and ar, because reading over them costs as much. The default is 1 TiB, some
    /// 20 minutes of reading at 1 GiB/s; raise it for images of tapes.
    pub bytes: u64,
    /// The bytes that a visitor can read of one member; its reader fails beyond them and the walk goes on.
    /// The default is 64 GiB: larger members are disk images.
    pub member_bytes: u64,
    /// The length of a path or of a link's target. The default is 64 KiB, the longest path that a zip can
    /// hold and 16 times the longest path of Linux.
    pub name_bytes: usize,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { members: 100_000_000, bytes: 1 << 40, member_bytes: 1 << 36, name_bytes: 1 << 16 }
    }
}

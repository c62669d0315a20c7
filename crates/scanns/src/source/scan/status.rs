//! The values of an entry, as `statx` tells them, or `fstatat` where `statx` is not allowed.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Stat, Statx, StatxAttributes, StatxFlags};
use rustix::io::{Errno, Result};

use crate::source::entry::{Entry, nanoseconds};
use crate::source::entry_kind::EntryKind;

/// The values of an entry, and where it is mounted.
pub(super) struct ScanStatus {
    /// Everything but the path and the target.
    pub(super) values: Entry<'static>,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The number of the mount, where the kernel tells it.
    pub(super) mount: Option<u64>,
    /// Whether a file system is mounted here when the directory is opened.
    pub(super) automount: bool,
}

impl ScanStatus {
    /// Reads the values of `name` in `directory`. Nothing is mounted for it.
    #[inline]
    pub(super) fn read(directory: BorrowedFd<'_>, name: &CStr, flags: AtFlags) -> Result<ScanStatus> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        match rustix::fs::statx(directory, name, flags | AtFlags::NO_AUTOMOUNT, mask) {
            Ok(found) => Ok(of_statx(&found)),
            Err(Errno::NOSYS) => ScanStatus::read_without_statx(directory, name, flags),
            Err(error) => Err(error),
        }
    }

    /// The same by an older system call, which does not know the time of birth and the mount.
    fn read_without_statx(directory: BorrowedFd<'_>, name: &CStr, flags: AtFlags) -> Result<ScanStatus> {
        let kept = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        rustix::fs::statat(directory, name, flags & kept | AtFlags::NO_AUTOMOUNT).map(|found| of_stat(&found))
    }

    /// Device and inode, which identify a file.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    pub(super) fn is_directory(&self) -> bool {
        self.values.kind == Some(EntryKind::Directory)
    }
}

#[inline]
fn of_statx(found: &Statx) -> ScanStatus {
    let mask = StatxFlags::from_bits_retain(found.stx_mask);
    let time = |flag, time: rustix::fs::StatxTimestamp| {
        mask.contains(flag).then(|| nanoseconds(time.tv_sec, time.tv_nsec.into()))
    };
    let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    let mode = u32::from(found.stx_mode);
    let kind = EntryKind::of_mode(mode);
    let values = Entry {
        kind,
        mtime: time(StatxFlags::MTIME, found.stx_mtime),
        atime: time(StatxFlags::ATIME, found.stx_atime),
        ctime: time(StatxFlags::CTIME, found.stx_ctime),
        btime: time(StatxFlags::BTIME, found.stx_btime),
        size: mask.contains(StatxFlags::SIZE).then_some(found.stx_size),
        blocks: mask.contains(StatxFlags::BLOCKS).then_some(found.stx_blocks),
        uid: mask.contains(StatxFlags::UID).then_some(found.stx_uid),
        gid: mask.contains(StatxFlags::GID).then_some(found.stx_gid),
        mode: mask.contains(StatxFlags::MODE).then_some(mode),
        inode: mask.contains(StatxFlags::INO).then_some(found.stx_ino),
        links: mask.contains(StatxFlags::NLINK).then_some(found.stx_nlink.into()),
        device: Some(device),
        rdev: (kind == Some(EntryKind::Device))
            .then(|| rustix::fs::makedev(found.stx_rdev_major, found.stx_rdev_minor)),
        ..Entry::default()
    };
    ScanStatus {
        values,
        device,
        inode: found.stx_ino,
        mount: mask.contains(StatxFlags::MNT_ID).then_some(found.stx_mnt_id),
        automount: found.stx_attributes.contains(StatxAttributes::AUTOMOUNT),
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the types of the fields depend on the processor; none of these values is negative or too long"
)]
fn of_stat(found: &Stat) -> ScanStatus {
    let time = |seconds: i64, part: u64| Some(nanoseconds(seconds, part as i64));
    let kind = EntryKind::of_mode(found.st_mode);
    let values = Entry {
        kind,
        mtime: time(found.st_mtime as i64, found.st_mtime_nsec as u64),
        atime: time(found.st_atime as i64, found.st_atime_nsec as u64),
        ctime: time(found.st_ctime as i64, found.st_ctime_nsec as u64),
        size: Some(found.st_size as u64),
        blocks: Some(found.st_blocks as u64),
        uid: Some(found.st_uid),
        gid: Some(found.st_gid),
        mode: Some(found.st_mode),
        inode: Some(found.st_ino),
        links: Some(found.st_nlink as u64),
        device: Some(found.st_dev),
        rdev: (kind == Some(EntryKind::Device)).then_some(found.st_rdev),
        ..Entry::default()
    };
    ScanStatus { values, device: found.st_dev, inode: found.st_ino, mount: None, automount: false }
}

#[cfg(test)]
mod tests {
    use rustix::fs::CWD;

    use super::*;

    #[test]
    fn both_system_calls_tell_the_same_except_the_birth() {
        for path in [c"/", c"/usr", c"/etc/passwd", c"/dev/null", c"/bin", c"/proc", c"/proc/self"] {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            let new = ScanStatus::read(CWD, path, flags).unwrap();
            let old = ScanStatus::read_without_statx(CWD, path, flags).unwrap();
            assert_eq!(Entry { btime: None, ..new.values }, old.values, "{path:?}");
            assert_eq!((new.identity(), old.mount), (old.identity(), None));
        }
        let gone = ScanStatus::read_without_statx(CWD, c"/gone", AtFlags::empty());
        assert_eq!(gone.err(), Some(Errno::NOENT));
    }
}

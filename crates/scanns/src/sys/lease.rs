//! Locks on single bytes of a file. File servers support them, so readers on several machines can use them to
//! inform a writer.
//!
//! These locks belong to the open file, not to the process like older locks, so two readers in one process
//! have one each. They are released when the file is closed, or when its process ends in any way. `rustix`
//! has no such call for bytes.

use std::fs::File;
use std::io;

/// Takes a lock on byte `at`: a shared lock, or an exclusive one if `alone` is true.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if someone else holds a lock that excludes it; any other error if the file
/// system has no such locks.
#[cfg(target_os = "linux")]
pub fn lock_byte(file: &File, at: u64, alone: bool) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let l_start = i64::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
    let kind = if alone { libc::F_WRLCK } else { libc::F_RDLCK };
    let l_type = i16::try_from(kind).map_err(|_| io::ErrorKind::InvalidInput)?;
    let l_whence = i16::try_from(libc::SEEK_SET).map_err(|_| io::ErrorKind::InvalidInput)?;
    let lock = libc::flock { l_type, l_whence, l_start, l_len: 1, l_pid: 0 };
    // SAFETY: the descriptor is open for the length of the call, which reads the structure and keeps nothing
    // of it.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) } {
        -1 => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::EACCES) => Err(io::ErrorKind::WouldBlock.into()),
            error => Err(error),
        },
        _ => Ok(()),
    }
}

/// Always fails: this system has no such locks.
#[cfg(not(target_os = "linux"))]
pub fn lock_byte(_file: &File, _at: u64, _alone: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// File systems that other machines may change, by the type number of `statfs`: NFS, SMB of three kinds,
/// Lustre, GPFS, FUSE, Ceph, 9P, BeeGFS, OrangeFS, AFS, GFS2, OCFS2.
#[cfg(target_os = "linux")]
const SHARED: [u64; 14] = [
    0x6969,
    0x517b,
    0xfe53_4d42,
    0xff53_4d42,
    0x0bd0_0bd0,
    0x4750_4653,
    0x6573_5546,
    0x00c3_6400,
    0x0102_1997,
    0x1983_0326,
    0x2003_0528,
    0x5346_414f,
    0x0116_1970,
    0x7461_636f,
];

/// Returns true if a file is on a file system where other machines may remove files that are in use here.
#[cfg(target_os = "linux")]
pub fn is_shared(file: &File) -> bool {
    // The type of the number differs between processors; only its lower half is significant.
    let kind = |found: rustix::fs::StatFs| i128::from(found.f_type) & 0xffff_ffff;
    rustix::fs::fstatfs(file)
        .is_ok_and(|found| SHARED.iter().any(|&shared| kind(found) == i128::from(shared)))
}

/// Returns true if a file is known to be on a file system where other machines may remove files that are in
/// use here.
#[cfg(not(target_os = "linux"))]
pub fn is_shared(_file: &File) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn many_share_a_byte_and_one_has_it_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("readers");
        File::create(&path).unwrap();
        let (one, other) = (File::open(&path).unwrap(), File::open(&path).unwrap());
        let writer = || File::options().write(true).open(&path).unwrap();
        lock_byte(&one, 5_000_000_000, false).unwrap();
        lock_byte(&other, 5_000_000_000, false).unwrap();
        let held = writer();
        lock_byte(&held, 7, true).unwrap();
        let refused = |file: &File, at, alone| lock_byte(file, at, alone).unwrap_err().kind();
        drop(one);
        assert_eq!(refused(&held, 5_000_000_000, true), io::ErrorKind::WouldBlock);
        assert_eq!(refused(&other, 7, false), io::ErrorKind::WouldBlock);
        drop(other);
        lock_byte(&held, 5_000_000_000, true).unwrap();
    }
}

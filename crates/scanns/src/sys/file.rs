//! Regular files opened for reading, with direct I/O where the file system allows it.
//!
//! A path that is a FIFO, a socket or a device by the time it is opened must not hang the program or disturb
//! anything. Therefore the open is non-blocking, and any other file than a regular one is refused before a
//! byte is read.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Advice, FileType, Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};

use crate::sys::block::PAGE;

/// The bits of a mode that are permissions.
pub const PERMISSIONS: u32 = 0o7777;

/// What tells a file from all others, and whether it or who may read it has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadIdentity {
    /// The device of the file system.
    pub device: u64,
    /// The number of the file in its file system.
    pub inode: u64,
    /// The time of the last change of the file or its metadata, in nanoseconds since 1970.
    pub changed: i64,
    /// The user id of the owner.
    pub uid: u32,
    /// The group id.
    pub gid: u32,
    /// The permissions, without the type.
    pub mode: u32,
}

impl ReadIdentity {
    /// The identity of an open file.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let meta = rustix::fs::fstat(file)?;
        let nanoseconds = i64::try_from(meta.st_ctime_nsec).unwrap_or(0);
        Ok(ReadIdentity {
            device: meta.st_dev,
            inode: meta.st_ino,
            changed: meta.st_ctime.saturating_mul(1_000_000_000).saturating_add(nanoseconds),
            uid: meta.st_uid,
            gid: meta.st_gid,
            mode: meta.st_mode & PERMISSIONS,
        })
    }
}

/// Opens a regular file for reading, following symbolic links, and returns its size. Never waits, as for a
/// program that writes into a pipe.
///
/// # Errors
/// Any error of the system, and an error if `path` is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<(OwnedFd, u64)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok((fd, u64::try_from(stat.st_size).unwrap_or(0)))
}

/// A regular file, open for reading at given offsets.
#[derive(Debug)]
pub struct ReadFile {
    fd: OwnedFd,
    size: u64,
    direct: AtomicBool,
    /// What the file must be whenever something was read, if that matters.
    expected: Option<Box<ReadIdentity>>,
}

impl ReadFile {
    /// Opens `path`, following symbolic links.
    ///
    /// # Errors
    /// Any error of the system, and an error if `path` is not a regular file.
    pub fn open(path: &Path) -> io::Result<ReadFile> {
        let (fd, size) = open_regular(path)?;
        Ok(ReadFile { fd, size, direct: AtomicBool::new(false), expected: None })
    }

    /// The same file, of which nothing is read if it is another one, or has changed, or changes while it is
    /// read.
    ///
    /// # Errors
    /// Any error of the system, and an error if that is so already.
    pub fn expecting(self, identity: ReadIdentity) -> io::Result<ReadFile> {
        let file = ReadFile { expected: Some(Box::new(identity)), ..self };
        file.is_as_expected().map(|()| file)
    }

    /// An error if the file is not the expected one, or has changed.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn is_as_expected(&self) -> io::Result<()> {
        match &self.expected {
            Some(expected) if ReadIdentity::of(&self.fd)? != **expected => {
                Err(io::Error::other("it changed between the walk and the end of reading: index it again"))
            }
            _ => Ok(()),
        }
    }

    /// The size of the file when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads at `offset` until `buffer` is full or the file ends; returns the number of bytes read.
    ///
    /// With direct I/O, the offset, the length and the memory must be aligned to [`PAGE`]. If the file system
    /// refuses direct I/O at this point, the file is read through the page cache from then on.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read_rest(buffer, offset, 0)
    }

    /// Completes a read at `offset` of which `have` bytes are already in `buffer`.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn read_rest(&self, buffer: &mut [u8], offset: u64, mut have: usize) -> io::Result<usize> {
        while have < buffer.len() {
            if self.is_direct() && !have.is_multiple_of(PAGE) {
                break; // a direct read stops inside a page only where the file ends
            }
            match rustix::io::pread(&self.fd, &mut buffer[have..], offset + have as u64) {
                Ok(0) => break,
                Ok(got) => have += got,
                Err(Errno::INTR) => {}
                Err(Errno::INVAL | Errno::OPNOTSUPP) if self.is_direct() => self.leave_direct()?,
                Err(errno) => return Err(errno.into()),
            }
        }
        self.is_as_expected()?;
        Ok(have)
    }

    /// Reads the bytes at `offset` that are in the page cache, without waiting for the disk; `None` if the
    /// file system does not support this.
    pub fn read_cached(&self, buffer: &mut [u8], offset: u64) -> Option<usize> {
        match rustix::io::preadv2(
            &self.fd,
            &mut [io::IoSliceMut::new(buffer)],
            offset,
            ReadWriteFlags::NOWAIT,
        ) {
            Ok(got) => Some(got),
            Err(Errno::AGAIN) => Some(0),
            Err(_) => None,
        }
    }

    /// Starts bringing the whole file into the page cache, without waiting for it.
    pub fn will_need(&self) {
        self.advise(0, 0, Advice::WillNeed);
    }

    /// Switches to direct I/O and to blocking mode, which asynchronous reads need; returns false if the file
    /// system refuses (tmpfs, some network and stacked file systems).
    pub fn enter_direct(&self) -> bool {
        let direct = rustix::fs::fcntl_setfl(&self.fd, OFlags::DIRECT).is_ok();
        self.direct.store(direct, Ordering::Relaxed);
        direct
    }

    fn leave_direct(&self) -> io::Result<()> {
        self.direct.store(false, Ordering::Relaxed);
        Ok(rustix::fs::fcntl_setfl(&self.fd, OFlags::empty())?)
    }

    /// True while reads bypass the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct.load(Ordering::Relaxed)
    }

    /// Returns true if the first, middle and last page of `len` bytes at `offset` are in the page cache.
    pub fn seems_cached(&self, offset: u64, len: u64) -> bool {
        let mut byte = [0u8];
        // Without this advice, every probe that misses would start a read-ahead.
        self.advise(0, 0, Advice::Random);
        let last = offset + len.saturating_sub(1);
        let cached =
            [offset, offset + len / 2, last].into_iter().all(|at| self.read_cached(&mut byte, at) == Some(1));
        self.advise(0, 0, Advice::Sequential);
        cached
    }

    /// Tells the system that `len` bytes at `offset` (0: to the end) will not be read again.
    pub fn drop_cached(&self, offset: u64, len: u64) {
        self.advise(offset, len, Advice::DontNeed);
    }

    fn advise(&self, offset: u64, len: u64, advice: Advice) {
        let _ = rustix::fs::fadvise(&self.fd, offset, NonZeroU64::new(len), advice);
    }
}

/// Waits for up to a tenth of a second until a read does not block; returns false if it would still block.
///
/// # Errors
/// Any error of the system.
pub fn is_readable(file: &impl AsFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    let most = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    match rustix::event::poll(&mut polled, Some(&most)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

impl AsFd for ReadFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sys::{BlockMemory, PageSize};

    #[test]
    fn a_file_that_is_not_the_expected_one_or_changes_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let (path, other) = (place.path().join("a"), place.path().join("b"));
        std::fs::write(&path, "text").unwrap();
        std::fs::write(&other, "more").unwrap();
        let seen = ReadIdentity::of(std::fs::File::open(&path).unwrap()).unwrap();
        let open = || ReadFile::open(&path).and_then(|file| file.expecting(seen));
        let file = open().unwrap();
        assert_eq!(file.read_at(&mut [0; 9], 0).unwrap(), 4);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(open().is_err(), "another file has its name");
        std::fs::rename(&other, &path).unwrap();
        assert!(open().is_err());
        let mut file = ReadFile::open(&path).unwrap();
        let seen = ReadIdentity::of(&file.fd).unwrap();
        file = file.expecting(seen).unwrap();
        let closed = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, closed).unwrap();
        assert!(file.read_at(&mut [0; 9], 0).is_err(), "others may not read it any more");
    }

    #[test]
    fn direct_and_buffered_reads_give_the_same_bytes_to_the_end() {
        let dir = crate::sys::disk_dir();
        let path = dir.path().join("file");
        let bytes: Vec<u8> = (0..20_001u32).map(|i| (i % 251) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        for direct in [false, true] {
            let file = ReadFile::open(&path).unwrap();
            assert_eq!(file.size(), 20_001);
            if direct {
                file.enter_direct();
            }
            let mut memory = BlockMemory::carve(1, 16_384, PageSize::Base).unwrap().remove(0);
            let into = &mut memory.as_mut_slice()[..16_384];
            assert_eq!(file.read_at(into, 0).unwrap(), 16_384);
            assert_eq!(into, &bytes[..16_384]);
            assert_eq!(file.read_at(into, 16_384).unwrap(), 20_001 - 16_384);
            assert_eq!(into[..20_001 - 16_384], bytes[16_384..]);
            assert_eq!(file.read_at(into, 24_576).unwrap(), 0);
        }
    }

    #[test]
    fn fresh_files_are_cached_and_can_be_dropped() {
        let dir = crate::sys::disk_dir();
        let path = dir.path().join("file");
        fs::write(&path, vec![7u8; 1 << 20]).unwrap();
        fs::File::open(&path).unwrap().sync_all().unwrap();
        let file = ReadFile::open(&path).unwrap();
        assert!(file.seems_cached(0, 1 << 20));
        assert_eq!(file.read_cached(&mut [0; 10], 0), Some(10));
        file.will_need();
        file.drop_cached(0, 0);
    }

    #[test]
    fn pipes_sockets_devices_and_directories_are_refused_without_hanging() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [fifo.as_path(), &socket, dir.path(), Path::new("/dev/null"), &dir.path().join("none")] {
            assert!(ReadFile::open(path).is_err(), "{}", path.display());
        }
    }
}

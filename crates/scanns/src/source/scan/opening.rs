//! Opens directories.
//!
//! Every directory below a named path is opened relative to its parent, and never through a link. So paths
//! may be longer than the system allows for one call, and a directory that is replaced by a link in the
//! meantime does not lead out of the tree.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, Result, retry_on_intr};

use crate::source::scan::status::ScanStatus;

/// The system refuses paths of this length, with the NUL at their end.
const PATH_MAX: usize = 4096;

/// How directories are opened.
#[derive(Debug)]
pub(super) struct Opener {
    /// Whether to leave the time of access as it is. Only root may do so everywhere.
    keep_atime: AtomicBool,
}

impl Opener {
    pub(super) fn new() -> Opener {
        Opener { keep_atime: AtomicBool::new(rustix::process::geteuid().is_root()) }
    }

    /// Opens a directory for reading.
    pub(super) fn open(&self, parent: BorrowedFd<'_>, name: &CStr, follow: bool) -> Result<OwnedFd> {
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::NOFOLLOW, !follow);
        if self.keep_atime.load(Ordering::Relaxed) {
            let flags = flags | OFlags::NOATIME;
            match retry_on_intr(|| rustix::fs::openat(parent, name, flags, Mode::empty())) {
                Err(Errno::PERM) => self.keep_atime.store(false, Ordering::Relaxed),
                opened => return opened,
            }
        }
        retry_on_intr(|| rustix::fs::openat(parent, name, flags, Mode::empty()))
    }

    /// Opens a directory by its path, through links.
    pub(super) fn open_path(&self, path: &CStr) -> Result<OwnedFd> {
        let (parent, name) = reach(path)?;
        self.open(parent.as_ref().map_or(CWD, AsFd::as_fd), &name, true)
    }
}

/// Reads the values of a path.
pub(super) fn status_of(path: &CStr, flags: AtFlags) -> Result<ScanStatus> {
    let (parent, name) = reach(path)?;
    ScanStatus::read(parent.as_ref().map_or(CWD, AsFd::as_fd), &name, flags)
}

/// Reads the target of the link at a path.
pub(super) fn target_of(path: &CStr) -> Result<CString> {
    let (parent, name) = reach(path)?;
    rustix::fs::readlinkat(parent.as_ref().map_or(CWD, AsFd::as_fd), &name, Vec::new())
}

/// Opens directories on the way to a long path; returns the last of them, and the rest of the path.
fn reach(path: &CStr) -> Result<(Option<OwnedFd>, CString)> {
    let mut rest = path.to_bytes();
    let mut parent: Option<OwnedFd> = None;
    while rest.len() >= PATH_MAX {
        let start = rest.get(..PATH_MAX - 1).unwrap_or_default();
        let cut = start.iter().rposition(|&byte| byte == b'/').ok_or(Errno::NAMETOOLONG)?;
        let (start, end) = rest.split_at_checked(cut).ok_or(Errno::NAMETOOLONG)?;
        let start = if start.is_empty() { b"/" } else { start };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let from = parent.as_ref().map_or(CWD, AsFd::as_fd);
        let next = retry_on_intr(|| rustix::fs::openat(from, start, flags, Mode::empty()))?;
        parent = Some(next);
        rest = end.strip_prefix(b"/").unwrap_or(end);
    }
    Ok((parent, CString::new(rest).map_err(|_| Errno::INVAL)?))
}

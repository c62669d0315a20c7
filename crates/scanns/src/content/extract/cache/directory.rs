//! The directory of a cache: the only file that opens, writes and removes files in it.
//!
//! All names are looked up from the open directory, and symbolic links are never followed: a link in it could
//! lead a build to write or delete elsewhere. An entry is written under a temporary name and renamed, so
//! other processes see all of it or nothing. Nothing is synced: after a loss of power an entry may be gone,
//! which costs one extraction, or incomplete, which its checksum shows.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, UTIME_NOW,
    UTIME_OMIT, fstat, futimens, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::error::ExtractCacheError;
use super::key::{StampTime, time_modified};
use super::names::{EntryName, MARKER, group_name, is_of_cache, is_temporary, temporary_name};

/// The mode of directories: the text of private documents is in them.
const PRIVATE_DIRECTORY: Mode = Mode::RWXU;
/// The mode of files.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// The bits of a mode that let others write.
const WRITABLE: u32 = 0o022;
/// Flags of every open: no link is followed, and nothing waits for the other end of a pipe.
const CAREFUL: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// An open directory of this user that no other can write to.
#[derive(Debug)]
pub(super) struct CacheDirectory {
    root: OwnedFd,
}

/// An entry as it was read, with its file.
pub(super) struct EntryFile {
    pub(super) bytes: Vec<u8>,
    file: File,
    modified: i64,
}

/// An entry as the system lists it.
#[derive(Clone, Debug)]
pub(super) struct CachedFile {
    pub(super) name: EntryName,
    pub(super) size: u64,
    /// Seconds and nanoseconds.
    pub(super) modified: StampTime,
}

impl CacheDirectory {
    /// Opens a directory and creates it if it is missing. The path itself may go through symbolic links.
    pub(super) fn open(path: &Path) -> Result<Self, ExtractCacheError> {
        let directory = || path.to_owned();
        let failed = |error: Errno| ExtractCacheError::Io { directory: directory(), error: error.into() };
        match mkdirat(CWD, path, PRIVATE_DIRECTORY) {
            Err(error) if error != Errno::EXIST => return Err(failed(error)),
            _ => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, path, flags, Mode::empty()).map_err(failed)?;
        let stat = fstat(&root).map_err(failed)?;
        let (owner, user) = (stat.st_uid, geteuid().as_raw());
        if owner != user {
            return Err(ExtractCacheError::Owner { directory: directory(), owner, user });
        }
        if stat.st_mode & WRITABLE != 0 {
            let mode = stat.st_mode & 0o7777;
            return Err(ExtractCacheError::Writable { directory: directory(), mode });
        }
        Ok(Self { root })
    }

    /// The name of a file that is not one of a cache, if there is one.
    pub(super) fn foreign_name(&self) -> io::Result<Option<String>> {
        let mut found = None;
        each_name(self.root.as_fd(), |name| {
            if !is_of_cache(name) {
                found.get_or_insert_with(|| String::from_utf8_lossy(name).into_owned());
            }
        })?;
        Ok(found)
    }

    /// The bytes of the marker; `None` if there is no marker, and any bytes if it is damaged.
    pub(super) fn read_marker(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = open_file(self.root.as_fd(), MARKER.as_bytes())? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes the marker, unless another process was faster, or over a damaged one.
    pub(super) fn write_marker(&self, bytes: &[u8], replaces: bool) -> io::Result<()> {
        let temporary = TemporaryEntry::write(self, bytes)?;
        // Without its marker, a cache of gigabytes is worthless.
        temporary.file.sync_all()?;
        let flags = if replaces { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        match renameat_with(&self.root, &temporary.name, &self.root, MARKER, flags) {
            Ok(()) => temporary.keep(),
            Err(Errno::EXIST) => {}
            // A file system that cannot refuse to replace.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                renameat(&self.root, &temporary.name, &self.root, MARKER)?;
                temporary.keep();
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// An entry of at most `most` bytes. `None` if there is none, or another kind of file.
    pub(super) fn read(&self, name: &EntryName, most: u64) -> io::Result<Option<EntryFile>> {
        let Some(group) = self.group(name.group)? else { return Ok(None) };
        let Some(mut file) = open_file(group.as_fd(), &name.rest)? else { return Ok(None) };
        let stat = fstat(&file)?;
        let size = size_of(&stat);
        if size > most {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        (&mut file).take(size).read_to_end(&mut bytes)?;
        Ok(Some(EntryFile { bytes, file, modified: stat.st_mtime }))
    }

    /// Writes an entry, and replaces an older one.
    pub(super) fn write(&self, name: &EntryName, bytes: &[u8]) -> io::Result<()> {
        let group = match self.group(name.group)? {
            Some(group) => group,
            None => self.make_group(name.group)?,
        };
        let temporary = TemporaryEntry::write(self, bytes)?;
        renameat(&self.root, &temporary.name, &group, name.rest.as_slice())?;
        temporary.keep();
        Ok(())
    }

    /// Calls `each` with every entry of a sub-directory. Entries that vanish meanwhile are left out.
    pub(super) fn list(&self, group: u8, mut each: impl FnMut(CachedFile)) -> io::Result<()> {
        let Some(directory) = self.group(group)? else { return Ok(()) };
        each_name(directory.as_fd(), |name| {
            let entry = EntryName::parse(group, name);
            if let Some(listed) = entry.and_then(|name| listed(directory.as_fd(), name)) {
                each(listed);
            }
        })
    }

    /// Removes an entry unless it has changed since it was listed. True if it is gone.
    pub(super) fn remove(&self, entry: &CachedFile) -> io::Result<bool> {
        let Some(group) = self.group(entry.name.group)? else { return Ok(true) };
        match listed(group.as_fd(), entry.name.clone()) {
            Some(now) if now.modified != entry.modified => return Ok(false),
            Some(_) => {}
            None => return Ok(true),
        }
        match unlinkat(&group, entry.name.rest.as_slice(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes files that were being written `age` seconds ago or earlier: their processes were killed.
    pub(super) fn remove_temporaries(&self, now: i64, age: i64) -> io::Result<()> {
        let mut names = Vec::new();
        each_name(self.root.as_fd(), |name| {
            if is_temporary(name) {
                names.push(name.to_owned());
            }
        })?;
        for name in names {
            let stat = statat(&self.root, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
            if stat.is_ok_and(|stat| stat.st_mtime <= now.saturating_sub(age)) {
                // Another process may have removed it.
                let _ = unlinkat(&self.root, name.as_slice(), AtFlags::empty());
            }
        }
        Ok(())
    }

    /// Opens a sub-directory; `None` if it is missing.
    fn group(&self, group: u8) -> io::Result<Option<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | CAREFUL;
        let opened = match openat(&self.root, group_name(group), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        let stat = fstat(&opened)?;
        if stat.st_uid != geteuid().as_raw() || stat.st_mode & WRITABLE != 0 {
            let problem = format!("other users can write to its directory {}", group_name(group));
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
        Ok(Some(opened))
    }

    fn make_group(&self, group: u8) -> io::Result<OwnedFd> {
        match mkdirat(&self.root, group_name(group), PRIVATE_DIRECTORY) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.group(group)?.ok_or_else(|| Errno::NOENT.into())
    }
}

impl EntryFile {
    /// Sets the time of the last use to now if it is `age` seconds ago or earlier.
    pub(super) fn touch(&self, now: i64, age: i64) -> io::Result<()> {
        if self.modified > now.saturating_sub(age) {
            return Ok(());
        }
        let omitted = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let current = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        futimens(&self.file, &Timestamps { last_access: omitted, last_modification: current })?;
        Ok(())
    }
}

/// A file under a temporary name, removed when dropped unless it was renamed.
struct TemporaryEntry<'a> {
    directory: &'a CacheDirectory,
    name: String,
    file: File,
    renamed: bool,
}

impl<'a> TemporaryEntry<'a> {
    fn write(directory: &'a CacheDirectory, bytes: &[u8]) -> io::Result<Self> {
        let name = temporary_name();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | CAREFUL;
        let file = File::from(openat(&directory.root, &name, flags, PRIVATE_FILE)?);
        let mut temporary = Self { directory, name, file, renamed: false };
        temporary.file.write_all(bytes)?;
        Ok(temporary)
    }

    fn keep(mut self) {
        self.renamed = true;
    }
}

impl Drop for TemporaryEntry<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // It is removed later if not now.
            let _ = unlinkat(&self.directory.root, &self.name, AtFlags::empty());
        }
    }
}

/// A regular file, open for reading; `None` if there is no file or another kind of file.
fn open_file(directory: BorrowedFd<'_>, name: &[u8]) -> io::Result<Option<File>> {
    let file = match openat(directory, name, OFlags::RDONLY | CAREFUL, Mode::empty()) {
        // A symbolic link, or a socket.
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
        file => file?,
    };
    let is_file = is_regular(&fstat(&file)?);
    Ok(is_file.then(|| File::from(file)))
}

fn listed(group: BorrowedFd<'_>, name: EntryName) -> Option<CachedFile> {
    let stat = statat(group, name.rest.as_slice(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let modified = time_modified(&stat);
    is_regular(&stat).then(|| CachedFile { name, size: size_of(&stat), modified })
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

/// Calls `each` with the names in a directory, except `.` and `..`.
fn each_name(directory: BorrowedFd<'_>, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(name);
        }
    }
    Ok(())
}

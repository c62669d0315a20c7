//! An index directory on a file system.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use rustix::fs::{FlockOperation, flock};

use super::commit::generations;
use super::{Bytes, Directory, Lease, Output, WriterLock};
use crate::error::{Error, Result};
use crate::sys::lock;

/// An index directory on a file system; see [`Directory`].
#[derive(Clone, Debug)]
pub struct FsDirectory {
    path: PathBuf,
    write_back: u64,
    /// Whether readers take leases; `None` means only if the file system needs them.
    leases: Option<bool>,
}

/// Name of the lock file.
const LOCK: &str = "lock";

/// Name of the file of leases. A reader locks the byte whose number is its commit.
const READERS: &str = "readers";

/// Files of up to this many bytes are read, which takes less time than mapping them.
const SMALL: usize = 16 << 10;

/// Name of the directory of the named snapshots in the directory of an index.
pub(crate) const SNAPSHOTS: &str = "snapshots";

impl FsDirectory {
    /// Uses the existing directory at `path`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        FsDirectory { path: path.to_path_buf(), write_back: WRITE_BACK, leases: None }
    }

    /// Tells the kernel to start writing a file back after every `bytes` bytes, instead of every 8 MiB.
    #[must_use]
    pub fn with_write_back(mut self, bytes: u64) -> Self {
        self.write_back = bytes;
        self
    }

    /// Sets whether readers take leases, instead of only on file systems that several machines share.
    #[must_use]
    pub fn with_leases(mut self, leases: bool) -> Self {
        self.leases = Some(leases);
        self
    }

    /// Returns an error if the directory is the place of a named snapshot, which nothing may change.
    pub(crate) fn must_not_be_snapshot(&self) -> Result<()> {
        // A directory that does not exist yet has no path without links.
        let place = fs::canonicalize(&self.path).or_else(|_| std::path::absolute(&self.path));
        let Some(index) = place.as_deref().ok().and_then(index_around) else { return Ok(()) };
        if !generations(&FsDirectory::new(index)).is_ok_and(|found| !found.is_empty()) {
            return Ok(());
        }
        let is_it = |path: &&Path| fs::canonicalize(path).is_ok_and(|found| found == index);
        let written = self.path.ancestors().nth(2).filter(is_it).unwrap_or(index).display();
        let path = self.path.display();
        Err(Error::Unsupported {
            what: format!("writing to {path}, which is the place of a named snapshot,"),
            remedy: format!(
                "a snapshot does not change: write to {written} itself, or copy the snapshot with cp -r and \
                 write to the copy"
            ),
        })
    }

    /// Opens the file of leases and locks one byte of it.
    fn lock_readers(&self, generation: u64, alone: bool) -> Option<Lease> {
        if !self.needs_leases() {
            return Some(Lease::unneeded());
        }
        let opened = OpenOptions::new().read(true).write(alone).open(self.file(READERS));
        match opened.and_then(|file| crate::sys::lock_byte(&file, generation, alone).map(|()| file)) {
            Ok(file) => Some(Lease::new(file)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            // There is no such file, or no such locks: continue as if leases were not needed.
            Err(_) => Some(Lease::unneeded()),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Directory for FsDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        let path = self.file(name);
        // A named snapshot may have the same file under another name, so its bytes must not change.
        let file = match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.remove(name)?;
                File::create_new(&path)
            }
            created => created,
        };
        let file = file.map_err(|source| Error::io("create", &path, source))?;
        Ok(Box::new(FsOutput { file, path, write_back: self.write_back, unsynced: 0, written: 0 }))
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        let path = self.file(name);
        let file = File::open(&path).map_err(|source| Error::io("open", &path, source))?;
        let len = file.metadata().map_err(|source| Error::io("look at", &path, source))?.len();
        let no_room = || crate::sys::out_of_memory(format!("map {}", path.display()), len);
        let len = usize::try_from(len).map_err(|_| no_room())?;
        if len <= SMALL {
            let mut bytes = vec![0; len];
            (&file).read_exact(&mut bytes).map_err(|source| Error::io("read", &path, source))?;
            return Ok(Bytes::from(bytes));
        }
        let map = crate::sys::map_file(&file, len).map_err(|source| match source.kind() {
            io::ErrorKind::OutOfMemory => no_room(),
            _ => Error::io("map", &path, source),
        })?;
        Ok(Bytes::mapped(map))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let path = self.file(from);
        fs::rename(&path, self.file(to)).map_err(|source| Error::io("rename", &path, source))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("remove", &path, source))
            }
            _ => Ok(()),
        }
    }

    fn list(&self) -> Result<Vec<String>> {
        let failed = |source| Error::io("list", &self.path, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        Ok(names)
    }

    fn sync(&self) -> Result<()> {
        let synced = File::open(&self.path).and_then(|directory| directory.sync_all());
        synced.map_err(|source| Error::io("sync", &self.path, source))
    }

    fn lock(&self) -> Result<WriterLock> {
        self.must_not_be_snapshot()?;
        let path = self.file(LOCK);
        loop {
            let mut options = OpenOptions::new();
            let file = options.create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(|source| Error::io("open", &path, source))?;
            // The kernel releases the lock when the process ends in any way.
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    let here = identity(file.metadata()).is_some_and(|found| held().contains(&found));
                    return Err(Error::Locked { path: self.path.clone(), here });
                }
                Err(source) => return Err(Error::io("lock", &path, source.into())),
            }
            let file = LockedFile::new(file);
            // The previous owner may have removed the file: a lock on a file without a name excludes nobody.
            if identity(file.file.metadata()) == identity(fs::metadata(&path)) {
                if self.needs_leases() {
                    // Readers may be unable to create the file. Without it, they have no leases, as without
                    // locks.
                    let _ = options.open(self.file(READERS));
                }
                return Ok(WriterLock::new(file));
            }
        }
    }

    fn reads_unfinished(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        self.path.display().to_string()
    }

    fn needs_leases(&self) -> bool {
        self.leases.unwrap_or_else(|| File::open(&self.path).is_ok_and(|found| crate::sys::is_shared(&found)))
    }

    fn lease(&self, generation: u64) -> Option<Lease> {
        self.lock_readers(generation, false)
    }

    fn retire(&self, generation: u64) -> Option<Lease> {
        self.lock_readers(generation, true)
    }
}

/// The directory in whose directory of snapshots a directory is.
fn index_around(path: &Path) -> Option<&Path> {
    let snapshots = path.parent().filter(|parent| parent.file_name() == Some(OsStr::new(SNAPSHOTS)));
    snapshots?.parent()
}

/// A file being written. It is written to the medium as it grows, so that the final sync has little left to
/// do.
#[derive(Debug)]
struct FsOutput {
    file: File,
    path: PathBuf,
    write_back: u64,
    unsynced: u64,
    written: u64,
}

/// The default number of bytes after which the kernel is told to start writing back.
const WRITE_BACK: u64 = 8 << 20;

impl Write for FsOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        self.unsynced += count as u64;
        if self.unsynced >= self.write_back {
            self.flush()?;
        }
        Ok(count)
    }

    /// Tells the kernel to start writing back the bytes so far.
    fn flush(&mut self) -> io::Result<()> {
        crate::sys::start_write_back(&self.file, self.written - self.unsynced, self.unsynced);
        self.unsynced = 0;
        Ok(())
    }
}

impl Output for FsOutput {
    fn finish(self: Box<Self>) -> Result<()> {
        self.file.sync_all().map_err(|source| Error::io("sync", &self.path, source))
    }
}

/// A file that is locked until it is dropped.
///
/// Closing it would not be enough: a program that another thread has just started still has the file open,
/// and with it the lock, until it is executed.
#[derive(Debug)]
struct LockedFile {
    file: File,
    identity: Option<LockIdentity>,
}

impl LockedFile {
    fn new(file: File) -> Self {
        let identity = identity(file.metadata());
        held().extend(identity);
        LockedFile { file, identity }
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // While others cannot have the lock, so that none of theirs is removed.
        if let Some(identity) = &self.identity {
            held().remove(identity);
        }
        // What fails here is released by the end of the process.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Device and inode of a file.
type LockIdentity = (u64, u64);

fn identity(found: io::Result<fs::Metadata>) -> Option<LockIdentity> {
    found.ok().map(|found| (found.dev(), found.ino()))
}

/// The files whose locks this process holds.
fn held() -> MutexGuard<'static, BTreeSet<LockIdentity>> {
    static HELD: Mutex<BTreeSet<LockIdentity>> = Mutex::new(BTreeSet::new());
    lock(&HELD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_tells_whether_this_process_holds_it() {
        let place = tempfile::tempdir().unwrap();
        let directory = FsDirectory::new(place.path());
        let told = |directory: &FsDirectory| directory.lock().unwrap_err().to_string();
        let lock = directory.lock().unwrap();
        assert!(
            told(&directory).contains("open for writing in this process: delete"),
            "{}",
            told(&directory)
        );
        drop(lock);
        // As another process would, which this one knows nothing of.
        let other = File::open(place.path().join(LOCK)).unwrap();
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(told(&directory).contains("by another process: wait"), "{}", told(&directory));
        drop(other);
        drop(directory.lock().unwrap());
    }

    #[test]
    fn a_file_that_is_written_again_keeps_its_bytes_under_its_other_names() {
        let place = tempfile::tempdir().unwrap();
        let directory = FsDirectory::new(place.path());
        for text in ["first", "second"] {
            let mut out = directory.create("a").unwrap();
            out.write_all(text.as_bytes()).unwrap();
            out.finish().unwrap();
            let _ = fs::hard_link(place.path().join("a"), place.path().join("b"));
        }
        assert_eq!(fs::read(place.path().join("a")).unwrap(), b"second");
        assert_eq!(fs::read(place.path().join("b")).unwrap(), b"first");
    }

    #[test]
    fn a_directory_that_cannot_be_synced_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let directory = FsDirectory::new(place.path().join("index"));
        assert!(directory.sync().is_err());
        fs::create_dir(place.path().join("index")).unwrap();
        directory.sync().unwrap();
    }

    #[test]
    fn a_lock_ends_although_its_file_is_still_open() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let file = File::create(&path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        let _open = file.try_clone().unwrap();
        drop(LockedFile::new(file));
        flock(File::create(&path).unwrap(), FlockOperation::NonBlockingLockExclusive).unwrap();
    }
}

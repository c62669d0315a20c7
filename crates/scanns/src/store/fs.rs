//! A directory of a file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::{Bytes, Directory, Lease, Output, WriterLock};
use crate::error::{Error, Result};

/// Files of one directory; see [`Directory`].
#[derive(Clone, Debug)]
pub struct FsDirectory {
    path: PathBuf,
    write_back: u64,
    /// Whether readers take leases; `None` for what the file system needs.
    leases: Option<bool>,
}

/// Name of the lock file.
const LOCK: &str = "lock";

/// Name of the file of which readers lock the byte that is numbered as their commit.
const READERS: &str = "readers";

impl FsDirectory {
    /// The directory at `path`, which exists.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        FsDirectory { path: path.to_path_buf(), write_back: WRITE_BACK, leases: None }
    }

    /// Tells the kernel to start writing a file back after every `bytes` of it, instead of 8 MiB.
    #[must_use]
    pub fn with_write_back(mut self, bytes: u64) -> Self {
        self.write_back = bytes;
        self
    }

    /// Says whether readers tell a writer what they use, instead of only where the file system is one of
    /// several machines.
    #[must_use]
    pub fn with_leases(mut self, leases: bool) -> Self {
        self.leases = Some(leases);
        self
    }

    /// Opens the file of leases and locks a byte of it.
    fn lock_readers(&self, generation: u64, alone: bool) -> Option<Lease> {
        if !self.needs_leases() {
            return Some(Lease::unneeded());
        }
        let opened = OpenOptions::new().read(true).write(alone).open(self.file(READERS));
        match opened.and_then(|file| crate::sys::lock_byte(&file, generation, alone).map(|()| file)) {
            Ok(file) => Some(Lease::new(file)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            // No such file or no such locks: all goes on as if nobody needed any.
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
        let file = File::create(&path).map_err(|source| Error::io("create", &path, source))?;
        Ok(Box::new(FsOutput { file, path, write_back: self.write_back, unsynced: 0, written: 0 }))
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        let path = self.file(name);
        let file = File::open(&path).map_err(|source| Error::io("open", &path, source))?;
        let len = file.metadata().map_err(|source| Error::io("look at", &path, source))?.len();
        if len == 0 {
            return Ok(Bytes::from(Vec::new()));
        }
        let map = crate::sys::map_file(&file).map_err(|source| Error::io("map", &path, source))?;
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
        let path = self.file(LOCK);
        loop {
            let mut options = OpenOptions::new();
            let file = options.create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(|source| Error::io("open", &path, source))?;
            // The kernel frees the lock when the process ends, however it ends.
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(Error::Locked { path: self.path.clone() }),
                Err(source) => return Err(Error::io("lock", &path, source.into())),
            }
            // Who held it before may have removed the file: a lock without its name locks nobody out.
            let identity =
                |found: io::Result<fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
            if identity(file.metadata()) == identity(fs::metadata(&path)) {
                if self.needs_leases() {
                    // Readers may be unable to make it. Without it they have no leases, as without locks.
                    let _ = options.open(self.file(READERS));
                }
                return Ok(WriterLock::new(file));
            }
        }
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

/// A file being written, sent to the medium as it grows so that the final sync has little left to do.
#[derive(Debug)]
struct FsOutput {
    file: File,
    path: PathBuf,
    write_back: u64,
    unsynced: u64,
    written: u64,
}

/// Bytes after which the kernel is told to start writing back, if nothing else is asked for.
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

    /// Has the kernel start writing back what it holds.
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

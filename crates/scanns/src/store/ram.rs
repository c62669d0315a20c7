//! A directory in memory: for tests, and for indexes that need not outlive the process.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Bytes, Directory, Output, WriterLock};
use crate::error::{Error, Result};
use crate::sys::lock;

/// An index directory in memory; see [`Directory`]. Clones share their files.
#[derive(Clone, Debug, Default)]
pub struct RamDirectory {
    files: Arc<Mutex<BTreeMap<String, Arc<[u8]>>>>,
    lock_held: Arc<Mutex<bool>>,
}

impl RamDirectory {
    /// Creates an empty directory.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn with_files(files: BTreeMap<String, Arc<[u8]>>) -> Self {
        RamDirectory { files: Arc::new(Mutex::new(files)), lock_held: Arc::default() }
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<[u8]>>> {
        lock(&self.files)
    }
}

fn missing(action: &'static str, name: &str) -> Error {
    Error::io(action, &PathBuf::from(name), io::ErrorKind::NotFound.into())
}

impl Directory for RamDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        self.files().insert(name.into(), Arc::new([]));
        Ok(Box::new(RamOutput { directory: self.clone(), name: name.into(), bytes: Vec::new() }))
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        self.files().get(name).cloned().map(Bytes::from).ok_or_else(|| missing("open", name))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut files = self.files();
        let bytes = files.remove(from).ok_or_else(|| missing("rename", from))?;
        files.insert(to.into(), bytes);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.files().remove(name);
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self) -> Result<WriterLock> {
        let mut held = lock(&self.lock_held);
        if std::mem::replace(&mut *held, true) {
            return Err(Error::Locked { path: "memory".into(), here: true });
        }
        Ok(WriterLock::new(ReleaseRam(self.lock_held.clone())))
    }

    fn describe(&self) -> String {
        "memory".into()
    }
}

/// Releases the lock when dropped.
#[derive(Debug)]
struct ReleaseRam(Arc<Mutex<bool>>);

impl Drop for ReleaseRam {
    fn drop(&mut self) {
        *lock(&self.0) = false;
    }
}

struct RamOutput {
    directory: RamDirectory,
    name: String,
    bytes: Vec<u8>,
}

impl Write for RamOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for RamOutput {
    fn finish(self: Box<Self>) -> Result<()> {
        self.directory.files().insert(self.name, self.bytes.into());
        Ok(())
    }
}

//! A cache of what extractors found in documents, by the content of the documents.
//!
//! In: a document, and later the answer of a child. Out: the answer of an earlier child to the same bytes. To
//! find it, the document is read and hashed, which takes a small part of the time of extracting it. The cache
//! is a directory of one user with a file for each answer. Any number of processes may share it; they need no
//! locks.
//!
//! A wrong answer is worse than none, so a key depends on all that decides an answer (`key.rs`), its hash has
//! a secret key (`siphash.rs`), an entry that differs in any bit from what was written is not used
//! (`entry.rs`), other users cannot write to the directory (`directory.rs`), and answers that may be
//! different next time are not kept: crashes, time-outs, and errors of the machine.
//!
//! Start with [`ExtractCache`]. `marker.rs` tells a cache from other directories, `names.rs` has the names of
//! its files, `room.rs` keeps it within its limit.

mod directory;
mod entry;
mod error;
mod key;
mod marker;
mod names;
mod room;
mod siphash;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use error::ExtractCacheError;

pub(super) use entry::ExtractAnswer;
pub(super) use key::{ContentKey, FileStamp};

use super::ExtractLimits;
use directory::CacheDirectory;
use key::KeyContext;
use marker::{Marked, marked};
use names::EntryName;
use room::CacheRoom;

/// Seconds between two updates of the time when an entry was last used.
const TOUCH: i64 = 3600;
/// A file that changed this recently may change once more without a trace in its times.
const UNSETTLED: Duration = Duration::from_secs(2);

/// Where a cache is, how large it may become, and whose answers are in it.
#[derive(Clone, Debug)]
pub struct ExtractCacheOptions {
    /// The directory. It is created if it is missing, but its parent is not.
    pub directory: PathBuf,
    /// The most bytes of disk that the entries may take.
    pub size: u64,
    /// The versions of all programs that extract text. Answers of other versions are not used.
    pub versions: String,
}

/// A cache of answers of extractors, for all threads of a build.
#[derive(Debug)]
pub struct ExtractCache {
    directory: CacheDirectory,
    secret: [u8; 16],
    versions: String,
    room: CacheRoom,
    unsettled: Duration,
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    errors: AtomicU64,
    first_error: Mutex<Option<String>>,
}

/// What a cache did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheNotes {
    /// Documents whose answer was in the cache.
    pub hits: u64,
    /// Documents whose answer was not in it.
    pub misses: u64,
    /// Entries that were damaged. They count as misses.
    pub damaged: u64,
    /// Operations of the cache that failed. They cost time but change no index.
    pub errors: u64,
    /// The first of these errors.
    pub first_error: Option<String>,
}

impl ExtractCache {
    /// Opens a cache. The directory is created if it is missing.
    ///
    /// # Errors
    /// The directory cannot be opened or written, belongs to another user, can be written by others, or holds
    /// other files.
    pub fn open(options: ExtractCacheOptions) -> Result<Self, ExtractCacheError> {
        let ExtractCacheOptions { directory: path, size, versions } = options;
        let directory = CacheDirectory::open(&path)?;
        let secret = match marked(&directory) {
            Ok(Marked::Cache(secret)) => secret,
            Ok(Marked::Foreign(name)) => {
                return Err(ExtractCacheError::Foreign { directory: path, name });
            }
            Err(error) => return Err(ExtractCacheError::Io { directory: path, error }),
        };
        Ok(Self {
            directory,
            secret,
            versions,
            room: CacheRoom::new(size),
            unsettled: UNSETTLED,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            first_error: Mutex::default(),
        })
    }

    /// What the cache did so far.
    pub fn notes(&self) -> CacheNotes {
        CacheNotes {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            damaged: self.damaged.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            first_error: self.first_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// The key of an open file, and what the system says about the file. The position of the file stays.
    /// `None` if the answer shall not come from the cache: the extractor is as fast, or the file changes.
    pub(super) fn key_of_file(
        &self,
        file: BorrowedFd<'_>,
        name: &[u8],
        limits: &ExtractLimits,
        cancel: &AtomicBool,
    ) -> Option<(ContentKey, FileStamp)> {
        self.context(name, limits).of_file(file, cancel)
    }

    /// The key of a document in memory; `None` if the extractor is as fast as the cache.
    pub(super) fn key_of_bytes(
        &self,
        bytes: &[u8],
        name: &[u8],
        limits: &ExtractLimits,
    ) -> Option<ContentKey> {
        self.context(name, limits).of_bytes(bytes)
    }

    fn context<'a>(&'a self, name: &'a [u8], limits: &'a ExtractLimits) -> KeyContext<'a> {
        KeyContext { secret: self.secret, version: self.versions.as_bytes(), limits, name }
    }

    /// The answer that was kept for this key.
    pub(super) fn get(&self, key: &ContentKey, limits: &ExtractLimits) -> Option<ExtractAnswer> {
        let found = self.find(key, limits);
        let count = if found.is_some() { &self.hits } else { &self.misses };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    fn find(&self, key: &ContentKey, limits: &ExtractLimits) -> Option<ExtractAnswer> {
        let read = self.directory.read(&EntryName::of(&key.hash), entry::most_entry(limits));
        let file = read.unwrap_or_else(|error| self.failed("read an entry", &error))?;
        let Some(answer) = entry::decode(&file.bytes, key, limits) else {
            self.damaged.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if let Err(error) = file.touch(now(), TOUCH) {
            self.failed::<()>("note the use of an entry", &error);
        }
        Some(answer)
    }

    /// Keeps an answer, if it is one that says something about the document itself.
    pub(super) fn put(&self, key: &ContentKey, answer: &ExtractAnswer) {
        let entry = match entry::encode(key, answer) {
            Ok(Some(entry)) if self.room.fits(entry.len() as u64) => entry,
            Ok(_) => return,
            Err(error) => {
                self.failed::<()>("compress an entry", &error);
                return;
            }
        };
        match self.room.reserve(&self.directory, entry.len() as u64, now()) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                self.failed::<()>("keep its size, and keeps no more answers", &error);
                return;
            }
        }
        if let Err(error) = self.directory.write(&EntryName::of(&key.hash), &entry) {
            self.failed::<()>("write an entry", &error);
        }
    }

    /// Keeps the answer of a child that read a file after its key was made, unless the file may have changed
    /// in between.
    pub(super) fn put_of_file(
        &self,
        key: &ContentKey,
        stamp: &FileStamp,
        file: BorrowedFd<'_>,
        answer: &ExtractAnswer,
    ) {
        if stamp.is_of(file) && !stamp.is_younger_than(self.unsettled) {
            self.put(key, answer);
        }
    }

    /// Notes an error.
    fn failed<T>(&self, what: &str, error: &dyn Display) -> Option<T> {
        self.errors.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| format!("cannot {what}: {error}"));
        None
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

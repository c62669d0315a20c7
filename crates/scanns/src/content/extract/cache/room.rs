//! The bound of a cache: how much is in it, and which entries go when it is full.
//!
//! The files of the directory are counted before the first entry is written, and again after every 64th part
//! of the limit that this process has written: other processes write too. With `n` writers, a cache is
//! therefore larger than its limit by at most about `n` 64th parts. If it is full, the entries that were not
//! used for the longest time are removed until nine tenths of the limit are left. A count takes about 5 s and
//! 72 MB for a million entries (measured: 1.2 s for 256,000 on a local disk).
//!
//! Processes that remove entries at the same time list about the same ones, and a file that is gone already
//! counts as removed. An entry that was used since it was listed stays.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::directory::{CacheDirectory, CachedFile};

/// Of the limit, the part that is written between two counts.
const COUNTS: u64 = 64;
/// File systems allocate blocks of this size.
const BLOCK: u64 = 4096;
/// Seconds after which a file that is being written belongs to a process that was killed.
const ABANDONED: i64 = 24 * 3600;

/// The room in a cache.
#[derive(Debug)]
pub(super) struct CacheRoom {
    /// The most bytes that the entries may take.
    most: u64,
    taken: Mutex<TakenRoom>,
    /// Held by the thread that counts; others do not wait for it.
    counting: Mutex<()>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TakenRoom {
    /// Bytes of all entries at the last count.
    counted: Option<u64>,
    /// Bytes that this process has written since.
    written: u64,
    /// A count failed. Nothing is written any more, because the limit cannot be kept.
    is_closed: bool,
}

impl CacheRoom {
    pub(super) fn new(most: u64) -> Self {
        Self { most, taken: Mutex::default(), counting: Mutex::default() }
    }

    /// True if an entry of this size may be kept: it must not drive out a large part of the others.
    pub(super) fn fits(&self, bytes: u64) -> bool {
        allocated(bytes) <= self.most / 10
    }

    /// Makes room for an entry, before it is written. False if nothing shall be written any more.
    ///
    /// # Errors
    /// The entries cannot be counted or removed. It is reported once.
    pub(super) fn reserve(&self, directory: &CacheDirectory, bytes: u64, now: i64) -> io::Result<bool> {
        let coming = allocated(bytes);
        let mut taken = self.lock();
        taken.written = taken.written.saturating_add(coming);
        let before = *taken;
        drop(taken);
        if before.is_closed || !self.is_due(before) {
            return Ok(!before.is_closed);
        }
        let Ok(_turn) = self.counting.try_lock() else { return Ok(true) };
        // Another thread may have counted in between.
        let before = *self.lock();
        if before.is_closed || !self.is_due(before) {
            return Ok(!before.is_closed);
        }
        // Of what was written since, the directory has all but this entry and those of other threads.
        let counted = self.count(directory, coming, now);
        let mut taken = self.lock();
        taken.counted = counted.as_ref().ok().copied();
        taken.is_closed = counted.is_err();
        taken.written = taken.written.saturating_sub(before.written).saturating_add(coming);
        counted.map(|_| true)
    }

    fn is_due(&self, taken: TakenRoom) -> bool {
        let Some(counted) = taken.counted else { return true };
        taken.written >= (self.most / COUNTS).max(1) || counted.saturating_add(taken.written) > self.most
    }

    /// The bytes of all entries, after some of them were removed if there are too many.
    fn count(&self, directory: &CacheDirectory, coming: u64, now: i64) -> io::Result<u64> {
        directory.remove_temporaries(now, ABANDONED)?;
        let mut entries: Vec<CachedFile> = Vec::new();
        for group in 0..=u8::MAX {
            directory.list(group, |entry| entries.push(entry))?;
        }
        let mut total: u64 = entries.iter().map(|entry| allocated(entry.size)).sum();
        if total.saturating_add(coming) <= self.most {
            return Ok(total);
        }
        entries.sort_unstable_by_key(|entry| entry.modified);
        let goal = self.most / 10 * 9;
        let mut failed = None;
        for entry in &entries {
            if total.saturating_add(coming) <= goal {
                break;
            }
            match directory.remove(entry) {
                Ok(true) => total -= allocated(entry.size),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        }
        // One entry that cannot be removed is no harm.
        let is_full = total.saturating_add(coming) > self.most;
        failed.filter(|_| is_full).map_or(Ok(total), Err)
    }

    fn lock(&self) -> MutexGuard<'_, TakenRoom> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes that a file of this size takes of a disk.
fn allocated(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX)
}

//! The progress of a build or a merge: counters that the working threads update and any thread may read.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The current activity of a build or a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finding the inputs.
    Walking,
    /// Reading and indexing the inputs; threads whose memory is full also write segments.
    Indexing,
    /// Writing the last segments.
    Flushing,
    /// Writing the manifest.
    Committing,
    /// Merging several segments into one.
    Merging,
    /// Computing an order for the documents of a merge; the byte counters then count documents times cuts.
    Ordering,
    /// Listing the entries of file systems and indexing them; the byte counters then count entries, and the
    /// total is an estimate.
    Scanning,
}

/// The progress of a build or a merge, shared with the thread that displays it.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    pub(super) bytes: AtomicU64,
    pub(super) total_bytes: AtomicU64,
    pub(super) files: AtomicU64,
    pub(super) total_files: AtomicU64,
    pub(super) documents: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) segments: AtomicU64,
}

impl Progress {
    /// Creates a progress with all counters at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// The current activity.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Walking,
            1 => Phase::Indexing,
            2 => Phase::Flushing,
            3 => Phase::Committing,
            4 => Phase::Merging,
            5 => Phase::Ordering,
            _ => Phase::Scanning,
        }
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// The number of bytes indexed.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The number of bytes to index; 0 while the inputs are not known.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// The number of files read to their end.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// The number of files to read; 0 while the inputs are not known.
    pub fn total_files(&self) -> u64 {
        self.total_files.load(Ordering::Relaxed)
    }

    /// The number of documents indexed.
    pub fn documents(&self) -> u64 {
        self.documents.load(Ordering::Relaxed)
    }

    /// The number of inputs that failed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// The number of segments written.
    pub fn segments(&self) -> u64 {
        self.segments.load(Ordering::Relaxed)
    }
}

//! How far a build or a merge is: counters that the pipeline moves and anybody may look at.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What a build or a merge is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finding the inputs.
    Walking,
    /// Reading and inverting them; threads whose memory is full write segments meanwhile.
    Indexing,
    /// Writing the last segments.
    Flushing,
    /// Publishing the manifest.
    Committing,
    /// Writing several segments as one.
    Merging,
    /// Finding an order for the documents of a merge; what counts as bytes is then documents times cuts.
    Ordering,
}

/// Shared between a build or a merge and who shows it.
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
    /// Nothing done yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the build is doing.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Walking,
            1 => Phase::Indexing,
            2 => Phase::Flushing,
            3 => Phase::Committing,
            4 => Phase::Merging,
            _ => Phase::Ordering,
        }
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Bytes indexed.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes to index; 0 while the inputs are not known.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }

    /// Files read to their end.
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// Files to read; 0 while the inputs are not known.
    pub fn total_files(&self) -> u64 {
        self.total_files.load(Ordering::Relaxed)
    }

    /// Documents indexed.
    pub fn documents(&self) -> u64 {
        self.documents.load(Ordering::Relaxed)
    }

    /// Inputs that failed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Segments written.
    pub fn segments(&self) -> u64 {
        self.segments.load(Ordering::Relaxed)
    }
}

//! The state that the read threads of a run share: the design, the list of inputs, and what became of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use scanns::sources::{Failure, Input};

/// The steps of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Each block is newly allocated, read through the page cache, and freed by the thread that is done with
    /// it. Blocks cut tokens.
    Std,
    /// Blocks come from a pool and go back to it; they are read past the page cache where that is possible.
    /// Blocks cut tokens.
    Pool,
    /// As [`Design::Pool`], with blocks and threads on one memory node.
    Numa,
    /// As [`Design::Numa`]. A little beyond the end of each block is read with it, so that it ends with a
    /// whole token.
    Wave,
}

/// The outcome of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Bytes passed to lanes.
    pub bytes: u64,
    /// Every input that could not be read completely.
    pub failures: Vec<Failure>,
}

/// The list of inputs, from which each read thread takes the next one, and what became of them.
pub(super) struct SharedInputs {
    pub(super) inputs: Arc<Vec<Input>>,
    pub(super) cancel: Arc<AtomicBool>,
    pub(super) next: AtomicUsize,
    pub(super) bytes: AtomicU64,
    pub(super) failures: Mutex<BTreeMap<usize, String>>,
}

impl SharedInputs {
    pub(super) fn fail(&self, input: usize, reason: &std::io::Error) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.entry(input).or_insert_with(|| reason.to_string());
    }

    pub(super) fn reading(&self) -> Reading {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = |(&input, reason): (&usize, &String)| {
            let path = self.inputs.get(input)?.path.clone();
            Some(Failure { path, reason: reason.clone() })
        };
        let failures = failures.iter().filter_map(failure).collect();
        Reading { bytes: self.bytes.load(Ordering::Relaxed), failures }
    }
}

//! The pool: at most `processes` children, started when needed, shared by all threads.
//!
//! A thread takes an idle child, or starts one, or waits until another thread gives one back. A child goes
//! back to the idle ones only after an answer; after anything else it is ended. One that served many files is
//! replaced, in case its parsers leak.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::cache::{CacheNotes, ExtractCache};
use super::exchange::{Exchange, ExchangeOutcome, LOOK};
use super::process::ExtractorProcess;
use super::{ExtractFailure, ExtractLimits, Extracted, ExtractorCommand};

/// Files that a child serves before another replaces it.
const FILES: u32 = 1000;

/// Child processes that extract text. All threads of an index build share one. Dropping it ends the children.
pub struct Extractors {
    command: ExtractorCommand,
    limits: ExtractLimits,
    processes: usize,
    cache: Option<ExtractCache>,
    state: Mutex<ExtractorState>,
    freed: Condvar,
}

#[derive(Default)]
struct ExtractorState {
    idle: Vec<ExtractorProcess>,
    busy: usize,
}

impl fmt::Debug for Extractors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Extractors").field("command", &self.command).finish_non_exhaustive()
    }
}

/// The right to use one of the `processes`; given back when dropped.
struct ExtractorTurn<'a>(&'a Extractors);

impl Extractors {
    /// Starts nothing yet.
    pub fn new(command: ExtractorCommand, limits: ExtractLimits, processes: usize) -> Self {
        let processes = processes.max(1);
        Self { command, limits, processes, cache: None, state: Mutex::default(), freed: Condvar::new() }
    }

    /// The same, which first look for answers in a cache.
    pub fn with_cache(self, cache: ExtractCache) -> Self {
        Self { cache: Some(cache), ..self }
    }

    /// What the cache did so far; `None` without a cache.
    pub fn cache_notes(&self) -> Option<CacheNotes> {
        self.cache.as_ref().map(ExtractCache::notes)
    }

    /// Extracts the text of an open file, and waits for it. The child gets a duplicate of the descriptor,
    /// which shares its position: it reads from the start, and the position is anywhere afterwards. Pass a
    /// file opened for reading only. The end of `name` may tell the format.
    pub fn extract(
        &self,
        file: BorrowedFd<'_>,
        name: &[u8],
        cancel: &AtomicBool,
    ) -> Result<Extracted, ExtractFailure> {
        let Some(cache) = &self.cache else { return self.ask(file, name, cancel)?.answer };
        let Some((key, stamp)) = cache.key_of_file(file, name, &self.limits, cancel) else {
            return self.ask(file, name, cancel)?.answer;
        };
        if let Some(answer) = cache.get(&key, &self.limits) {
            return answer;
        }
        let outcome = self.ask(file, name, cancel)?;
        if !outcome.passing {
            cache.put_of_file(&key, &stamp, file, &outcome.answer);
        }
        outcome.answer
    }

    /// Extracts the text of a file in memory, such as a member of an archive.
    pub fn extract_bytes(
        &self,
        bytes: &[u8],
        name: &[u8],
        cancel: &AtomicBool,
    ) -> Result<Extracted, ExtractFailure> {
        let cached = self.cache.as_ref().and_then(|cache| {
            let key = cache.key_of_bytes(bytes, name, &self.limits)?;
            Some((cache, key))
        });
        if let Some(answer) = cached.and_then(|(cache, key)| cache.get(&key, &self.limits)) {
            return answer;
        }
        let file = sealed_copy(bytes).map_err(ExtractFailure::Start)?;
        let outcome = self.ask(file.as_fd(), name, cancel)?;
        if let Some((cache, key)) = cached.filter(|_| !outcome.passing) {
            cache.put(&key, &outcome.answer);
        }
        outcome.answer
    }

    /// Asks a child about a file. An error says that no child could be asked.
    fn ask(
        &self,
        file: BorrowedFd<'_>,
        name: &[u8],
        cancel: &AtomicBool,
    ) -> Result<ExchangeOutcome, ExtractFailure> {
        let (turn, idle) = self.take_turn(cancel)?;
        let mut process = match idle {
            Some(process) => process,
            None => ExtractorProcess::start(&self.command).map_err(ExtractFailure::Start)?,
        };
        let outcome = Exchange::new(&mut process, &self.limits, cancel).run(file, name);
        process.served += 1;
        let answered = outcome.answer.as_ref().err().is_none_or(ExtractFailure::is_answer);
        if answered && !outcome.last && process.served < FILES {
            self.lock().idle.push(process);
        } else {
            drop(process);
        }
        drop(turn);
        Ok(outcome)
    }

    fn take_turn(
        &self,
        cancel: &AtomicBool,
    ) -> Result<(ExtractorTurn<'_>, Option<ExtractorProcess>), ExtractFailure> {
        let mut state = self.lock();
        while state.busy >= self.processes {
            if cancel.load(Ordering::Relaxed) {
                return Err(ExtractFailure::Cancelled);
            }
            state = self.freed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.busy += 1;
        let turn = ExtractorTurn(self);
        let mut unfit = Vec::new();
        let mut idle = state.idle.pop();
        while let Some(process) = idle.take_if(|process| !process.is_ready()) {
            unfit.push(process);
            idle = state.idle.pop();
        }
        // Ending a child takes time, so it happens without the lock.
        drop(state);
        drop(unfit);
        Ok((turn, idle))
    }

    fn lock(&self) -> MutexGuard<'_, ExtractorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ExtractorTurn<'_> {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
        self.0.freed.notify_one();
    }
}

/// A file in memory that nobody can change any more.
fn sealed_copy(bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("document", flags)?);
    file.write_all(bytes)?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file)
}

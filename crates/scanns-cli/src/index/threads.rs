//! The number of threads of a build: from the command line, a profile, or the number of cores.

use anyhow::{Result, bail};

use crate::args::{ReadArgs, ResourceArgs};
use crate::profile::Parameters;

/// The threads of a build; index threads are a multiple of read threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Number of read threads.
    pub read: usize,
    /// Number of index threads.
    pub index: usize,
}

/// Index threads per read thread: reading costs about a quarter of what indexing costs.
const INDEX_PER_READ: usize = 4;

/// The threads from the command line, else from a profile, else by the number of cores. The two numbers of a
/// profile belong together, so one number on the command line replaces both.
pub(super) fn threads(resources: &ResourceArgs, reading: &ReadArgs, profile: &Parameters) -> Result<Threads> {
    let (read, index) = match (resources.threads, reading.read_threads, reading.index_threads) {
        (None, None, None) => (profile.read_threads, profile.index_threads),
        (_, read, index) => (read, index),
    };
    share_out(cores(resources), read, index)
}

/// Each index thread by default has at least this much of a limited address space (`ulimit -v`).
const ADDRESS_SPACE: u64 = 1 << 30;

/// The number of cores to use.
fn cores(resources: &ResourceArgs) -> usize {
    let available = || {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let room = scanns::tuning::address_space_limit().map(|limit| (limit / ADDRESS_SPACE).max(1));
        room.map_or(cores, |room| cores.min(usize::try_from(room).unwrap_or(usize::MAX)))
    };
    resources.threads.unwrap_or_else(available)
}

/// The threads of a build if only the number of cores is given.
pub fn default_threads(resources: &ResourceArgs) -> Result<Threads> {
    share_out(cores(resources), None, None)
}

fn share_out(cores: usize, read: Option<usize>, index: Option<usize>) -> Result<Threads> {
    match (read, index) {
        (Some(read), Some(index)) if index < read => bail!(
            "--index-threads {index} is less than --read-threads {read}: each read thread serves at least \
             one index thread"
        ),
        (Some(read), Some(index)) if !index.is_multiple_of(read) => bail!(
            "--index-threads {index} is not a multiple of --read-threads {read}: each read thread serves the \
             same number of index threads, so give {} or {}",
            index / read * read,
            (index / read + 1) * read,
        ),
        (Some(read), Some(index)) => Ok(Threads { read, index }),
        (Some(read), None) => Ok(Threads { read, index: (cores / read).max(1) * read }),
        (None, index) => {
            let index = index.unwrap_or(cores);
            let most = index.div_ceil(INDEX_PER_READ);
            let read = (1..=most).rev().find(|&read| index.is_multiple_of(read)).unwrap_or(1);
            Ok(Threads { read, index })
        }
    }
}

//! Which shards of a plan are done, running or missing.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::attempt::{AttemptName, SIGN_LASTS, age_of_sign};
use super::build_shard::published;
use super::plan_file::ShardPlan;
use crate::error::{Error, Result};
use crate::store::{Directory, FsDirectory};

/// The state of a shard.
#[derive(Clone, Debug)]
pub struct ShardStatus {
    /// The number of the shard.
    pub number: u32,
    /// Its state.
    pub state: ShardState,
}

/// What is known of a shard.
#[derive(Clone, Debug)]
pub enum ShardState {
    /// It is published.
    Done {
        /// The number of documents.
        documents: u64,
        /// The number of inputs that could not be indexed.
        failed: u64,
    },
    /// Somebody is building it.
    Running {
        /// The machine.
        host: String,
        /// The number of the process there.
        process: u32,
        /// Time since the last sign of life.
        silent: Duration,
    },
    /// A process began to build it, and has given no sign of life for two minutes.
    Stopped {
        /// The machine.
        host: String,
        /// The number of the process there.
        process: u32,
    },
    /// Nobody has begun to build it, as far as is known.
    Missing,
    /// Something has its name that cannot be used, and why.
    Unusable(String),
}

impl ShardPlan {
    /// The state of every shard, in the order of their numbers. `output` is the directory of the index, if it
    /// is not where the plan says.
    ///
    /// # Errors
    /// The directory of the index cannot be listed. It need not exist.
    pub fn status(&self, output: Option<&Path>) -> Result<Vec<ShardStatus>> {
        let index = output.unwrap_or(self.index());
        let names = match FsDirectory::new(index).list() {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        let mut signs: BTreeMap<String, ShardState> = BTreeMap::new();
        for name in &names {
            let Some(AttemptName { shard, host, process, is_sign: true }) = AttemptName::parse(name) else {
                continue;
            };
            // It has ended since.
            let Ok(silent) = age_of_sign(&index.join(name)) else { continue };
            let state = match silent < SIGN_LASTS {
                true => ShardState::Running { host, process, silent },
                false => ShardState::Stopped { host, process },
            };
            let known = signs.entry(shard).or_insert_with(|| state.clone());
            if matches!(state, ShardState::Running { .. }) {
                *known = state;
            }
        }
        let state = |shard| match published(self, index, shard) {
            Ok(Some((manifest, note))) => {
                let documents = manifest.segments.iter().map(|segment| segment.live()).sum();
                ShardState::Done { documents, failed: note.failed }
            }
            Ok(None) => signs.remove(&shard.name).unwrap_or(ShardState::Missing),
            Err(error) => ShardState::Unusable(error.to_string()),
        };
        let mut state = state;
        Ok(self
            .shards()
            .iter()
            .map(|shard| ShardStatus { number: shard.number, state: state(shard) })
            .collect())
    }
}

//! Builds one shard of a plan, and publishes it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::attempt::{Attempt, make_directory, remove_dead};
use super::plan_file::{PlannedShard, ShardPlan};
use crate::error::{Error, Result};
use crate::index::build::index_threads::BuildCall;
use crate::index::build::options::{FieldOptions, IndexOptions};
use crate::index::build::report::IndexReport;
use crate::index::build::run::build_slice;
use crate::index::build::shard_note::ShardNote;
use crate::index::build::slice::SliceOrigin;
use crate::index::commit::manifest::Manifest;
use crate::index::progress::Progress;
use crate::source::SourceOptions;
use crate::store::{Directory, FsDirectory, generations, publish, read_newest};

/// How to build a shard.
#[derive(Clone, Debug, Default)]
pub struct ShardOptions {
    /// Threads, memory and the like. The plan decides everything about documents.
    pub build: IndexOptions,
    /// A directory to build in, which may be on a local disk; `None` for the directory of the index.
    pub scratch: Option<PathBuf>,
    /// The directory of the index, if it is not where the plan says.
    pub output: Option<PathBuf>,
}

/// What became of a shard.
#[derive(Debug)]
pub enum ShardOutcome {
    /// It was built and published; some inputs may have failed.
    Built(Box<IndexReport>),
    /// It was published before.
    WasThere,
    /// It was built, and another process published it first; this attempt was removed.
    Discarded,
    /// The build was stopped, and nothing of it is left.
    Stopped,
}

impl ShardPlan {
    /// Builds a shard and publishes it by a rename, unless it is there. This may be repeated, and happen at
    /// the same time in several processes.
    ///
    /// # Errors
    /// The index cannot be written, or something else has the name of the shard. Nothing is published then.
    /// Inputs that cannot be read are not errors: the report lists them.
    pub fn build(
        &self,
        number: u32,
        options: &ShardOptions,
        progress: &Progress,
        cancel: &Arc<AtomicBool>,
    ) -> Result<ShardOutcome> {
        let shard = self.shard(number)?;
        let index = options.output.as_deref().unwrap_or(self.index());
        make_directory(index)?;
        if !generations(&FsDirectory::new(index))?.is_empty() {
            let why = "it is an index of its own; give another directory for the shards of the plan";
            return Err(Error::Shard { path: index.to_path_buf(), reason: why.into() });
        }
        if let Some(scratch) = &options.scratch {
            make_directory(scratch)?;
            remove_dead(scratch, &shard.name);
        }
        remove_dead(index, &shard.name);
        if published(self, index, shard)?.is_some() {
            // Its name may not be synced yet.
            FsDirectory::new(index).sync()?;
            return Ok(ShardOutcome::WasThere);
        }
        match self.attempt(index, shard, options, progress, cancel) {
            // Another attempt was published, and what this one had was removed.
            Err(_) if published(self, index, shard).is_ok_and(|found| found.is_some()) => {
                FsDirectory::new(index).sync()?;
                Ok(ShardOutcome::Discarded)
            }
            outcome => outcome,
        }
    }

    fn attempt(
        &self,
        index: &Path,
        shard: &PlannedShard,
        options: &ShardOptions,
        progress: &Progress,
        cancel: &Arc<AtomicBool>,
    ) -> Result<ShardOutcome> {
        let (bytes, manifest) = self.manifest()?;
        let slice = self.slice(shard)?;
        let attempt = Attempt::begin(index, options.scratch.as_deref(), shard)?;
        let directory = FsDirectory::new(&attempt.place);
        publish(&directory, 1, &bytes)?;
        let build = self.options(&manifest, &options.build);
        let call = BuildCall { options: &build, progress, cancel };
        let report = match build_slice(&directory, &slice, call) {
            Err(Error::Cancelled) => return Ok(ShardOutcome::Stopped),
            report => report?,
        };
        if report.cancelled {
            return Ok(ShardOutcome::Stopped);
        }
        Ok(if attempt.publish()? { ShardOutcome::Built(Box::new(report)) } else { ShardOutcome::Discarded })
    }

    /// The options of the build: those of the plan, which are in the manifest, with the given resources.
    fn options(&self, manifest: &Manifest, resources: &IndexOptions) -> IndexOptions {
        let threads = resources.source.threads;
        IndexOptions {
            source: SourceOptions { threads, ..SourceOptions::default() },
            records: manifest.records,
            fields: FieldOptions { owners: self.owners().clone(), ..FieldOptions::default() },
            read: resources.read.clone(),
            extractors: resources.extractors.clone(),
            memory: resources.memory,
            segment_memory: resources.segment_memory,
            buffers: resources.buffers,
            merge: resources.merge,
            // An attempt that ends early leaves nothing.
            commit_every: None,
            ..IndexOptions::default()
        }
    }
}

/// The manifest and the note of a shard that was published; `None` if it was not.
///
/// # Errors
/// [`Error::Shard`] if something else has its name, and an error if it cannot be read.
pub(super) fn published(
    plan: &ShardPlan,
    index: &Path,
    shard: &PlannedShard,
) -> Result<Option<(Manifest, ShardNote)>> {
    let place = index.join(&shard.name);
    match fs::symlink_metadata(&place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("look at", &place, error)),
        Ok(_) => {}
    }
    let refuse = |reason: &str| Error::Shard { path: place.clone(), reason: reason.into() };
    let committed = read_newest(&FsDirectory::new(&place))?;
    let manifest = committed.map(|committed| Manifest::decode(&committed.content)).transpose()?;
    let note = manifest.as_ref().map(ShardNote::read).transpose()?.flatten();
    let Some((manifest, note)) = manifest.zip(note) else {
        return Err(refuse("it is not a shard of a plan; remove it, or give another directory"));
    };
    if note.origin.plan != plan.id() {
        return Err(refuse("it belongs to another plan; remove it, or give another directory"));
    }
    if note.origin != (SliceOrigin { plan: plan.id(), shard: shard.number }) {
        return Err(refuse("it is another shard of the plan; remove it, and build it again"));
    }
    if note.inputs != shard.inputs {
        return Err(refuse("the plan has another number of inputs for it; remove it, and build it again"));
    }
    Ok(Some((manifest, note)))
}

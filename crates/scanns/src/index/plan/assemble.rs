//! Makes one index of the shards of a plan, once all of them are there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::attempt::remove_attempts;
use super::build_shard::published;
use super::plan_file::{PlannedShard, ShardPlan};
use super::same_keys::{KeyedShard, delete_doubles};
use crate::error::{Error, Result};
use crate::index::build::report::DoubleRecord;
use crate::index::check::check_in;
use crate::index::commit::manifest::{Manifest, SegmentEntry};
use crate::index::commit::shard_list::{ListedShard, write_shards};
use crate::index::progress::Progress;
use crate::segment::CheckLevel;
use crate::source::{Failure, Skipped};
use crate::store::FsDirectory;

/// What was found when the shards of a plan were put together.
#[derive(Clone, Debug, Default)]
pub struct AssembledIndex {
    /// Shards that are not published. If there are any, nothing was written.
    pub missing: Vec<u32>,
    /// Shards that cannot be used. If there are any, nothing was written.
    pub damaged: Vec<DamagedShard>,
    /// The number of documents of all shards.
    pub documents: u64,
    /// The number of files of the plan.
    pub files: u64,
    /// The number of inputs that could not be listed or indexed; a file of several shards may count in each.
    pub failed: u64,
    /// At most the first 10,000 of each shard, each path once with its first reason.
    pub failures: Vec<Failure>,
    /// Files that had changed since they were listed when their shards were built. They were indexed as they
    /// were then.
    pub changed: Skipped,
    /// The number of documents that were deleted now, because later ones of other shards have the same keys.
    pub doubles: u64,
    /// The first of them.
    pub double: Option<DoubleRecord>,
    /// The number of files and directories of earlier attempts that were removed.
    pub leftovers: u64,
}

/// A shard that cannot be used.
#[derive(Clone, Debug)]
pub struct DamagedShard {
    /// The number of the shard.
    pub number: u32,
    /// What is wrong with it.
    pub reason: String,
}

/// A shard that is published and whole.
struct LookedAt {
    entry: ListedShard,
    failures: Vec<Failure>,
    changed: Skipped,
    manifest: Manifest,
}

impl AssembledIndex {
    /// True if every shard is there, and the manifest of the shards was written.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty()
    }
}

impl ShardPlan {
    /// Verifies that every shard is published, belongs to the plan, has all of its inputs, and passes the
    /// check of `level`. If so, it removes what attempts left and writes the manifest of the shards, durably.
    /// This may be repeated. `output` is the directory of the index, if it is not where the plan says.
    ///
    /// # Errors
    /// The index cannot be read or written; [`Error::Cancelled`] if `cancel` was set.
    pub fn assemble(
        &self,
        output: Option<&Path>,
        level: CheckLevel,
        cancel: &AtomicBool,
    ) -> Result<AssembledIndex> {
        let index = output.unwrap_or(self.index());
        let (failed, failures) = self.failures();
        let mut found = AssembledIndex { failed, failures: failures.to_vec(), ..AssembledIndex::default() };
        let (mut listed, mut keyed) = (Vec::with_capacity(self.shards().len()), Vec::new());
        for shard in self.shards() {
            match self.look_at(index, shard, level, cancel) {
                Ok(Some(LookedAt { entry, failures, changed, manifest })) => {
                    found.files += shard.files;
                    found.failed += entry.failed;
                    found.failures.extend(failures);
                    found.changed.count += changed.count;
                    found.changed.first = found.changed.first.take().or(changed.first);
                    listed.push(entry);
                    keyed.push(KeyedShard { place: index.join(&shard.name), manifest });
                }
                Ok(None) => found.missing.push(shard.number),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => {
                    found.damaged.push(DamagedShard { number: shard.number, reason: error.to_string() });
                }
            }
        }
        let mut seen = BTreeSet::new();
        found.failures.retain(|failure| seen.insert(failure.path.clone()));
        if found.is_complete() {
            found.leftovers = remove_attempts(index, |_| true);
            let deleted = delete_doubles(&keyed)?;
            for (entry, deleted) in listed.iter_mut().zip(&deleted.by_shard) {
                entry.documents = entry.documents.saturating_sub(*deleted);
                found.documents += entry.documents;
                found.doubles += deleted;
            }
            found.double = deleted.first.map(DoubleRecord::from);
            write_shards(index, self.id(), &listed)?;
        }
        Ok(found)
    }

    /// Looks at a shard; `None` if it is not published.
    fn look_at(
        &self,
        index: &Path,
        shard: &PlannedShard,
        level: CheckLevel,
        cancel: &AtomicBool,
    ) -> Result<Option<LookedAt>> {
        let Some((manifest, note)) = published(self, index, shard)? else { return Ok(None) };
        let place = index.join(&shard.name);
        let checked = check_in(&FsDirectory::new(&place), level, &Progress::new(), cancel)?;
        let faults = checked.manifests.first();
        let fault = faults.or_else(|| checked.segments.iter().find_map(|segment| segment.fault.as_ref()));
        if let Some(fault) = fault {
            return Err(Error::Shard {
                path: place,
                reason: format!("{fault}; remove it, and build it again"),
            });
        }
        let documents = manifest.segments.iter().map(SegmentEntry::live).sum();
        let (name, build) = (shard.name.clone(), note.build);
        let entry = ListedShard { name, build, documents, inputs: note.inputs, failed: note.failed };
        Ok(Some(LookedAt { entry, failures: note.failures, changed: note.changed, manifest }))
    }
}

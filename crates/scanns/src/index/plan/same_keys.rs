//! Keeps one document for each key in all shards, if the values of a field are the keys of documents.
//!
//! A build of one index does this before each commit (`index/commit/unique_keys.rs`). A shard does not know
//! the others, so documents with the same key in several shards are deleted here, all but the one that one
//! index would have. The choice does not depend on what was deleted before, so this may be repeated.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::index::commit::manifest::Manifest;
use crate::index::commit::unique_keys::{DoubleKey, FoundDoubles, find_doubles};
use crate::index::commit::writer::Writer;
use crate::store::FsDirectory;

/// A shard that is published.
pub(super) struct KeyedShard {
    pub(super) place: PathBuf,
    pub(super) manifest: Manifest,
}

/// What was deleted.
#[derive(Debug, Default)]
pub(super) struct DeletedDoubles {
    /// The number of documents, by shard.
    pub(super) by_shard: Vec<u64>,
    /// The first of them.
    pub(super) first: Option<DoubleKey>,
}

/// Deletes the documents whose keys later documents have too, and commits.
///
/// # Errors
/// A shard cannot be read or written. What was deleted in the others stays deleted.
pub(super) fn delete_doubles(shards: &[KeyedShard]) -> Result<DeletedDoubles> {
    let none = || DeletedDoubles { by_shard: vec![0; shards.len()], first: None };
    let key = shards.first().and_then(|shard| shard.manifest.sources.key());
    let Some(key) = key.filter(|_| shards.len() > 1) else { return Ok(none()) };
    let (mut segments, mut owners) = (Vec::new(), Vec::new());
    for (number, KeyedShard { place, manifest }) in shards.iter().enumerate() {
        let directory = FsDirectory::new(place);
        for entry in &manifest.segments {
            segments.push(manifest.open(&directory, entry)?);
            owners.push((number, entry.id));
        }
    }
    let FoundDoubles { mut removals, first } = find_doubles(segments, key)?;
    let mut deleted = DeletedDoubles { first, ..none() };
    for (number, KeyedShard { place, .. }) in shards.iter().enumerate() {
        let of_shard = owners.iter().zip(&mut removals).filter(|((owner, _), _)| *owner == number);
        let of_shard: Vec<_> =
            of_shard.filter(|(_, documents)| !documents.is_empty()).map(|((_, id), d)| (*id, d)).collect();
        if let (false, Some(count)) = (of_shard.is_empty(), deleted.by_shard.get_mut(number)) {
            *count = delete(place, of_shard)?;
        }
    }
    Ok(deleted)
}

/// Deletes documents of an index, and commits. Returns the number of those that were not deleted before.
fn delete(place: &Path, documents: Vec<(u128, &mut Vec<std::ops::Range<u32>>)>) -> Result<u64> {
    let directory = FsDirectory::new(place);
    let writer = Writer::open(&directory)?;
    let mut deleted = 0;
    for (segment, documents) in documents {
        deleted += writer.delete(segment, std::mem::take(documents))?;
    }
    writer.commit()?;
    Ok(deleted)
}

//! The manifest of the shards of an assembled index.
//!
//! ```text
//! NAME.scanns/shards.json  sealed JSON (`sealed_json.rs`), format "scanns shards", version 1:
//!                          plan, the id of the plan, 32 hexadecimal digits; documents; shards, an array of
//!                          objects with name, build, documents, inputs and failed, in the order of the
//!                          documents; build is in the note of the shard, see `build/shard_note.rs`
//! ```
//!
//! It is written last, so an index that has it is complete. The shards may change later, as any index may,
//! but a shard that is built again has another `build`: documents that were deleted, because others have the
//! same keys, are in it again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::manifest::Manifest;
use super::sealed_json::{SealedKind, is_file_name, read_sealed, write_sealed};
use crate::error::{Error, Result};
use crate::store::{FsDirectory, read_newest};

const SHARDS: SealedKind = SealedKind { format: "scanns shards", version: 1 };

/// The name of the manifest in the directory of the index.
pub(crate) const NAME: &str = "shards.json";

/// The name of the note of a shard, see `build/shard_note.rs`.
pub(crate) const NOTE: &[u8] = b"scanns.shard";

/// A shard in the manifest, as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AssembledShard {
    pub(crate) path: PathBuf,
    build: u64,
}

/// A shard in the manifest, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedShard {
    pub(crate) name: String,
    /// Tells this build of the shard from others.
    pub(crate) build: u64,
    pub(crate) documents: u64,
    pub(crate) inputs: u64,
    pub(crate) failed: u64,
}

/// Writes the manifest durably.
pub(crate) fn write_shards(index: &Path, plan: u128, shards: &[ListedShard]) -> Result<()> {
    let mut members = Map::new();
    members.insert("plan".into(), format!("{plan:032x}").into());
    let documents = shards.iter().map(|shard| shard.documents).sum::<u64>();
    members.insert("documents".into(), documents.into());
    let shard = |shard: &ListedShard| {
        let ListedShard { name, build, documents, inputs, failed } = shard;
        let build = format!("{build:016x}");
        json!({ "name": name, "build": build, "documents": documents, "inputs": inputs, "failed": failed })
    };
    members.insert("shards".into(), shards.iter().map(shard).collect());
    let temporary = index.join(format!("{NAME}.tmp-{}", std::process::id()));
    write_sealed(SHARDS, members, &index.join(NAME), &temporary)
}

/// The shards of the index at `path`, in the order of their documents; `None` if it has no list of shards.
/// Each is an index of its own. A shard may be gone or damaged.
///
/// # Errors
/// [`Error::NewerFormat`] for a list of a newer version; [`Error::DamagedPlan`] if it is damaged;
/// [`Error::Shard`] if a shard was built again after the list was written; an error if it cannot be read.
pub fn shards_of(path: impl AsRef<Path>) -> Result<Option<Vec<PathBuf>>> {
    let Some(shards) = listed_shards(path.as_ref())? else { return Ok(None) };
    for shard in &shards {
        let committed = read_newest(&FsDirectory::new(&shard.path)).ok().flatten();
        let manifest = committed.and_then(|committed| Manifest::decode(&committed.content).ok());
        // What is gone or damaged is noticed where it is opened.
        manifest.map_or(Ok(()), |manifest| shard.must_have(&manifest.notes))?;
    }
    Ok(Some(shards.into_iter().map(|shard| shard.path).collect()))
}

/// The list of the shards of the index at `path`; `None` if it has none.
///
/// # Errors
/// As for [`shards_of`]. Shards are not looked at.
pub(crate) fn listed_shards(path: &Path) -> Result<Option<Vec<AssembledShard>>> {
    let list = path.join(NAME);
    let read = match read_sealed(SHARDS, &list) {
        // Not even a directory.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => {
            return Ok(None);
        }
        read => read?,
    };
    let Some(members) = read else { return Ok(None) };
    let assembled = |shard: &Value| {
        let name = shard.get("name")?.as_str().filter(|name| is_file_name(name))?;
        Some(AssembledShard { path: path.join(name), build: read_build(shard)? })
    };
    let shards = members.get("shards").and_then(Value::as_array).filter(|shards| !shards.is_empty());
    let shards = shards.and_then(|shards| shards.iter().map(assembled).collect::<Option<Vec<_>>>());
    let what = || "its shards cannot be read".into();
    shards.map(Some).ok_or_else(|| Error::DamagedPlan { file: list.display().to_string(), what: what() })
}

/// The build in an object of JSON that describes a shard.
pub(crate) fn read_build(shard: &Value) -> Option<u64> {
    u64::from_str_radix(shard.get("build")?.as_str()?, 16).ok()
}

impl AssembledShard {
    /// Verifies that the shard is there.
    ///
    /// # Errors
    /// [`Error::Shard`] if it is gone.
    pub(crate) fn must_exist(&self) -> Result<()> {
        if self.path.is_dir() {
            return Ok(());
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let number = name.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_start_matches('0');
        let number = if number.is_empty() { "0" } else { number };
        let reason = format!(
            "this shard of the index is gone; put it back, or build it again with the plan: scanns \
             build-shard PLAN {number}, then scanns assemble PLAN"
        );
        Err(Error::Shard { path: self.path.clone(), reason })
    }

    /// Verifies by the notes of the shard that it is the one of which the index was assembled.
    ///
    /// # Errors
    /// [`Error::Shard`] if it was built again since.
    pub(crate) fn must_have(&self, notes: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<()> {
        let note = notes.get(NOTE).and_then(|note| serde_json::from_slice::<Value>(note).ok());
        if note.as_ref().and_then(read_build) == Some(self.build) {
            return Ok(());
        }
        let reason =
            "it was built again after the index was assembled; run scanns assemble with its plan again";
        Err(Error::Shard { path: self.path.clone(), reason: reason.into() })
    }
}

/// Refuses to change an assembled index as a whole: each of its shards is an index of its own.
///
/// # Errors
/// [`Error::Unsupported`] if there is a list of shards at `path`; the errors of [`listed_shards`].
pub(crate) fn must_not_be_assembled(path: &Path, action: &str) -> Result<()> {
    let Some(shards) = listed_shards(path)? else { return Ok(()) };
    Err(Error::Unsupported {
        what: format!("{action} {}, which is assembled of {} shards,", path.display(), shards.len()),
        remedy: format!(
            "each shard is an index of its own: use the command with each of {}/shard-*, or change the \
             inputs and make a new plan",
            path.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_shards_of_an_index_are_found_again_and_damage_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let index = place.path();
        assert!(shards_of(index).unwrap().is_none());
        assert!(shards_of(index.join("nothing")).unwrap().is_none());
        let names = ["shard-00000", "shard-00001"];
        let shard =
            |name: &str| ListedShard { name: name.into(), build: 9, documents: 2, inputs: 1, failed: 0 };
        write_shards(index, 5, &names.map(shard)).unwrap();
        assert_eq!(shards_of(index).unwrap().unwrap(), names.map(|name| index.join(name)));
        let text = fs::read_to_string(index.join(NAME)).unwrap();
        fs::write(index.join(NAME), text.replace("shard-00001", "shard-00000")).unwrap();
        assert!(matches!(shards_of(index), Err(Error::DamagedPlan { .. })));
        fs::write(index.join(NAME), text.replace("\"version\": 1", "\"version\": 2")).unwrap();
        assert!(matches!(shards_of(index), Err(Error::NewerFormat { .. })));
        write_shards(index, 5, &[shard("../elsewhere")]).unwrap();
        assert!(matches!(shards_of(index), Err(Error::DamagedPlan { .. })));
        assert!(shards_of(index.join(NAME)).unwrap().is_none(), "a file is no index with shards");
        let assembled = AssembledShard { path: index.join("shard-00010"), build: 0x2a };
        let gone = assembled.must_exist().unwrap_err().to_string();
        assert!(gone.contains("shard-00010: ") && gone.contains("build-shard PLAN 10, then"), "{gone}");
        let notes = |note: &str| BTreeMap::from([(NOTE.to_vec(), note.as_bytes().to_vec())]);
        assembled.must_have(&notes(r#"{"build": "000000000000002a"}"#)).unwrap();
        for other in ["", "{}", r#"{"build": "2b"}"#, r#"{"build": 42}"#] {
            let again = assembled.must_have(&notes(other)).unwrap_err().to_string();
            assert!(again.contains("scanns assemble with its plan"), "{again}");
        }
    }
}

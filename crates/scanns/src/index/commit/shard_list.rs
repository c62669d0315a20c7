//! The manifest of the shards of an assembled index.
//!
//! ```text
//! NAME.scanns/shards.json  sealed JSON (`sealed_json.rs`), format "scanns shards", version 1:
//!                          plan, the id of the plan, 32 hexadecimal digits; documents; shards, an array of
//!                          objects with name, documents, inputs and failed, in the order of the documents
//! ```
//!
//! It is written last, so an index that has it is complete. The shards may change later, as any index may.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::sealed_json::{SealedKind, is_file_name, read_sealed, write_sealed};
use crate::error::{Error, Result};

const SHARDS: SealedKind = SealedKind { format: "scanns shards", version: 1 };

/// The name of the manifest in the directory of the index.
pub(crate) const NAME: &str = "shards.json";

/// A shard in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedShard {
    pub(crate) name: String,
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
        let ListedShard { name, documents, inputs, failed } = shard;
        json!({ "name": name, "documents": documents, "inputs": inputs, "failed": failed })
    };
    members.insert("shards".into(), shards.iter().map(shard).collect());
    let temporary = index.join(format!("{NAME}.tmp-{}", std::process::id()));
    write_sealed(SHARDS, members, &index.join(NAME), &temporary)
}

/// The shards of the index at `path`, in the order of their documents; `None` if it has no list of shards.
/// Each is an index of its own.
///
/// # Errors
/// [`Error::NewerFormat`] for a list of a newer version; [`Error::DamagedPlan`] if it is damaged, or a shard
/// is gone; an error if it cannot be read.
pub fn shards_of(path: impl AsRef<Path>) -> Result<Option<Vec<PathBuf>>> {
    let path = path.as_ref();
    let list = path.join(NAME);
    let read = match read_sealed(SHARDS, &list) {
        // Not even a directory.
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => {
            return Ok(None);
        }
        read => read?,
    };
    let Some(members) = read else { return Ok(None) };
    let damaged = |what: String| Error::DamagedPlan { file: list.display().to_string(), what };
    let name = |shard: &Value| {
        let name = shard.get("name")?.as_str().filter(|name| is_file_name(name))?;
        Some(path.join(name))
    };
    let shards = members.get("shards").and_then(Value::as_array).filter(|shards| !shards.is_empty());
    let shards = shards.and_then(|shards| shards.iter().map(name).collect::<Option<Vec<PathBuf>>>());
    let shards = shards.ok_or_else(|| damaged("its shards cannot be read".into()))?;
    match shards.iter().find(|shard| !shard.is_dir()) {
        Some(gone) => Err(damaged(format!("the shard {} is gone", gone.display()))),
        None => Ok(Some(shards)),
    }
}

/// Refuses to change an assembled index as a whole: each of its shards is an index of its own.
///
/// # Errors
/// [`Error::Unsupported`] if there is a list of shards at `path`; the errors of [`shards_of`].
pub(crate) fn must_not_be_assembled(path: &Path, action: &str) -> Result<()> {
    let Some(shards) = shards_of(path)? else { return Ok(()) };
    let first = shards.first().map(|shard| shard.display().to_string()).unwrap_or_default();
    Err(Error::Unsupported {
        what: format!("{action} {}, which is assembled of {} shards", path.display(), shards.len()),
        remedy: format!("do so for each of them, such as {first}"),
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
        let shard = |name: &str| ListedShard { name: name.into(), documents: 2, inputs: 1, failed: 0 };
        write_shards(index, 5, &names.map(shard)).unwrap();
        assert!(matches!(shards_of(index), Err(Error::DamagedPlan { .. })), "the shards are not there");
        names.iter().for_each(|name| fs::create_dir(index.join(name)).unwrap());
        assert_eq!(shards_of(index).unwrap().unwrap(), names.map(|name| index.join(name)));
        let text = fs::read_to_string(index.join(NAME)).unwrap();
        fs::write(index.join(NAME), text.replace("shard-00001", "shard-00000")).unwrap();
        assert!(matches!(shards_of(index), Err(Error::DamagedPlan { .. })));
        fs::write(index.join(NAME), text.replace("\"version\": 1", "\"version\": 2")).unwrap();
        assert!(matches!(shards_of(index), Err(Error::NewerFormat { .. })));
        write_shards(index, 5, &[shard("../elsewhere")]).unwrap();
        assert!(matches!(shards_of(index), Err(Error::DamagedPlan { .. })));
        assert!(shards_of(index.join(NAME)).unwrap().is_none(), "a file is no index with shards");
    }
}

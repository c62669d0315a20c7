//! Finds out whether an index has a new commit, without opening anything.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// The manifest of the shards of an assembled index.
const SHARDS: &str = "shards.json";

/// What changes with a commit: the newest manifest of an index, and of each of its shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommitStamp {
    /// The names of the newest manifests, and when they were written. By directory, the index first.
    newest: Vec<(String, Option<SystemTime>)>,
}

impl CommitStamp {
    /// The stamp of the index in a directory.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut stamp = CommitStamp::default();
        let shards = path.join(SHARDS);
        if let Ok(found) = shards.metadata() {
            stamp.newest.push((SHARDS.into(), found.modified().ok()));
            let mut places = Vec::new();
            for entry in path.read_dir()? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    places.push(entry.path());
                }
            }
            places.sort();
            for place in places {
                stamp.newest.extend(newest_manifest(&place)?);
            }
        } else {
            stamp.newest.extend(newest_manifest(path)?);
        }
        Ok(stamp)
    }

    /// When the newest of all was written.
    pub(super) fn committed(&self) -> Option<SystemTime> {
        self.newest.iter().filter_map(|(_, time)| *time).max()
    }
}

/// The newest manifest in a directory.
fn newest_manifest(place: &Path) -> io::Result<Option<(String, Option<SystemTime>)>> {
    let mut newest: Option<(u64, String)> = None;
    for entry in place.read_dir()? {
        let name = entry?.file_name();
        let Some(generation) = generation(&name) else { continue };
        if newest.as_ref().is_none_or(|(other, _)| generation > *other) {
            newest = Some((generation, name.to_string_lossy().into_owned()));
        }
    }
    Ok(newest.map(|(_, name)| {
        let written = place.join(&name).metadata().and_then(|found| found.modified()).ok();
        (name, written)
    }))
}

fn generation(name: &OsStr) -> Option<u64> {
    name.to_str()?.strip_prefix("manifest-")?.parse().ok()
}

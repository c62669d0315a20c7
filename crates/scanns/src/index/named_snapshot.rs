//! Named snapshots: commits that are kept under a name, in the directory `snapshots` of an index.
//!
//! No file of an index is changed once it is written, so a directory `snapshots/NAME` with hard links to the
//! files of a commit, and to its manifest, is a whole index, which everything that opens an index opens. It
//! shares the space of the files that the index still needs, and keeps those that merges and deletes would
//! otherwise remove. The writer of the outer index neither reads nor changes it, and nothing else writes to
//! it: [`FsDirectory::lock`](crate::store::Directory::lock) refuses the places of snapshots. A copy of it
//! elsewhere is an index like any other.
//!
//! A snapshot is made while the lock of the writer is held, so no file of the commit can be removed
//! meanwhile. The links are made in a directory that gets its name last; if the process is killed before, the
//! next writer of files or of a snapshot removes that directory.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::commit::manifest::{Manifest, SegmentEntry};
use super::commit::writer::Writer;
use crate::error::{Error, Result};
use crate::store::{Directory, FsDirectory, SNAPSHOTS, link_directory, manifest_name, read_newest};

/// The directory in which links are made. Names of snapshots do not begin with a dot.
const UNFINISHED: &str = ".unfinished";

/// The longest name of a file that all file systems take.
const LONGEST_NAME: usize = 255;

/// A commit of an index that is kept under a name, as an index of its own at [`NamedSnapshot::path`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamedSnapshot {
    /// The name.
    pub name: OsString,
    /// The directory, which can be opened as an index. Removing it removes the snapshot.
    pub path: PathBuf,
    /// The number of the commit.
    pub generation: u64,
    /// When the commit was made, in nanoseconds since 1970.
    pub committed: i64,
    /// The number of documents, excluding deleted ones.
    pub documents: u64,
    /// The size of its files, in bytes.
    pub bytes: u64,
    /// The size of the files that neither the index nor another snapshot has: what removing it frees.
    pub own_bytes: u64,
}

/// Returns an error if the index at `path` cannot have a new snapshot of this name.
pub(super) fn must_be_new(path: &Path, name: &str) -> Result<()> {
    let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    if !is_name || name.len() > LONGEST_NAME {
        let expected = "the name of a file, which does not begin with a dot and has no slash";
        return Err(Error::invalid("name of a snapshot", format!("'{name}'"), expected));
    }
    let found = path.join(SNAPSHOTS).join(name);
    match fs::symlink_metadata(&found) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::io("look at", &found, source)),
        Ok(_) => Err(Error::Conflict {
            what: format!("the new snapshot '{name}'"),
            with: format!("an existing one, {}", found.display()),
            remedy: "remove that directory with rm -r, or choose another name".into(),
        }),
    }
}

/// Removes what a process that was killed left of a snapshot. The caller must hold the writer's lock.
pub(super) fn remove_unfinished(path: &Path) -> Result<()> {
    let unfinished = path.join(SNAPSHOTS).join(UNFINISHED);
    match fs::remove_dir_all(&unfinished) {
        Err(source) if !matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Err(Error::io("remove", &unfinished, source))
        }
        _ => Ok(()),
    }
}

/// Keeps the newest commit of the index at `path` under a name, durably. The caller must hold the writer's
/// lock, and the commit must be durable.
pub(super) fn keep_newest(path: &Path, name: &str) -> Result<NamedSnapshot> {
    must_be_new(path, name)?;
    let snapshots = path.join(SNAPSHOTS);
    match fs::create_dir(&snapshots) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => {
            return Err(Error::io("create", &snapshots, source));
        }
        _ => FsDirectory::new(path).sync()?,
    }
    remove_unfinished(path)?;
    let files = NewestFiles::of(path)?;
    link_directory(path, &files.names, &snapshots.join(UNFINISHED), &snapshots.join(name))?;
    describe(path, name.into())
}

/// Keeps the newest commit of the index at `path` under a name.
pub(super) fn keep(path: &Path, name: &str) -> Result<NamedSnapshot> {
    let directory = FsDirectory::new(path);
    // Nothing is created in a directory that is no index.
    NewestFiles::of(path)?;
    let _writer = Writer::open(&directory)?;
    keep_newest(path, name)
}

/// The named snapshots of the index at `path`, in the order of their names. A snapshot that cannot be read
/// has an error instead.
pub(super) fn list(path: &Path) -> Result<Vec<(OsString, Result<NamedSnapshot>)>> {
    let snapshots = path.join(SNAPSHOTS);
    let failed = |source| Error::io("list", &snapshots, source);
    let entries = match fs::read_dir(&snapshots) {
        Err(source) if source.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names.into_iter().map(|name| (name.clone(), describe(path, name))).collect())
}

/// Describes a snapshot of the index at `path`.
fn describe(path: &Path, name: OsString) -> Result<NamedSnapshot> {
    let path = path.join(SNAPSHOTS).join(&name);
    let NewestFiles { generation, documents, names } = NewestFiles::of(&path)?;
    let (mut bytes, mut own_bytes, mut committed) = (0, 0, 0);
    for file in &names {
        let found = metadata(&path.join(file))?;
        bytes += found.len();
        own_bytes += if found.nlink() == 1 { found.len() } else { 0 };
        if *file == manifest_name(generation) {
            committed = found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec());
        }
    }
    Ok(NamedSnapshot { name, path, generation, committed, documents, bytes, own_bytes })
}

fn metadata(file: &Path) -> Result<Metadata> {
    fs::metadata(file).map_err(|source| Error::io("look at", file, source))
}

/// The newest commit of an index, and the files that it needs.
struct NewestFiles {
    generation: u64,
    documents: u64,
    names: Vec<String>,
}

impl NewestFiles {
    fn of(path: &Path) -> Result<Self> {
        let nothing = || Error::NotAnIndex { path: path.into(), why: "nothing was ever committed in it" };
        let newest = read_newest(&FsDirectory::new(path))?.ok_or_else(nothing)?;
        let manifest = Manifest::decode(&newest.content)?;
        let mut names: Vec<String> =
            manifest.segments.iter().flat_map(SegmentEntry::existing_files).collect();
        names.push(manifest_name(newest.generation));
        let documents = manifest.segments.iter().map(SegmentEntry::live).sum();
        Ok(NewestFiles { generation: newest.generation, documents, names })
    }
}

#[cfg(test)]
mod tests;

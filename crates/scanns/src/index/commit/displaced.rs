//! Which files have records that were left out, because records of other files have the same keys.
//!
//! ```text
//! note "scanns.displaced" = JSON { "by": [path, …], "files": [path, …] }       see `path_json.rs`
//! ```
//!
//! If a file of `by` changes or goes, records of `files` may have to come back, so a build reads those again.
//! A key that is taken all the same is not theirs: its document has replaced theirs before.
//!
//! Lists of more than 10,000 paths are not kept: then a change of any file has all files read again.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Value, json};

use super::manifest::Manifest;
use super::writer::Writer;
use crate::index::path_json::{put_path, read_path};

/// The name of the note.
const NOTE: &[u8] = b"scanns.displaced";

/// Paths in a list.
const MOST: usize = 10_000;

/// A set of paths that may be too large to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SomePaths {
    paths: BTreeSet<Vec<u8>>,
    /// True if the set has every path.
    all: bool,
}

/// Files with records that were left out, and files with the records that are there instead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Displaced {
    by: SomePaths,
    files: SomePaths,
}

/// What a build does so that records come back.
#[derive(Debug, Default)]
pub(super) struct Restoration {
    /// Files that are read again, although they have not changed.
    pub(super) files: HashSet<Vec<u8>>,
    /// Files whose documents in old segments are about to be deleted.
    pub(super) outgoing: HashSet<Vec<u8>>,
}

/// Of documents with the same key, the greatest rank wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecordRank {
    /// It is about to be deleted.
    Outgoing,
    /// It comes back.
    Restored,
    /// It is of an earlier build.
    Old,
    New,
}

impl Restoration {
    /// The rank of a document in an old or a new segment, by its file.
    pub(super) fn rank(&self, is_old: bool, path: &[u8]) -> RecordRank {
        match is_old {
            true if self.outgoing.contains(path) => RecordRank::Outgoing,
            true => RecordRank::Old,
            false if self.files.contains(path) => RecordRank::Restored,
            false => RecordRank::New,
        }
    }
}

impl SomePaths {
    fn add(&mut self, path: &[u8]) {
        if self.has(path) {
            return;
        }
        if self.paths.len() == MOST {
            *self = SomePaths { paths: BTreeSet::new(), all: true };
            return;
        }
        self.paths.insert(path.to_vec());
    }

    fn has(&self, path: &[u8]) -> bool {
        self.all || self.paths.contains(path)
    }

    fn encode(&self) -> Value {
        let path = |path: &Vec<u8>| put_path(Path::new(OsStr::from_bytes(path)));
        if self.all { Value::Null } else { self.paths.iter().map(path).collect() }
    }

    fn decode(value: &Value) -> Option<Self> {
        if value.is_null() {
            return Some(SomePaths { paths: BTreeSet::new(), all: true });
        }
        let path = |value: &Value| Some(read_path(value)?.into_os_string().into_encoded_bytes());
        let paths = value.as_array()?.iter().map(path).collect::<Option<_>>()?;
        Some(SomePaths { paths, all: false })
    }
}

impl Displaced {
    /// What an index notes. A note that cannot be read stands for all files.
    pub(super) fn read(manifest: Option<&Manifest>) -> Self {
        let Some(note) = manifest.and_then(|manifest| manifest.notes.get(NOTE)) else {
            return Displaced::default();
        };
        let decode = |note: &Value| {
            let list = |name| SomePaths::decode(note.get(name)?);
            Some(Displaced { by: list("by")?, files: list("files")? })
        };
        let all = SomePaths { paths: BTreeSet::new(), all: true };
        let note = serde_json::from_slice::<Value>(note).ok().as_ref().and_then(decode);
        note.unwrap_or_else(|| Displaced { by: all.clone(), files: all })
    }

    /// Adds the note to the next commit.
    pub(super) fn note(&self, writer: &Writer<'_>) {
        if *self == Displaced::read(writer.manifest().as_ref()) {
            return;
        }
        let note = json!({ "by": self.by.encode(), "files": self.files.encode() }).to_string().into_bytes();
        writer.describe(|manifest| {
            let mut manifest = manifest?;
            manifest.notes.insert(NOTE.to_vec(), note);
            Some(manifest)
        });
    }

    /// Notes that a record of a file was left out, because one of another file has its key.
    pub(super) fn add(&mut self, lost: &[u8], kept: &[u8]) {
        if lost != kept {
            self.files.add(lost);
            self.by.add(kept);
        }
    }

    /// Notes that a file has changed, and is read again.
    pub(super) fn forget(&mut self, path: &[u8]) {
        self.files.paths.remove(path);
    }

    /// True if records may have to come back when a file changes or goes.
    pub(super) fn is_by(&self, path: &[u8]) -> bool {
        self.by.has(path)
    }

    /// True if records of a file were left out.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.files.has(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_read_back_and_large_ones_have_every_path() {
        let mut displaced = Displaced::default();
        displaced.add(b"/a", b"/b");
        displaced.add(b"/same", b"/same");
        displaced.add(b"/\xff", b"/b");
        assert!(displaced.is_by(b"/b") && displaced.has(b"/\xff"));
        assert!(!displaced.has(b"/same") && !displaced.has(b"/b") && !displaced.is_by(b"/a"));
        assert_eq!(SomePaths::decode(&displaced.files.encode()), Some(displaced.files.clone()));
        displaced.forget(b"/a");
        assert!(!displaced.has(b"/a") && displaced.has(b"/\xff"));
        for number in 0..=MOST {
            displaced.add(format!("/{number}").as_bytes(), b"/b");
        }
        assert!(displaced.has(b"/elsewhere") && !displaced.is_by(b"/elsewhere"));
        assert_eq!(SomePaths::decode(&displaced.files.encode()), Some(displaced.files.clone()));
        assert_eq!(SomePaths::decode(&json!(["/a", 3])), None);
    }
}

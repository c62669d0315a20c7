//! Paths on the command line as the index has them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use scanns::Snapshot;
use scanns::files::{indexed_path, not_in_index};

use crate::quoting::quoted;
use crate::report;

/// The path of the index that a written path means.
pub fn in_index(snapshot: &Snapshot, written: &OsStr) -> Vec<u8> {
    indexed_path(snapshot, written.as_bytes())
}

/// The paths of the index that written paths mean.
pub fn all_in_index(snapshot: &Snapshot, written: &[OsString]) -> Vec<Vec<u8>> {
    written.iter().map(|written| in_index(snapshot, written)).collect()
}

/// Says which paths are not in the index, and why, or how its paths look if nothing above the first of them
/// is.
pub fn note_not_in_index(snapshot: &Snapshot, missing: &[Vec<u8>]) {
    let notes = not_in_index(snapshot, missing, FILES_ALONE, &|path| quoted(path).into_owned());
    notes.iter().for_each(|note| report::note(note));
}

/// Says of which directories the index has only what is in them.
pub fn note_without_entry(snapshot: &Snapshot, directories: &[Vec<u8>]) {
    for directory in directories {
        let (directory, what) = match has_files_alone(snapshot) {
            true => (quoted(directory), FILES_ALONE),
            false => (quoted(directory), "what is in it, and no entry of this directory"),
        };
        report::note(&format!("{directory}: the index has {what}"));
    }
}

/// What an index of the text of files has, and how to get the rest.
pub const FILES_ALONE: &str =
    "regular files alone: scanns index --content none makes one of all entries, with directories and links";

/// True for an index of files with their text, in which directories are no entries.
pub fn has_files_alone(snapshot: &Snapshot) -> bool {
    !snapshot.has_entries()
}

//! What a walk finds: files by directory, failures, and what is left to walk.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::access::{AccessChain, AclReader};
use crate::source::entry_kind::EntryKind;
use crate::source::ignore::{IgnoreFaults, IgnoreRules};
use crate::source::inputs::{Failure, Input, Root};
use crate::source::skipped::Skipped;

/// Device and inode, which identify a file.
pub(super) type Identity = (u64, u64);

/// The files that were found in a directory, by name.
pub(super) struct FilesOf {
    pub(super) path: PathBuf,
    pub(super) files: Vec<(Input, Identity)>,
}

/// The results of a walk, or of a part of it.
#[derive(Default)]
pub(super) struct Found {
    pub(super) directories: Vec<FilesOf>,
    /// The number of their files.
    pub(super) files: usize,
    pub(super) failures: Vec<Failure>,
    pub(super) skipped: u64,
    pub(super) rule_faults: IgnoreFaults,
    /// The given directories.
    pub(super) roots: Vec<Root>,
    /// Links to follow after everything else has been walked.
    pub(super) links: Vec<PlaceToWalk>,
    /// Inputs of which it cannot be decided who may see them.
    pub(super) undecided: Skipped,
    acls: AclReader,
}

/// A path, and the rules of the directory in which it is, if `.gitignore` files are respected.
pub(super) struct PlaceToWalk {
    pub(super) path: PathBuf,
    pub(super) rules: Option<IgnoreRules>,
    /// The checks on the way to it, if access classes are wanted.
    pub(super) way: Option<CheckedWay>,
}

/// How a directory is reached whose checks are known.
#[derive(Clone)]
pub(super) struct CheckedWay {
    /// The checks on the way to it.
    pub(super) chain: Arc<AccessChain>,
    /// Its path without links.
    pub(super) real: PathBuf,
}

impl Found {
    /// The checks on the way to what is in a directory.
    pub(super) fn enter(&mut self, way: &Arc<AccessChain>, directory: &Path) -> Arc<AccessChain> {
        match fs::metadata(directory) {
            Ok(meta) => way.enter(&self.acls.permissions(directory, &meta, true)),
            Err(_) => way.enter_unknown(),
        }
    }

    /// The access class of an input at a path, whose permissions are read at `place`.
    pub(super) fn class(
        &mut self,
        way: &AccessChain,
        place: &Path,
        path: &Path,
        meta: &Metadata,
        follows: bool,
    ) -> Box<[u8]> {
        let own = self.acls.permissions(place, meta, follows);
        let class = way.class(Some(EntryKind::of(meta.file_type())), Some(&own));
        if class.is_undecided() {
            self.undecided.add(path.as_os_str().as_bytes());
        }
        class.encode().into()
    }

    pub(super) fn fail(&mut self, path: &Path, error: &io::Error) {
        self.failures.push(Failure { path: path.to_path_buf(), reason: error.to_string() });
    }

    pub(super) fn add(&mut self, directory: FilesOf) {
        self.files += directory.files.len();
        self.directories.push(directory);
    }

    /// Takes the files out.
    pub(super) fn take_files(&mut self) -> Vec<FilesOf> {
        self.files = 0;
        std::mem::take(&mut self.directories)
    }

    pub(super) fn append(&mut self, mut other: Found) {
        self.directories.append(&mut other.directories);
        self.files += other.files;
        self.failures.append(&mut other.failures);
        self.roots.append(&mut other.roots);
        self.links.append(&mut other.links);
        self.skipped += other.skipped;
        self.undecided.append(other.undecided);
        self.rule_faults.append(other.rule_faults);
    }
}

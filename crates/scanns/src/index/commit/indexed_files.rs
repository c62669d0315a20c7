//! The files of an index, compared with the inputs of a build: which of them the build finds again, and which
//! are gone.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use crate::error::Result;
use crate::schema::{Field, FieldKind};
use crate::segment::{KnownPath, KnownPaths, Segment};
use crate::source::Inputs;

/// The files of an index.
pub(crate) struct IndexedFiles<'s> {
    /// By segment, the latest first.
    segments: Vec<KnownPaths<'s>>,
    /// By segment and number of a path: true for a path that is an input.
    seen: Vec<Vec<bool>>,
    /// By input: what the index has of it.
    pub(crate) known: Vec<Option<KnownPath>>,
}

/// Files of an index that lie below the directories of a build and are not among its inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemovedFiles {
    /// Their paths, ascending.
    pub(crate) paths: Vec<Vec<u8>>,
    /// Directories that are empty now. Their file systems may not be mounted, so their files are not in
    /// `paths`.
    pub(crate) emptied: Vec<EmptiedRoot>,
}

/// A directory without entries that had files when they were indexed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EmptiedRoot {
    pub(crate) path: PathBuf,
    /// The number of its files in the index.
    pub(crate) files: u64,
}

/// The field of a date of files, if the index has file metadata.
pub(crate) fn date_field(manifest: Option<&Manifest>, name: &str) -> Option<Field> {
    let schema = &manifest?.schema;
    let field = schema.field(name)?;
    schema.entry(field).filter(|entry| entry.kind == FieldKind::Date && entry.column).map(|_| field)
}

impl<'s> IndexedFiles<'s> {
    /// Looks up the inputs in the segments of an index. `changed` is the field of the last change of the
    /// status of files, if they have one.
    pub(crate) fn of(segments: &'s [Segment], found: &Inputs, changed: Option<Field>) -> Result<Self> {
        // The latest documents of a file are usually in the latest segments.
        let segments = segments.iter().rev().map(|segment| KnownPaths::of(segment, changed));
        let segments = segments.collect::<Result<Vec<_>>>()?;
        let seen = segments.iter().map(|segment| vec![false; segment.count()]).collect();
        let mut files = IndexedFiles { segments, seen, known: Vec::with_capacity(found.inputs.len()) };
        for input in &found.inputs {
            let known = files.find(input.path.as_os_str().as_bytes())?;
            files.known.push(known);
        }
        Ok(files)
    }

    fn find(&mut self, path: &[u8]) -> Result<Option<KnownPath>> {
        for (segment, seen) in self.segments.iter().zip(&mut self.seen) {
            if let Some(found) = segment.find(path)? {
                if let Some(seen) = seen.get_mut(found.number as usize) {
                    *seen = true;
                }
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The segment that has a file as one document, counted from the latest one, and the document.
    pub(super) fn place(&self, path: &[u8]) -> Result<Option<(usize, u32)>> {
        for (number, segment) in self.segments.iter().enumerate() {
            if let Some(found) = segment.find(path)? {
                return Ok((!found.lines).then(|| (number, segment.document(found.number))));
            }
        }
        Ok(None)
    }

    /// The files of the index that are below the walked directories and are not among the inputs. A file that
    /// could not be examined, or that lies below a directory that could not be read, is not one of them.
    pub(crate) fn removed(&self, found: &Inputs) -> Result<RemovedFiles> {
        if found.roots.is_empty() {
            return Ok(RemovedFiles::default());
        }
        let roots: HashMap<&Path, bool> =
            found.roots.iter().map(|root| (root.path.as_path(), root.is_empty)).collect();
        let failed: HashSet<&Path> = found.failures.iter().map(|failure| failure.path.as_path()).collect();
        let (mut paths, mut emptied) = (Vec::new(), HashMap::<PathBuf, u64>::new());
        for (segment, seen) in self.segments.iter().zip(&self.seen) {
            let is_unseen = |number: u32| seen.get(number as usize) != Some(&true);
            segment.each_live(is_unseen, |_, bytes| {
                let path = Path::new(std::ffi::OsStr::from_bytes(bytes));
                if path.ancestors().any(|place| failed.contains(place)) {
                    return Ok(());
                }
                let root = path.ancestors().find_map(|place| Some((place, *roots.get(place)?)));
                match root {
                    Some((_, false)) => paths.push(bytes.to_vec()),
                    Some((root, true)) => *emptied.entry(root.to_path_buf()).or_default() += 1,
                    None => {}
                }
                Ok(())
            })?;
        }
        paths.sort_unstable();
        paths.dedup();
        // The lines of a file may be in several segments, and only the latest is marked as seen.
        let mut is_input = vec![false; paths.len()];
        for input in found.inputs.iter().filter(|_| !paths.is_empty()) {
            let path = input.path.as_os_str().as_bytes();
            if let Some(flag) = paths
                .binary_search_by(|other| other.as_slice().cmp(path))
                .ok()
                .and_then(|at| is_input.get_mut(at))
            {
                *flag = true;
            }
        }
        let mut flags = is_input.into_iter();
        paths.retain(|_| flags.next() == Some(false));
        let emptied = emptied.into_iter().map(|(path, files)| EmptiedRoot { path, files });
        let mut emptied: Vec<_> = emptied.collect();
        emptied.sort_unstable();
        Ok(RemovedFiles { paths, emptied })
    }
}

//! The files of an index, compared with the inputs of a build: which of them the build finds again, and which
//! are gone.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use crate::column::Column;
use crate::error::Result;
use crate::index::access_column::access_field;
use crate::schema::{Field, FieldKind, Value};
use crate::segment::{KnownPath, KnownPaths, Segment};
use crate::source::{Input, Inputs};

/// The files of an index.
pub(crate) struct IndexedFiles<'s> {
    /// By segment, the latest first.
    segments: Vec<IndexedSegmentFiles<'s>>,
    /// By segment and number of a path: true for a path that is an input.
    seen: Vec<Vec<bool>>,
    /// By input: what the index has of it.
    pub(crate) known: Vec<Option<IndexedFile>>,
}

/// The files of a segment, and the columns of their metadata that tell whether they have changed.
struct IndexedSegmentFiles<'s> {
    paths: KnownPaths<'s>,
    changed: Option<&'s Column>,
    inode: Option<&'s Column>,
    /// The access classes, if the index has them.
    access: Option<Option<&'s Column>>,
}

/// What an index has of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexedFile {
    pub(crate) path: KnownPath,
    /// When its status had changed last, in nanoseconds since 1970, if that is known.
    pub(crate) changed: Option<i64>,
    /// Its number in its file system, if that is known.
    pub(crate) inode: Option<u64>,
    /// False if others may see the file now, for the index has another access class.
    pub(crate) same_access: bool,
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

/// What stands between the path of an archive and the path of a member in it.
pub(crate) const ARCHIVE_MARK: &[u8] = b"!/";

/// The archive of which a path names a member, and the path in it: `!/` stands between them. `None` if there
/// is a file with the whole path, or no such archive.
pub(in crate::index) fn archive_of(path: &Path) -> Option<(&Path, &[u8])> {
    let bytes = path.as_os_str().as_bytes();
    if memchr::memmem::find(bytes, ARCHIVE_MARK).is_none() || path.symlink_metadata().is_ok() {
        return None;
    }
    let at = memchr::memmem::find_iter(bytes, ARCHIVE_MARK).find(|&at| {
        let outer = bytes.get(..at).map(|outer| Path::new(OsStr::from_bytes(outer)));
        outer.is_some_and(Path::is_file)
    })?;
    let (outer, inner) = bytes.split_at_checked(at)?;
    Some((Path::new(OsStr::from_bytes(outer)), inner.get(2..)?))
}

/// The numbers of inputs by their paths.
fn by_path(found: &Inputs) -> HashMap<&[u8], usize> {
    found.inputs.iter().enumerate().map(|(number, input)| (input.key(), number)).collect()
}

/// The field of a date of files, if the index has file metadata.
pub(crate) fn date_field(manifest: Option<&Manifest>, name: &str) -> Option<Field> {
    field_of_kind(manifest, name, FieldKind::Date)
}

/// The field of a number of files, if the index has file metadata.
pub(crate) fn number_field(manifest: Option<&Manifest>, name: &str) -> Option<Field> {
    field_of_kind(manifest, name, FieldKind::Unsigned)
}

/// The field with a name, if it has values of a kind in a column.
fn field_of_kind(manifest: Option<&Manifest>, name: &str, kind: FieldKind) -> Option<Field> {
    let schema = &manifest?.schema;
    let field = schema.field(name)?;
    schema.entry(field).filter(|entry| entry.kind == kind && entry.column).map(|_| field)
}

/// The first value of a document in a column, if there is one.
pub(super) fn value_of(column: Option<&Column>, document: u32) -> Result<Option<Value>> {
    let Some(column) = column else { return Ok(None) };
    Ok(column.first(document)?.map(|order| column.kind().value_of(order)))
}

/// True if a document has this access class in a column.
pub(crate) fn has_class(column: Option<&Column>, document: u32, class: Option<&[u8]>) -> Result<bool> {
    let Some(number) = column.map(|column| column.first(document)).transpose()?.flatten() else {
        return Ok(class.is_none());
    };
    let terms = column.and_then(Column::terms);
    let (Some(terms), Ok(number)) = (terms, u32::try_from(number)) else { return Ok(false) };
    let mut text = Vec::new();
    terms.term(number, &mut text)?;
    Ok(Some(text.as_slice()) == class)
}

impl IndexedSegmentFiles<'_> {
    fn find(&self, input: &Input) -> Result<Option<IndexedFile>> {
        let Some(path) = self.paths.find(input.key())? else { return Ok(None) };
        let document = self.paths.document(path.number);
        let changed = match value_of(self.changed, document)? {
            Some(Value::Date(date)) => Some(date),
            _ => None,
        };
        let inode = match value_of(self.inode, document)? {
            Some(Value::Unsigned(number)) => Some(number),
            _ => None,
        };
        let same_access = match self.access {
            Some(column) => has_class(column, document, input.entry().access)?,
            None => true,
        };
        Ok(Some(IndexedFile { path, changed, inode, same_access }))
    }
}

impl<'s> IndexedFiles<'s> {
    /// Looks up the inputs in the segments of an index.
    pub(crate) fn of(segments: &'s [Segment], found: &Inputs, manifest: Option<&Manifest>) -> Result<Self> {
        let (changed, inode) = (date_field(manifest, "ctime"), number_field(manifest, "inode"));
        let access = manifest.and_then(|manifest| access_field(&manifest.schema, manifest.records));
        let files = |segment: &'s Segment| {
            let column = |field: Option<Field>| field.and_then(|field| segment.column(field));
            let paths = KnownPaths::of(segment)?;
            let access = access.map(|field| segment.column(field));
            Ok(IndexedSegmentFiles { paths, changed: column(changed), inode: column(inode), access })
        };
        // The latest documents of a file are usually in the latest segments.
        let segments = segments.iter().rev().map(files).collect::<Result<Vec<_>>>()?;
        let seen = segments.iter().map(|segment| vec![false; segment.paths.count()]).collect();
        let mut files = IndexedFiles { segments, seen, known: Vec::with_capacity(found.inputs.len()) };
        for input in &found.inputs {
            let known = files.find(input)?;
            files.known.push(known);
        }
        Ok(files)
    }

    fn find(&mut self, input: &Input) -> Result<Option<IndexedFile>> {
        for (segment, seen) in self.segments.iter().zip(&mut self.seen) {
            if let Some(found) = segment.find(input)? {
                if let Some(seen) = seen.get_mut(found.path.number as usize) {
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
            if let Some(found) = segment.paths.find(path)? {
                return Ok((!found.lines).then(|| (number, segment.paths.document(found.number))));
            }
        }
        Ok(None)
    }

    /// The paths of the documents that are members of archives among the inputs, by the number of the input.
    pub(crate) fn members(&self, found: &Inputs) -> Result<HashMap<usize, Vec<Vec<u8>>>> {
        let mut members = HashMap::<usize, Vec<Vec<u8>>>::new();
        let mut inputs: Option<HashMap<&[u8], usize>> = None;
        for (segment, seen) in self.segments.iter().zip(&self.seen) {
            let is_unseen = |number: u32| seen.get(number as usize) != Some(&true);
            segment.paths.each_live(is_unseen, |_, path| {
                for at in memchr::memmem::find_iter(path, ARCHIVE_MARK) {
                    let inputs = inputs.get_or_insert_with(|| by_path(found));
                    if let Some(&input) = path.get(..at).and_then(|outer| inputs.get(outer)) {
                        members.entry(input).or_default().push(path.to_vec());
                        break;
                    }
                }
                Ok(())
            })?;
        }
        Ok(members)
    }

    /// The files of the index that are below the walked directories and are not among the inputs. A file that
    /// could not be examined, or that lies below a directory that could not be read, is not one of them,
    /// unless such files are to be forgotten.
    pub(crate) fn removed(
        &self,
        found: &Inputs,
        members: &HashMap<usize, Vec<Vec<u8>>>,
        forgets_unread: bool,
    ) -> Result<RemovedFiles> {
        if found.roots.is_empty() {
            return Ok(RemovedFiles::default());
        }
        let roots: HashMap<&Path, bool> =
            found.roots.iter().map(|root| (root.path.as_path(), root.is_empty)).collect();
        let failed: HashSet<&Path> = found.failures.iter().map(|failure| failure.path.as_path()).collect();
        let (mut paths, mut emptied) = (Vec::new(), HashMap::<PathBuf, u64>::new());
        for (segment, seen) in self.segments.iter().zip(&self.seen) {
            let is_unseen = |number: u32| seen.get(number as usize) != Some(&true);
            segment.paths.each_live(is_unseen, |_, bytes| {
                let path = Path::new(std::ffi::OsStr::from_bytes(bytes));
                if !forgets_unread && path.ancestors().any(|place| failed.contains(place)) {
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
        let members: HashSet<&[u8]> = members.values().flatten().map(Vec::as_slice).collect();
        if !members.is_empty() {
            paths.retain(|path| !members.contains(path.as_slice()));
        }
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

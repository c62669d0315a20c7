//! The columns of file metadata, for indexes that store the properties of files as well as their text.
//!
//! | field | kind | |
//! |---|---|---|
//! | `path` | path | as it was found in the walk |
//! | `name`, `ext` | keyword | the part after the last slash, and the part after its last dot |
//! | `type` | keyword | file, directory, link, fifo, socket or device |
//! | `target` | keyword | where a link leads, as it stands in the link |
//! | `owner`, `group` | keyword | the name, see `owner_names.rs`, else the number |
//! | `mtime`, `atime`, `ctime` | date | the last modification, access and status change |
//! | `btime` | date | the creation, where the file system knows it |
//! | `size` | unsigned | bytes |
//! | `blocks` | unsigned | the space that it takes, in blocks of 512 bytes |
//! | `depth` | unsigned | the number of names in the path |
//! | `uid`, `gid`, `mode`, `inode`, `links`, `device` | unsigned | |
//! | `linked` | unsigned | the inode, if this is not a directory and has several names |
//!
//! An index of entries without their text has more:
//!
//! | field | kind | |
//! |---|---|---|
//! | `stripes`, `project` | unsigned | of Lustre: the number of stripes and the project |
//! | `pool` | keyword | the storage pool, where the dump has it |
//! | `source` | keyword | the dump, or the directory that was scanned |
//! | `scanned` | date | the beginning of the scan or the dump |
//!
//! and those of `rare_fields.rs`.
//!
//! Dates before 1677-09-21 or after 2262-04-11 do not fit 64 bits. They are left out and counted.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::found_fields::FoundFields;
use super::options::{OwnerFiles, ScanSettings};
use super::owner_names::{NameDatabase, OwnerNames};
use super::rare_fields::{RareFields, rare_properties};
use super::report::FieldConflict;
use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::index::access_column::access_field;
use crate::schema::{Field, FieldEntry, FieldKind, Records, Schema, ValueRef};
use crate::source::{Entry, EntryKind, absolute, fitting_date, is_at_or_below};
use crate::sys::now;

const NAMES: [&str; 20] = [
    "path", "name", "ext", "type", "target", "owner", "group", "mtime", "atime", "ctime", "btime", "size",
    "blocks", "depth", "uid", "gid", "mode", "inode", "links", "device",
];

/// The kind of the field at this index of `NAMES`.
fn kind(at: usize) -> FieldKind {
    match at {
        0 => FieldKind::Path,
        1..FIRST_DATE => FieldKind::Keyword,
        _ if (FIRST_DATE..FIRST_DATE + DATES).contains(&at) => FieldKind::Date,
        _ => FieldKind::Unsigned,
    }
}

/// The field of entries with several names. Sums of directories find them with it, to count each once.
/// Indexes of earlier versions do not have it.
const LINKED: &str = "linked";

/// What is said about dates that do not fit.
const BEFORE: &str = "a date before 1677-09-21";
const AFTER: &str = "a date after 2262-04-11";

/// The number of dates of a file, which stand side by side in `NAMES`, and the place of the first.
const DATES: usize = 4;
const FIRST_DATE: usize = 7;

/// The number of unsigned numbers, which are last in `NAMES`.
const NUMBERS: usize = 9;

/// Fields of entries of file systems that files found for their text do not have.
const EXTRA: [(&str, FieldKind); 5] = [
    ("stripes", FieldKind::Unsigned),
    ("pool", FieldKind::Keyword),
    ("project", FieldKind::Unsigned),
    ("source", FieldKind::Keyword),
    ("scanned", FieldKind::Date),
];

/// True if a field has a property of files, as this module and `rare_fields.rs` name them, and the schema has
/// all properties that every file has. Extended attributes are no such property: who may see a file may not
/// read them.
pub(crate) fn is_file_field(schema: &Schema, field: Field) -> bool {
    let is = |name: &str, kind: &FieldKind| {
        let known = schema.field(name)?;
        let entry = schema.entry(known)?;
        (entry.kind == *kind && entry.column).then_some(known)
    };
    let of_some = EXTRA.iter().filter_map(|(name, kind)| is(name, kind));
    let of_some = of_some.chain(is(LINKED, &FieldKind::Unsigned)).chain(rare_properties(schema));
    FileFields::find(schema).is_some_and(|all| all.into_iter().chain(of_some).any(|known| known == field))
}

/// Dates of files that do not fit 64 bits, by field.
#[derive(Debug, Default)]
pub(crate) struct MissingDates {
    /// Files with metadata.
    files: u64,
    fields: [MissingDate; DATES],
}

/// Dates of one field that do not fit.
#[derive(Clone, Debug, Default)]
struct MissingDate {
    count: u64,
    /// The first path of such a file, in the order of paths.
    first: Vec<u8>,
    /// True if the date of this file is too early, false if it is too late.
    is_early: bool,
}

/// Where and when entries were seen.
#[derive(Clone, Debug)]
pub(crate) struct EntrySource {
    /// The dump, or the directory that was scanned.
    pub(crate) name: Vec<u8>,
    /// When the scan or the dump began, in nanoseconds since 1970.
    pub(crate) scanned: i64,
}

impl EntrySource {
    /// A scan of these files and directories that begins now.
    pub(crate) fn of_scan(roots: &[PathBuf]) -> Vec<Self> {
        let scanned = now();
        let paths = roots.iter().filter_map(|root| absolute(root).ok());
        paths.map(|path| EntrySource { name: path.into_os_string().into_vec(), scanned }).collect()
    }

    /// True if a path is the scanned directory or below it.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        is_at_or_below(path, &self.name)
    }
}

/// The fields of file metadata in a schema, and the names of users and groups.
pub(crate) struct FileFields {
    fields: [Field; NAMES.len()],
    /// The field [`LINKED`], if the schema has it.
    linked: Option<Field>,
    /// The fields of [`EXTRA`], if the schema has them.
    extra: Option<[Field; EXTRA.len()]>,
    pub(crate) rare: RareFields,
    pub(crate) found: FoundFields,
    /// The column of access classes.
    pub(crate) access: Option<Field>,
    users: OwnerNames,
    groups: OwnerNames,
}

impl FileFields {
    /// Adds the fields to a schema.
    pub(crate) fn add(schema: &mut Schema) -> Result<()> {
        for (at, name) in NAMES.into_iter().enumerate() {
            schema.add(FieldEntry::new(name, kind(at)).column().not_searched())?;
        }
        schema.add(FieldEntry::new(LINKED, FieldKind::Unsigned).column().not_searched())?;
        Ok(())
    }

    /// Adds the fields that only entries of file systems have.
    pub(crate) fn add_extra(schema: &mut Schema, settings: ScanSettings) -> Result<()> {
        for (name, kind) in EXTRA {
            schema.add(FieldEntry::new(name, kind).column().not_searched())?;
        }
        RareFields::add(schema, settings)
    }

    /// The fields of a schema, if it has all of them.
    ///
    /// # Errors
    /// The files with the names of owners cannot be read.
    pub(crate) fn of(schema: &Schema, owners: &OwnerFiles) -> Result<Option<Box<Self>>> {
        let Some(fields) = FileFields::find(schema) else { return Ok(None) };
        let users = OwnerNames::of(NameDatabase::Passwd, owners.passwd.as_deref())?;
        let groups = OwnerNames::of(NameDatabase::Group, owners.group.as_deref())?;
        let column = |name: &str, kind: &FieldKind| {
            let is_it = |entry: &FieldEntry| entry.kind == *kind && entry.column;
            schema.field(name).filter(|&field| schema.entry(field).is_some_and(is_it))
        };
        let mut extra = [Field::default(); EXTRA.len()];
        let has_extra = EXTRA.iter().zip(&mut extra).all(|((name, kind), slot)| {
            column(name, kind).is_some_and(|field| {
                *slot = field;
                true
            })
        });
        let linked = column(LINKED, &FieldKind::Unsigned);
        let (extra, rare) = (has_extra.then_some(extra), RareFields::of(schema));
        let (found, access) = (FoundFields::of(schema), access_field(schema, Records::File));
        Ok(Some(Box::new(FileFields { fields, linked, extra, rare, found, access, users, groups })))
    }

    /// The field of paths.
    pub(crate) fn path(&self) -> Field {
        let [path, ..] = self.fields;
        path
    }

    fn find(schema: &Schema) -> Option<[Field; NAMES.len()]> {
        let mut fields = [Field::default(); NAMES.len()];
        for (at, (name, slot)) in NAMES.into_iter().zip(&mut fields).enumerate() {
            let field = schema.field(name)?;
            let entry = schema.entry(field)?;
            if entry.kind != kind(at) || !entry.column || entry.searched {
                return None;
            }
            *slot = field;
        }
        Some(fields)
    }

    /// Adds the values of an entry to the current document. Dates that do not fit are left out and counted.
    pub(crate) fn push(&self, entry: &Entry<'_>, columns: &mut ColumnSet, missing: &mut MissingDates) {
        self.push_texts(entry, columns);
        for (at, field) in self.dates().into_iter().enumerate() {
            if let Some(date) = date(entry, at, missing) {
                columns.push(field, date);
            }
        }
        missing.files += 1;
        for (at, field) in self.numbers().into_iter().enumerate() {
            if let Some(number) = number(entry, at) {
                columns.push(field, number);
            }
        }
        if let Some(field) = self.linked
            && let Some(inode) = linked(entry)
        {
            columns.push(field, inode);
        }
    }

    /// Adds many entries as documents, column by column, which takes less time than one after the other.
    pub(crate) fn push_all(
        &self,
        entries: &[(Entry<'_>, &EntrySource)],
        columns: &mut ColumnSet,
        missing: &mut MissingDates,
    ) -> Result<()> {
        for (entry, from) in entries {
            self.push_texts(entry, columns);
            self.push_extra_texts(entry, from, columns);
            columns.end_texts()?;
        }
        for (at, field) in self.dates().into_iter().enumerate() {
            columns.extend(field, entries.iter().map(|(entry, _)| date(entry, at, missing)))?;
        }
        missing.files += entries.len() as u64;
        for (at, field) in self.numbers().into_iter().enumerate() {
            columns.extend(field, entries.iter().map(|(entry, _)| number(entry, at)))?;
        }
        if let Some(field) = self.linked {
            columns.extend(field, entries.iter().map(|(entry, _)| linked(entry)))?;
        }
        self.rare.extend_numbers(entries.iter().map(|(entry, _)| entry), columns)?;
        let Some([stripes, _, project, _, scanned]) = self.extra else { return Ok(()) };
        let stripe_counts = entries.iter().map(|(entry, _)| entry.stripes.map(ValueRef::Unsigned));
        columns.extend(stripes, stripe_counts)?;
        let projects = entries.iter().map(|(entry, _)| entry.project.map(ValueRef::Unsigned));
        columns.extend(project, projects)?;
        columns.extend(scanned, entries.iter().map(|(_, from)| Some(ValueRef::Date(from.scanned))))
    }

    /// The fields of dates, in the order of [`NAMES`].
    fn dates(&self) -> [Field; DATES] {
        let [.., mtime, atime, ctime, btime, _, _, _, _, _, _, _, _, _] = self.fields;
        [mtime, atime, ctime, btime]
    }

    /// The fields of numbers, in the order of [`NAMES`].
    fn numbers(&self) -> [Field; NUMBERS] {
        let [.., size, blocks, depth, uid, gid, mode, inode, links, device] = self.fields;
        [size, blocks, depth, uid, gid, mode, inode, links, device]
    }

    /// Adds the texts of an entry to the current document.
    fn push_texts(&self, entry: &Entry<'_>, columns: &mut ColumnSet) {
        let path = entry.path;
        let name = memchr::memrchr(b'/', path).and_then(|slash| path.get(slash + 1..));
        let name = name.filter(|name| !name.is_empty()).unwrap_or(path);
        let [path_field, name_field, ext, kind, target, owner, group, ..] = self.fields;
        columns.push(path_field, ValueRef::Text(path));
        columns.push(name_field, ValueRef::Text(name));
        if let Some(dot) = memchr::memrchr(b'.', name).filter(|&dot| dot > 0 && dot + 1 < name.len()) {
            columns.push(ext, ValueRef::Text(name.get(dot + 1..).unwrap_or_default()));
        }
        if let Some(of) = entry.kind {
            columns.push(kind, ValueRef::Text(of.name().as_bytes()));
        }
        if let Some(place) = entry.target {
            columns.push(target, ValueRef::Text(place));
        }
        push_owner(columns, owner, entry.owner, entry.uid, &self.users);
        push_owner(columns, group, entry.group, entry.gid, &self.groups);
        if let (Some(field), Some(class)) = (self.access, entry.access) {
            columns.push(field, ValueRef::Text(class));
        }
    }

    /// Adds the values that only entries of file systems have.
    pub(crate) fn push_extra(&self, entry: &Entry<'_>, from: &EntrySource, columns: &mut ColumnSet) {
        let Some([stripes, _, project, _, scanned]) = self.extra else { return };
        for (field, number) in [(stripes, entry.stripes), (project, entry.project)] {
            if let Some(number) = number {
                columns.push(field, ValueRef::Unsigned(number));
            }
        }
        self.rare.push_numbers(entry, columns);
        self.push_extra_texts(entry, from, columns);
        columns.push(scanned, ValueRef::Date(from.scanned));
    }

    fn push_extra_texts(&self, entry: &Entry<'_>, from: &EntrySource, columns: &mut ColumnSet) {
        let Some([_, pool, _, source, _]) = self.extra else { return };
        if let Some(name) = entry.pool {
            columns.push(pool, ValueRef::Text(name));
        }
        columns.push(source, ValueRef::Text(&from.name));
        self.rare.push_texts(entry, columns);
    }
}

/// The date of an entry in the field at this index of the dates. One that does not fit is counted.
#[inline]
fn date(entry: &Entry<'_>, at: usize, missing: &mut MissingDates) -> Option<ValueRef<'static>> {
    let time = [entry.mtime, entry.atime, entry.ctime, entry.btime].get(at).copied().flatten()?;
    let date = fitting_date(time);
    if date.is_none() {
        missing.add(at, entry.path, time < 0);
    }
    date.map(ValueRef::Date)
}

/// The number of an entry in the field at this index of the numbers.
#[inline]
fn number(entry: &Entry<'_>, at: usize) -> Option<ValueRef<'static>> {
    let number = match at {
        0 => entry.size,
        1 => entry.blocks,
        2 => Some(entry.path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count() as u64),
        3 => entry.uid.map(u64::from),
        4 => entry.gid.map(u64::from),
        5 => entry.mode_with_type().map(u64::from),
        6 => entry.inode,
        7 => entry.links,
        _ => entry.device,
    };
    number.map(ValueRef::Unsigned)
}

/// The inode of an entry that has several names.
#[inline]
fn linked(entry: &Entry<'_>) -> Option<ValueRef<'static>> {
    let has_names = entry.kind != Some(EntryKind::Directory) && entry.links.is_some_and(|links| links > 1);
    entry.inode.filter(|_| has_names).map(ValueRef::Unsigned)
}

/// Adds the name of an owner: the given name, else the name of the number, else the number.
fn push_owner(
    columns: &mut ColumnSet,
    field: Field,
    given: Option<&[u8]>,
    number: Option<u32>,
    names: &OwnerNames,
) {
    match (given, number) {
        (Some(name), _) => columns.push(field, ValueRef::Text(name)),
        (None, Some(number)) => match names.get(number) {
            Some(name) => columns.push(field, ValueRef::Text(&name)),
            None => columns.push(field, ValueRef::Text(number.to_string().as_bytes())),
        },
        (None, None) => {}
    }
}

impl MissingDates {
    #[cold]
    fn add(&mut self, at: usize, path: &[u8], is_early: bool) {
        let Some(missing) = self.fields.get_mut(at) else { return };
        if missing.count == 0 || path < missing.first.as_slice() {
            (missing.first, missing.is_early) = (path.to_vec(), is_early);
        }
        missing.count += 1;
    }

    /// The number of files.
    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    /// The missing dates as conflicts.
    pub(crate) fn conflicts(&self) -> Vec<FieldConflict> {
        let fields = NAMES.iter().skip(FIRST_DATE).zip(&self.fields);
        let missing = fields.filter(|(_, missing)| missing.count > 0);
        let conflict = |(name, missing): (&&str, &MissingDate)| FieldConflict {
            field: (*name).to_owned(),
            count: missing.count,
            values: self.files,
            example: if missing.is_early { BEFORE.to_owned() } else { AFTER.to_owned() },
            path: PathBuf::from(OsStr::from_bytes(&missing.first)),
            line: 0,
            hint: None,
        };
        missing.map(conflict).collect()
    }
}

/// Refuses file metadata if documents are not files, and a choice that contradicts the index.
pub(crate) fn check(current: Option<&Schema>, of_files: bool, wanted: Option<bool>) -> Result<()> {
    if !of_files && wanted == Some(true) {
        return Err(Error::Unsupported {
            what: "file metadata of documents that are not files".into(),
            remedy: "index files as documents, or leave the metadata out".into(),
        });
    }
    let built = current.map(|schema| FileFields::find(schema).is_some());
    match (wanted, built) {
        (Some(wanted), Some(built)) if wanted != built && of_files => {
            let name = |with| if with { "with file metadata" } else { "without file metadata" };
            Err(Error::Conflict {
                what: format!("indexing {}", name(wanted)),
                with: format!("the index, which was built {}", name(built)),
                remedy: "leave the option to the index, or build another index".into(),
            })
        }
        _ => Ok(()),
    }
}

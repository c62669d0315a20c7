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
//!
//! Dates before 1677-09-21 or after 2262-04-11 do not fit 64 bits. They are left out and counted.

use std::os::unix::ffi::OsStrExt;

use super::options::OwnerFiles;
use super::owner_names::{NameDatabase, OwnerNames};
use super::report::FieldConflict;
use crate::column::ColumnSet;
use crate::error::{Error, Result};
use crate::schema::{Field, FieldEntry, FieldKind, Schema, ValueRef};
use crate::source::{FileStatus, Input, fitting_date};

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

/// What is said about dates that do not fit.
const BEFORE: &str = "a date before 1677-09-21";
const AFTER: &str = "a date after 2262-04-11";

/// The number of dates of a file, which stand side by side in `NAMES`, and the place of the first.
const DATES: usize = 4;
const FIRST_DATE: usize = 7;

/// Dates of files that do not fit 64 bits, by field.
#[derive(Debug, Default)]
pub(crate) struct MissingDates {
    /// Files with metadata.
    files: u64,
    fields: [MissingDate; DATES],
}

/// Dates of one field that do not fit.
#[derive(Clone, Copy, Debug, Default)]
struct MissingDate {
    count: u64,
    /// The number of the first file among the inputs.
    first: u32,
    /// True if the date of this file is too early, false if it is too late.
    is_early: bool,
}

/// The fields of file metadata in a schema, and the names of users and groups.
pub(crate) struct FileFields {
    fields: [Field; NAMES.len()],
    users: OwnerNames,
    groups: OwnerNames,
}

impl FileFields {
    /// Adds the fields to a schema.
    pub(crate) fn add(schema: &mut Schema) -> Result<()> {
        for (at, name) in NAMES.into_iter().enumerate() {
            schema.add(FieldEntry::new(name, kind(at)).column().not_searched())?;
        }
        Ok(())
    }

    /// The fields of a schema, if it has all of them.
    ///
    /// # Errors
    /// The files with the names of owners cannot be read.
    pub(crate) fn of(schema: &Schema, owners: &OwnerFiles) -> Result<Option<Box<Self>>> {
        let Some(fields) = FileFields::find(schema) else { return Ok(None) };
        let users = OwnerNames::of(NameDatabase::Passwd, owners.passwd.as_deref())?;
        let groups = OwnerNames::of(NameDatabase::Group, owners.group.as_deref())?;
        Ok(Some(Box::new(FileFields { fields, users, groups })))
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

    /// Adds the values of a file, input `number`, to the current document. Dates that do not fit are left out
    /// and counted.
    pub(crate) fn push(
        &self,
        number: u32,
        input: &Input,
        columns: &mut ColumnSet,
        missing: &mut MissingDates,
    ) {
        let path = input.path.as_os_str().as_bytes();
        let name = input.path.file_name().map_or(path, OsStrExt::as_bytes);
        let [path_field, name_field, ext, kind, target, rest @ ..] = self.fields;
        let [owner, group, mtime, atime, ctime, btime, numbers @ ..] = rest;
        columns.push(path_field, ValueRef::Text(path));
        columns.push(name_field, ValueRef::Text(name));
        if let Some(dot) = memchr::memrchr(b'.', name).filter(|&dot| dot > 0 && dot + 1 < name.len()) {
            columns.push(ext, ValueRef::Text(name.get(dot + 1..).unwrap_or_default()));
        }
        columns.push(kind, ValueRef::Text(input.kind.name().as_bytes()));
        missing.files += 1;
        let mut date = |at: usize, field, time| match fitting_date(time) {
            Some(date) => columns.push(field, ValueRef::Date(date)),
            None => missing.add(at, number, time < 0),
        };
        date(0, mtime, input.modified);
        let Some(status) = &input.status else { return };
        date(1, atime, status.accessed);
        date(2, ctime, status.changed);
        if let Some(created) = status.created {
            date(3, btime, created);
        }
        if let Some(place) = &status.target {
            columns.push(target, ValueRef::Text(place.as_os_str().as_bytes()));
        }
        for (field, known, id) in [(owner, &self.users, status.uid), (group, &self.groups, status.gid)] {
            match known.get(id) {
                Some(name) => columns.push(field, ValueRef::Text(&name)),
                None => columns.push(field, ValueRef::Text(id.to_string().as_bytes())),
            }
        }
        let (uid, gid, mode) = (status.uid.into(), status.gid.into(), status.mode.into());
        let depth = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).count() as u64;
        let FileStatus { size, blocks, inode, links, device, .. } = **status;
        let values = [size, blocks, depth, uid, gid, mode, inode, links, device];
        for (field, number) in numbers.into_iter().zip(values) {
            columns.push(field, ValueRef::Unsigned(number));
        }
    }
}

impl MissingDates {
    #[cold]
    fn add(&mut self, at: usize, number: u32, is_early: bool) {
        let Some(missing) = self.fields.get_mut(at) else { return };
        if missing.count == 0 || number < missing.first {
            (missing.first, missing.is_early) = (number, is_early);
        }
        missing.count += 1;
    }

    /// The number of files.
    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    /// The missing dates as conflicts.
    pub(crate) fn conflicts(&self, inputs: &[Input]) -> Vec<FieldConflict> {
        let mut found = Vec::new();
        let fields = NAMES.iter().skip(FIRST_DATE).zip(self.fields);
        for (name, MissingDate { count, first, is_early }) in fields {
            let Some(input) = inputs.get(first as usize).filter(|_| count > 0) else { continue };
            found.push(FieldConflict {
                field: (*name).to_owned(),
                count,
                values: self.files,
                example: if is_early { BEFORE.to_owned() } else { AFTER.to_owned() },
                path: input.path.clone(),
                line: 0,
                hint: None,
            });
        }
        found
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

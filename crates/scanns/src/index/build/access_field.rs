//! Which builds store access classes, which say who may see a document.
//!
//! An index has them if its first build was to store them, and then every later build finds them anew: if the
//! permissions of a directory change, so do the classes of everything below it. Documents are files or other
//! entries; a member of an archive has the class of its file.

use std::path::PathBuf;

use super::covered::covered_before;
use super::options::IndexOptions;
use crate::error::{Error, Result};
use crate::index::access_column::access_field;
use crate::index::commit::writer::Writer;
use crate::schema::{Records, Schema};
use crate::source::access::AccessClass;
use crate::source::{SourceOptions, absolute};

/// Refuses options that ask for access classes of documents that can have none, and in an index that was made
/// without them; and sources of documents without classes for an index that has them.
pub(super) fn check(current: Option<(&Schema, Records)>, options: &IndexOptions) -> Result<()> {
    let unsupported =
        |what: &str, remedy: &str| Err(Error::Unsupported { what: what.into(), remedy: remedy.into() });
    let has = current.map(|(schema, records)| access_field(schema, records).is_some());
    if options.fields.access && has == Some(false) {
        return Err(Error::Conflict {
            what: "storing access classes (--access)".into(),
            with: "the index, which was made without them".into(),
            remedy: "make another index with this option, or leave it out".into(),
        });
    }
    if !has.unwrap_or(options.fields.access) {
        return Ok(());
    }
    if options.records != Records::File {
        return unsupported(
            "access classes of lines and records",
            "index files as documents (--records file), or leave the classes out",
        );
    }
    if options.fields.metadata == Some(false) {
        return unsupported("access classes without the metadata of files", "store the metadata, too");
    }
    if options.changes.is_some() {
        return unsupported(
            "a list of changes for an index with access classes: the permissions of a directory are about \
             everything below it, which such a list does not name",
            "scan the directories again",
        );
    }
    if options.keep_removed {
        return unsupported(
            "keeping what is gone (--keep-removed) with access classes: nobody knows who may see it",
            "leave --keep-removed out",
        );
    }
    if let Some(dump) = &options.dump {
        return match dump.without_acls {
            true => Ok(()),
            false => unsupported(
                "access classes of a dump, which does not say which files have ACLs",
                "if none has any, say so (--dump-no-acls), otherwise scan the directories",
            ),
        };
    }
    if options.source.follow_symlinks {
        return unsupported(
            "following links (--follow) with access classes: a target may be reached in several ways, and \
             who may use them differs",
            "name the directories to which the links lead",
        );
    }
    if !options.source.is_of_trees() {
        return unsupported(
            "access classes of a list of files or of standard input",
            "name the directories in which the files are",
        );
    }
    Ok(())
}

/// The access class of the members of a file, of which there may be many.
#[derive(Debug, Default)]
pub(super) struct MemberClass {
    file: Vec<u8>,
    members: Vec<u8>,
}

impl MemberClass {
    /// The class of the members of a file with this class.
    pub(super) fn class(&mut self, file: &[u8]) -> &[u8] {
        if self.file != file {
            let class = AccessClass::parse(file).unwrap_or_else(AccessClass::undecided);
            self.file = file.to_vec();
            self.members = class.of_member().encode();
        }
        &self.members
    }
}

/// The directories that the index covers, if a build is to find access classes.
///
/// # Errors
/// [`Error::Unsupported`] if the build leaves some of them out, whose documents would keep their old classes.
pub(super) fn covered(
    writer: &Writer<'_>,
    source: &SourceOptions,
    has_classes: bool,
) -> Result<Option<Vec<PathBuf>>> {
    if !has_classes {
        return Ok(None);
    }
    let scans = covered_before(writer)?.into_iter().filter(|coverage| coverage.format.is_none());
    let covered: Vec<PathBuf> = scans.map(|coverage| coverage.path).collect();
    let named: Vec<PathBuf> = source.paths.iter().filter_map(|path| absolute(path).ok()).collect();
    match covered.iter().find(|place| !named.iter().any(|named| place.starts_with(named))) {
        Some(left_out) => Err(Error::Unsupported {
            what: format!(
                "an update of an index with access classes that leaves {} out, whose documents would keep \
                 the rights that they had",
                left_out.display()
            ),
            remedy: "name all directories of the index".into(),
        }),
        None => Ok(Some(covered)),
    }
}

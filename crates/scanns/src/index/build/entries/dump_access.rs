//! Who may see the entries of a dump.
//!
//! The rights of an entry depend on all directories above it, which may come after it in a dump. So the dump
//! is read twice: first for the permissions of its directories, which are kept in memory, and then for the
//! entries. Modes alone decide, which the caller must have confirmed: few dumps say which files have ACLs.
//! Nothing can be decided below a directory that the dump does not list, up to the root of the file system.

use std::collections::HashMap;
use std::sync::Arc;

use super::each_entry::for_each_entry;
use super::rooted::rooted;
use crate::error::{Error, Result};
use crate::index::build::options::DumpOptions;
use crate::source::access::{AccessChain, FilePermissions, PermissionAcl};
use crate::source::{Entry, EntryKind, ancestors};

/// The checks on the way to the entries of a dump.
#[derive(Debug)]
pub(super) struct DumpAccess {
    /// By directory, the checks on the way to what is in it.
    chains: HashMap<Box<[u8]>, Arc<AccessChain>>,
    /// The way to the root.
    root: Arc<AccessChain>,
    unknown: Arc<AccessChain>,
}

/// The text of the class of the last entry, for the next ones, which often have the same.
#[derive(Debug, Default)]
pub(super) struct LastClass {
    directory: Vec<u8>,
    of: Option<(Option<EntryKind>, Option<FilePermissions>)>,
    pub(super) text: Vec<u8>,
    pub(super) is_undecided: bool,
}

/// Directories by path, with their permissions if the dump tells them.
type Directories = HashMap<Box<[u8]>, Option<FilePermissions>>;

impl DumpAccess {
    /// Reads the directories of a dump, whose relative paths belong to `root`.
    ///
    /// # Errors
    /// The dump is standard input, which cannot be read twice, or cannot be read.
    pub(super) fn read(dump: &DumpOptions, root: Option<&[u8]>) -> Result<Self> {
        if dump.files.iter().any(|file| file.as_os_str() == "-") {
            return Err(Error::Unsupported {
                what: "access classes of a dump from standard input, which is read twice".into(),
                remedy: "write the dump to a file".into(),
            });
        }
        let dump = DumpOptions { show_map: None, ..dump.clone() };
        let (mut directories, mut space) = (Directories::new(), Vec::new());
        for_each_entry(&dump, &mut |entry| {
            if kind_of(entry) == Some(EntryKind::Directory) {
                let path = rooted(entry.path, root, &mut space);
                let own = permissions(entry);
                let known = directories.entry(path.into()).or_insert_with(|| own.clone());
                if *known != own {
                    // Names with line feeds can pretend to be rows, so nobody can tell which row is true.
                    *known = None;
                }
            }
            Ok(())
        })?;
        let mut access = DumpAccess {
            chains: HashMap::with_capacity(directories.len()),
            root: Arc::default(),
            unknown: AccessChain::unknown(),
        };
        for path in directories.keys() {
            access.enter(path, &directories);
        }
        Ok(access)
    }

    /// Finds the checks on the way to what is in a directory of the dump.
    fn enter(&mut self, path: &[u8], directories: &Directories) {
        // From the first directory that is known already, down.
        let missing: Vec<&[u8]> =
            ancestors(path).take_while(|place| !self.chains.contains_key(*place)).collect();
        for place in missing.into_iter().rev() {
            let Some(permissions) = directories.get(place) else { continue };
            let above = self.above(place);
            let chain = match permissions {
                Some(permissions) => above.enter(permissions),
                None => above.enter_unknown(),
            };
            self.chains.insert(place.into(), chain);
        }
    }

    /// The checks on the way to a path.
    fn above(&self, path: &[u8]) -> &Arc<AccessChain> {
        match ancestors(path).nth(1) {
            Some(directory) => self.chains.get(directory).unwrap_or(&self.unknown),
            None if path == b"/" => &self.root,
            None => &self.unknown,
        }
    }

    /// Finds the class of an entry.
    pub(super) fn find(&self, entry: &Entry<'_>, last: &mut LastClass) {
        let directory = ancestors(entry.path).nth(1).unwrap_or_default();
        let of = (kind_of(entry), permissions(entry));
        if last.directory == directory && last.of.as_ref() == Some(&of) && entry.path != b"/" {
            return;
        }
        let class = self.above(entry.path).class(of.0, of.1.as_ref());
        (last.text, last.is_undecided) = (class.encode(), class.is_undecided());
        last.directory.clear();
        last.directory.extend_from_slice(directory);
        last.of = Some(of);
    }
}

fn kind_of(entry: &Entry<'_>) -> Option<EntryKind> {
    entry.kind.or_else(|| EntryKind::of_mode(entry.mode?))
}

/// The permissions of an entry; `None` if the dump does not tell all of them, or says that it has an ACL.
fn permissions(entry: &Entry<'_>) -> Option<FilePermissions> {
    let (uid, gid, mode) = (entry.uid?, entry.gid?, entry.mode?);
    (!entry.has_acl).then_some(FilePermissions { uid, gid, mode, acl: PermissionAcl::None })
}

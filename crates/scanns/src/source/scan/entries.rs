//! What a scan does with one name of a directory.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::source::entry::Entry;
use crate::source::entry_kind::EntryKind;
use crate::source::scan::directory::ScanDirectory;
use crate::source::scan::found_link::FoundLink;
use crate::source::scan::names::NameList;
use crate::source::scan::queue::ScanWork;
use crate::source::scan::special::{is_pseudo, is_snapshots, magic, may_be_snapshots};
use crate::source::scan::status::ScanStatus;
use crate::source::scan::worker::{ScanWorker, path_of};
use crate::sys::lock;

/// An open directory.
pub(super) struct OpenDirectory {
    pub(super) directory: Arc<ScanDirectory>,
    pub(super) descriptor: Arc<OwnedFd>,
}

/// The names and values of an entry of a directory.
pub(super) struct FoundName<'n> {
    pub(super) name: &'n CStr,
    pub(super) status: ScanStatus,
}

/// Whether a scan goes into a directory.
pub(super) enum EnteredDirectory {
    /// It is left out, or could not be opened.
    None,
    /// It is in the file system of the directory above it.
    Same,
    /// It is in another file system.
    Other(Arc<ScanDirectory>),
}

impl ScanWorker<'_> {
    /// Takes a name of the current directory, whose path is at the start of `path`. Adds it to `below` if it
    /// is a directory that is to be scanned.
    pub(super) fn take_name(
        &mut self,
        open: &OpenDirectory,
        name: &CStr,
        may_be_directory: bool,
        below: &mut NameList,
    ) {
        self.path.truncate(self.prefix);
        self.path.extend_from_slice(name.to_bytes());
        if !self.passes(name) {
            if may_be_directory {
                self.report.unlisted.leave_out(&self.path);
            }
            return;
        }
        if !may_be_directory && self.is_ignored(open, false) {
            return;
        }
        if !may_be_directory && !self.includes_file() {
            return self.report.filtered.add(&self.path);
        }
        self.operation();
        let status = ScanStatus::read(open.descriptor.as_fd(), name, self.flags(AtFlags::SYMLINK_NOFOLLOW));
        let status = match status {
            Ok(status) => status,
            Err(Errno::NOENT | Errno::NOTDIR) => return self.report.vanished.add(&self.path),
            Err(error) => return self.fail(error),
        };
        if !self.is_listed(&status) || may_be_directory && self.is_ignored(open, status.is_directory()) {
            return;
        }
        let found = FoundName { name, status };
        if self.shared.options.follow_symlinks && !self.is_first(open, &found) {
            return;
        }
        if found.status.is_directory() {
            self.emit(&found.status, open.descriptor.as_fd(), name);
            self.descend(open, &found, below);
        } else if !may_be_directory || self.includes_file() {
            self.emit(&found.status, open.descriptor.as_fd(), name);
        } else {
            self.report.filtered.add(&self.path);
        }
    }

    /// Whether the current path is neither to be left out nor listed elsewhere.
    pub(super) fn is_listed(&mut self, status: &ScanStatus) -> bool {
        if self.shared.left_out == Some(status.identity()) {
            self.report.filtered.add(&self.path);
            self.report.unlisted.leave_out(&self.path);
            return false;
        }
        if status.is_directory() && self.shared.filter.excludes_directory(&path_of(&self.path)) {
            self.report.filtered.add(&self.path);
            self.report.unlisted.leave_out(&self.path);
            return false;
        }
        if !self.shared.claims.is_empty() && self.is_claimed(status) {
            self.report.repeated.add(&self.path);
            return false;
        }
        true
    }

    /// False if the current path is skipped with everything below it.
    pub(super) fn passes(&mut self, name: &CStr) -> bool {
        let options = self.shared.options;
        if options.skip_hidden && name.to_bytes().starts_with(b".") {
            self.report.hidden.add(&self.path);
            return false;
        }
        if !options.exclude.is_empty() && !self.shared.filter.takes_name(&path_of(&self.path)) {
            self.report.filtered.add(&self.path);
            return false;
        }
        true
    }

    /// Whether the current path is included, which [passes](Self::passes), if it is no directory: directories
    /// always are.
    pub(super) fn includes_file(&self) -> bool {
        self.shared.options.include.is_empty() || self.shared.filter.includes(&path_of(&self.path))
    }

    pub(super) fn flags(&self, flags: AtFlags) -> AtFlags {
        if self.shared.options.lazy { flags | AtFlags::STATX_DONT_SYNC } else { flags }
    }

    /// If links are followed: leaves a link for later, and recognises a directory that was met before.
    fn is_first(&mut self, open: &OpenDirectory, found: &FoundName<'_>) -> bool {
        if found.status.values.kind == Some(EntryKind::Link) {
            let (root, rules) = (open.directory.root.clone(), open.directory.rules.get().cloned());
            self.links.push(FoundLink { root, path: path_of(&self.path), rules });
            return false;
        }
        let repeated =
            found.status.is_directory() && !lock(&self.shared.visited).insert(found.status.identity());
        if repeated {
            self.report.repeated.add(&self.path);
        }
        !repeated
    }

    /// True if the current path is in the tree of this named path, but is itself a named path.
    fn is_claimed(&self, status: &ScanStatus) -> bool {
        let Some(claimed) = self.shared.claims.get(&status.identity()) else { return false };
        let path = path_of(&self.path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let real = parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf()).join(name);
        claimed.contains(&real)
    }

    /// Hands out the current path as an entry.
    #[inline]
    pub(super) fn emit(&mut self, status: &ScanStatus, directory: BorrowedFd<'_>, name: &CStr) {
        self.find_access(status, directory, name);
        if status.values.kind == Some(EntryKind::Link) {
            self.operation();
            let target = rustix::fs::readlinkat(directory, name, std::mem::take(&mut self.target)).ok();
            self.emit_with(status, target.as_deref());
            self.target = target.map(CString::into_bytes).unwrap_or_default();
        } else if let Some(mut attributes) = self.attributes.take() {
            self.read_attributes(&mut attributes, status, directory, name);
            let xattrs = Some(attributes.xattrs.as_slice()).filter(|texts| !texts.is_empty());
            let acl = Some(attributes.acl.as_slice()).filter(|text| !text.is_empty());
            self.push(&Entry { xattrs, acl, ..status.values });
            self.attributes = Some(attributes);
        } else {
            self.emit_with(status, None);
        }
    }

    /// Hands out the current path as an entry, with the target of a link.
    #[inline]
    pub(super) fn emit_with(&mut self, status: &ScanStatus, target: Option<&CStr>) {
        if target.is_none() && status.values.kind == Some(EntryKind::Link) {
            self.report.without_target.add(&self.path);
        }
        self.push(&Entry { target: target.map(CStr::to_bytes), ..status.values });
    }

    /// Hands out an entry with the current path.
    #[inline]
    fn push(&mut self, values: &Entry<'_>) {
        let access = self.access.as_ref().map(|access| access.class.as_slice());
        let entry = Entry { path: &self.path, access, ..*values };
        self.entries += 1;
        if !self.batches.push(&entry) {
            self.shared.refused.store(true, Ordering::Relaxed);
        }
    }

    /// Makes a directory pending, unless it is one to leave out.
    pub(super) fn descend(&mut self, open: &OpenDirectory, found: &FoundName<'_>, below: &mut NameList) {
        match self.enters(open, found) {
            EnteredDirectory::None => {}
            EnteredDirectory::Same => below.push(found.name, true),
            EnteredDirectory::Other(directory) => self.stack.push(ScanWork::Directory(directory)),
        }
    }

    /// Decides whether to go into a directory.
    pub(super) fn enters(&mut self, open: &OpenDirectory, found: &FoundName<'_>) -> EnteredDirectory {
        let FoundName { name, status } = found;
        let elsewhere = status.device != open.directory.device || status.automount;
        if elsewhere && self.shared.options.one_file_system && open.directory.root.is_outside(status) {
            self.report.other_file_systems.add(&self.path);
            self.not_entered();
            return EnteredDirectory::None;
        }
        let may_be_snapshots = !self.shared.options.snapshots && may_be_snapshots(name.to_bytes());
        if !elsewhere && may_be_snapshots {
            self.operation();
            let system = rustix::fs::fstatfs(&*open.descriptor);
            if system.is_ok_and(|system| is_snapshots(name.to_bytes(), status.inode, magic(&system))) {
                self.report.snapshots.add(&self.path);
                self.not_entered();
                return EnteredDirectory::None;
            }
        }
        if !elsewhere {
            return EnteredDirectory::Same;
        }
        let name = CString::from(*name);
        let directory = ScanDirectory::below(open.directory.clone(), name, status.device);
        self.cross(open, directory)
    }

    /// Notes that the current directory is not entered on purpose.
    fn not_entered(&mut self) {
        self.report.unlisted.add(&self.path);
        self.report.unlisted.leave_out(&self.path);
    }

    /// Enters another file system or a subvolume, unless it is one to leave out. Opening it may mount it.
    fn cross(&mut self, open: &OpenDirectory, mut directory: ScanDirectory) -> EnteredDirectory {
        let opener = &self.shared.opener;
        let opened = opener.open(open.descriptor.as_fd(), &directory.name, false).and_then(|opened| {
            let status = ScanStatus::read(opened.as_fd(), c"", AtFlags::EMPTY_PATH)?;
            Ok((status, magic(&rustix::fs::fstatfs(&opened)?)))
        });
        (0..3).for_each(|_| self.operation());
        let (status, magic) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.fail(error);
                return EnteredDirectory::None;
            }
        };
        if !self.shared.options.pseudo && is_pseudo(magic) {
            self.report.pseudo.add(&self.path);
            self.not_entered();
            EnteredDirectory::None
        } else if !self.shared.options.snapshots
            && is_snapshots(directory.name.as_bytes(), status.inode, magic)
        {
            self.report.snapshots.add(&self.path);
            self.not_entered();
            EnteredDirectory::None
        } else {
            directory.device = status.device;
            EnteredDirectory::Other(Arc::new(directory))
        }
    }

    /// Whether a link that leads to `status` may be followed, by the file system that it leads to.
    pub(super) fn may_follow(&mut self, path: &Path, status: &ScanStatus) -> bool {
        if self.shared.options.pseudo {
            return true;
        }
        self.operation();
        let is_pseudo =
            status.is_directory() && rustix::fs::statfs(path).as_ref().map(magic).is_ok_and(is_pseudo);
        if is_pseudo {
            self.report.pseudo.add(&self.path);
        }
        !is_pseudo
    }
}

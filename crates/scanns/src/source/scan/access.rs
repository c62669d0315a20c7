//! What one thread needs to find the access classes of entries.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use crate::source::access::{AccessChain, AclPlace, AclReader, FilePermissions, PermissionAcl};
use crate::source::entry_kind::EntryKind;
use crate::source::scan::status::ScanStatus;

/// What one thread needs to find the classes of entries.
pub(super) struct AccessWork {
    acls: AclReader,
    /// Whether entries can be named by descriptors of their directories.
    has_proc: bool,
    place: Vec<u8>,
    /// The checks on the way to the entries of the current directory.
    pub(super) chain: Arc<AccessChain>,
    /// The permissions of the last entry without an ACL in this directory, whose class is `class`.
    last: Option<(Option<EntryKind>, FilePermissions)>,
    /// The text of the class of the current entry.
    pub(super) class: Vec<u8>,
    pub(super) is_undecided: bool,
}

impl AccessWork {
    pub(super) fn new() -> Self {
        AccessWork {
            acls: AclReader::default(),
            has_proc: Path::new("/proc/self/fd").exists(),
            place: Vec::new(),
            chain: Arc::default(),
            last: None,
            class: Vec::new(),
            is_undecided: false,
        }
    }

    /// Goes on with entries to which other checks lead.
    pub(super) fn set_chain(&mut self, chain: Arc<AccessChain>) {
        self.chain = chain;
        self.last = None;
    }

    /// The permissions of a name in a directory; of the directory itself if there is no name, and of a path
    /// through its links if there is no directory.
    pub(super) fn permissions(
        &mut self,
        status: &ScanStatus,
        directory: BorrowedFd<'_>,
        name: Option<&CStr>,
        path: &[u8],
    ) -> Option<FilePermissions> {
        let values = &status.values;
        let (uid, gid, mode) = (values.uid?, values.gid?, values.mode?);
        let descriptor = directory.as_raw_fd();
        self.place.clear();
        let by_descriptor = descriptor >= 0 && self.has_proc;
        if by_descriptor {
            self.place.extend_from_slice(format!("/proc/self/fd/{descriptor}").as_bytes());
        } else {
            self.place.extend_from_slice(path);
        }
        if let Some(name) = name.filter(|_| by_descriptor) {
            self.place.push(b'/');
            self.place.extend_from_slice(name.to_bytes());
        }
        let follows = if by_descriptor { name.is_none() } else { descriptor < 0 };
        let acl = match values.kind {
            Some(EntryKind::Link) => PermissionAcl::None,
            _ => self.acls.acl(AclPlace { path: &self.place, follows, device: status.device, mode }),
        };
        Some(FilePermissions { uid, gid, mode, acl })
    }

    /// Finds the class of an entry of the current directory.
    pub(super) fn find_class(&mut self, kind: Option<EntryKind>, own: Option<FilePermissions>) {
        if let (Some(own), Some((last_kind, last))) = (&own, &self.last)
            && *last_kind == kind
            && last == own
        {
            return;
        }
        let class = self.chain.class(kind, own.as_ref());
        (self.is_undecided, self.class) = (class.is_undecided(), class.encode());
        self.last = own.map(|own| (kind, own));
    }
}

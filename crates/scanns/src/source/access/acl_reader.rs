//! Reads the ACLs of files.
//!
//! On file systems with ACLs of POSIX, a file without one costs one system call; file systems without any are
//! remembered.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::io::Errno;

use crate::source::access::permissions::{FilePermissions, PermissionAcl};

/// The kernel knows no longer values.
const BUFFER: usize = 64 << 10;

/// The extended attributes with ACLs of POSIX and NFSv4.
const POSIX: &str = "system.posix_acl_access";
const NFS4: [&str; 2] = ["system.nfs4_acl", "system.nfs4_acl_xdr"];

/// A place whose ACL is read: a path, or a link to a descriptor.
#[derive(Clone, Copy)]
pub(crate) struct AclPlace<'p> {
    pub(crate) path: &'p [u8],
    /// Whether a symbolic link at the path is followed.
    pub(crate) follows: bool,
    pub(crate) device: u64,
    pub(crate) mode: u32,
}

/// What one thread needs to read ACLs.
#[derive(Debug, Default)]
pub(crate) struct AclReader {
    value: Vec<u8>,
    /// Devices of file systems without ACLs.
    without: HashSet<u64>,
}

impl AclReader {
    /// The ACL at a place. One that cannot be read is undecided.
    pub(crate) fn acl(&mut self, place: AclPlace<'_>) -> PermissionAcl {
        if self.without.contains(&place.device) {
            return PermissionAcl::None;
        }
        match self.read(place, POSIX) {
            Ok(acl) => return PermissionAcl::of_posix_bytes(acl),
            Err(Errno::NODATA) => return PermissionAcl::None,
            Err(Errno::OPNOTSUPP) => {}
            Err(_) => return PermissionAcl::Undecided,
        }
        let mut has_kind = false;
        for name in NFS4 {
            match self.read(place, name) {
                Ok(acl) => return PermissionAcl::of_nfs4_bytes(acl, place.mode),
                // This file has none, but others may.
                Err(Errno::NODATA) => has_kind = true,
                Err(Errno::OPNOTSUPP) => {}
                Err(_) => return PermissionAcl::Undecided,
            }
        }
        // Special files may have none where others have some.
        let kind = place.mode & 0o170_000;
        if !has_kind && (kind == 0o100_000 || kind == 0o040_000) {
            self.without.insert(place.device);
        }
        PermissionAcl::None
    }

    fn read(&mut self, place: AclPlace<'_>, name: &str) -> rustix::io::Result<&[u8]> {
        self.value.resize(BUFFER, 0);
        let length = match place.follows {
            true => rustix::fs::getxattr(place.path, name, &mut self.value)?,
            false => rustix::fs::lgetxattr(place.path, name, &mut self.value)?,
        };
        Ok(self.value.get(..length).unwrap_or_default())
    }

    /// What decides about a path, with its metadata. `follows` says whether the metadata are of the target if
    /// the path is a link.
    pub(crate) fn permissions(
        &mut self,
        path: &Path,
        meta: &std::fs::Metadata,
        follows: bool,
    ) -> FilePermissions {
        let (device, mode) = (meta.dev(), meta.mode());
        let acl = match meta.is_symlink() {
            true => PermissionAcl::None,
            false => self.acl(AclPlace { path: path.as_os_str().as_encoded_bytes(), follows, device, mode }),
        };
        FilePermissions { uid: meta.uid(), gid: meta.gid(), mode, acl }
    }
}

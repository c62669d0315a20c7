//! What decides who may use one file or directory.

use crate::source::access::acl::{AclEntry, AclTag};
use crate::source::access::nfs4_acl::says_the_mode;
use crate::source::access::user::AccessUser;

/// A permission that the kernel asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedPermission {
    /// To read a file, or to list a directory.
    Read,
    /// To use names in a directory.
    Search,
}

impl AskedPermission {
    /// Its bit in three bits of a mode.
    pub(super) fn bit(self) -> u32 {
        match self {
            AskedPermission::Read => 4,
            AskedPermission::Search => 1,
        }
    }
}

/// The ACL of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PermissionAcl {
    /// It has none: the mode decides.
    #[default]
    None,
    /// One of POSIX.
    Posix(Box<[AclEntry]>),
    /// One that could not be read, or one of NFSv4 that says something else than the mode: only its server
    /// can decide.
    Undecided,
}

impl PermissionAcl {
    /// The ACL in the text that an index keeps, see [`Entry::acl`](crate::sources::Entry::acl), of an entry
    /// with this mode.
    pub(crate) fn of_text(text: &[u8], mode: u32) -> Self {
        if let Some(at) = memchr::memmem::find(text, b"=0x") {
            let digits = text.get(at + 3..).unwrap_or_default();
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            let bytes = digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>();
            return bytes
                .map_or(PermissionAcl::Undecided, |bytes| PermissionAcl::of_nfs4_bytes(&bytes, mode));
        }
        match AclEntry::parse_text(text) {
            // Only entries for new files.
            Some(entries) if entries.is_empty() => PermissionAcl::None,
            Some(entries) => PermissionAcl::Posix(entries),
            None => PermissionAcl::Undecided,
        }
    }

    /// An ACL of NFSv4, which only its server can decide, unless it says what the mode says.
    pub(super) fn of_nfs4_bytes(acl: &[u8], mode: u32) -> Self {
        if says_the_mode(acl, mode) { PermissionAcl::None } else { PermissionAcl::Undecided }
    }

    /// The ACL in the bytes of `system.posix_acl_access`.
    pub fn of_posix_bytes(bytes: &[u8]) -> Self {
        AclEntry::parse(bytes).map_or(PermissionAcl::Undecided, PermissionAcl::Posix)
    }
}

/// What decides who may use one file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePermissions {
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The mode; other bits than the lowest nine do not matter.
    pub mode: u32,
    /// The ACL.
    pub acl: PermissionAcl,
}

/// The rule that decided a check of one permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// Root may read everything.
    Root,
    /// The permissions of the owner.
    Owner,
    /// The permissions of the owning group, in the mode.
    Group,
    /// The permissions of others, in the mode.
    Others,
    /// The entry of the ACL at this index, before its mask.
    AclEntry(usize),
    /// The user is in groups of the ACL, and none of them has the permission.
    AclGroups,
    /// Nothing: the ACL cannot be decided.
    Undecided,
}

impl FilePermissions {
    /// Whether a user has a permission, and what decided that. [`Gate`](super::Gate) has the same answer for
    /// all users at once.
    pub fn decide(&self, user: &AccessUser, permission: AskedPermission) -> (bool, DecidedBy) {
        let grants = |permissions: u32| permissions & permission.bit() != 0;
        if user.is_root() {
            return (true, DecidedBy::Root);
        }
        match &self.acl {
            PermissionAcl::Undecided => return (false, DecidedBy::Undecided),
            _ if user.uid() == self.uid => return (grants(self.mode >> 6), DecidedBy::Owner),
            // The kernel does not look at an ACL if the mode has no permissions of the group.
            PermissionAcl::Posix(entries) if self.mode & 0o070 != 0 => {
                return self.decide_by_acl(entries, user, permission);
            }
            _ => {}
        }
        match user.is_in(self.gid) {
            true => (grants(self.mode >> 3), DecidedBy::Group),
            false => (grants(self.mode), DecidedBy::Others),
        }
    }

    /// The entries are in the order of the kernel: users, the owning group, groups, the mask, others.
    fn decide_by_acl(
        &self,
        entries: &[AclEntry],
        user: &AccessUser,
        permission: AskedPermission,
    ) -> (bool, DecidedBy) {
        let grants = |entry: &AclEntry| entry.permissions & permission.bit() != 0;
        let mask = entries.iter().find(|entry| entry.tag == AclTag::Mask).is_none_or(grants);
        let mut in_group = false;
        for (at, entry) in entries.iter().enumerate() {
            let gid = match entry.tag {
                AclTag::User(uid) if uid == user.uid() => {
                    return (grants(entry) && mask, DecidedBy::AclEntry(at));
                }
                AclTag::Others if in_group => return (false, DecidedBy::AclGroups),
                AclTag::Others => return (grants(entry), DecidedBy::AclEntry(at)),
                AclTag::OwningGroup => self.gid,
                AclTag::Group(gid) => gid,
                _ => continue,
            };
            if user.is_in(gid) {
                in_group = true;
                if grants(entry) {
                    return (mask, DecidedBy::AclEntry(at));
                }
            }
        }
        (false, DecidedBy::Undecided)
    }
}

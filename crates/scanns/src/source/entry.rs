//! One entry of a file system, as a scan or a dump describes it.

use crate::source::entry_kind::{EntryKind, TYPE_BITS};
use crate::source::stamp::Stamp;

/// What is known of an entry of a file system. A dump that does not say something leaves it `None`.
///
/// Times are nanoseconds since 1970; a time before 1677-09-21 or after 2262-04-11 is `i64::MIN` or
/// `i64::MAX` (saturated).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The path, in the bytes of the file system; it has no slash at its end unless it is `/`.
    pub path: &'a [u8],
    /// What it is.
    pub kind: Option<EntryKind>,
    /// The target of a symbolic link, as it stands in the link.
    pub target: Option<&'a [u8]>,
    /// The name of the owner.
    pub owner: Option<&'a [u8]>,
    /// The name of the group.
    pub group: Option<&'a [u8]>,
    /// The time of the last modification.
    pub mtime: Option<i64>,
    /// The time of the last access.
    pub atime: Option<i64>,
    /// The time of the last change of the entry or its metadata.
    pub ctime: Option<i64>,
    /// The time at which it was created (its birth).
    pub btime: Option<i64>,
    /// Its size in bytes, of links the length of their target.
    pub size: Option<u64>,
    /// The space that it takes, in blocks of 512 bytes.
    pub blocks: Option<u64>,
    /// The user id of the owner.
    pub uid: Option<u32>,
    /// The group id.
    pub gid: Option<u32>,
    /// The permissions, with the bits of the type where the dump has them.
    pub mode: Option<u32>,
    /// The number of the entry in its file system (inode).
    pub inode: Option<u64>,
    /// The number of names (hard links).
    pub links: Option<u64>,
    /// The device of the file system.
    pub device: Option<u64>,
    /// The number of stripes of a file of Lustre.
    pub stripes: Option<u64>,
    /// The storage pool.
    pub pool: Option<&'a [u8]>,
    /// The project or the fileset that it is accounted to.
    pub project: Option<u64>,
    /// The device that a device file stands for.
    pub rdev: Option<u64>,
    /// Its extended attributes `user.*`, one a line: `NAME=VALUE`, or the name alone if the value could not
    /// be read. Control characters, backslashes and bytes that are not UTF-8 are a backslash and three octal
    /// digits.
    pub xattrs: Option<&'a [u8]>,
    /// Its ACLs in the short text form of POSIX, with numbers of users and groups; of NFSv4 in hexadecimal.
    pub acl: Option<&'a [u8]>,
    /// Whether a dump says that it has an ACL, without saying which.
    pub has_acl: bool,
    /// The text of its access class, which says who may see it.
    pub access: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// The mode, with the bits of the type if the type is known.
    pub fn mode_with_type(&self) -> Option<u32> {
        let mode = self.mode?;
        let kind = match self.kind {
            _ if mode & TYPE_BITS != 0 => 0,
            None | Some(EntryKind::Device | EntryKind::Member) => 0,
            Some(EntryKind::File) => 0o100_000,
            Some(EntryKind::Directory) => 0o040_000,
            Some(EntryKind::Link) => 0o120_000,
            Some(EntryKind::Fifo) => 0o010_000,
            Some(EntryKind::Socket) => 0o140_000,
        };
        Some(mode | kind)
    }

    /// What tells whether it has changed, as of [`Input::stamp`](super::Input::stamp).
    pub fn stamp(&self) -> Stamp {
        let bytes = match self.kind {
            None | Some(EntryKind::File) => self.size.unwrap_or(0),
            Some(_) => 0,
        };
        Stamp { bytes, modified: self.mtime.unwrap_or(0) }
    }
}

/// True if `path` is `directory` or below it.
pub fn is_at_or_below(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || directory.ends_with(b"/"))
}

/// True if `path` is below `directory`.
pub fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.len() > directory.len() && is_at_or_below(path, directory)
}

/// The path and its parents, from the longest to the shortest.
pub fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| match memchr::memrchr(b'/', path)? {
        0 if path.len() == 1 => None,
        0 => path.get(..1),
        slash => path.get(..slash),
    })
}

/// A time as nanoseconds since 1970; the least or the greatest number for a time that does not fit.
pub fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

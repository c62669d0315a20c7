//! What the evaluation of an entry asks its caller: facts that the entry alone does not give.

use crate::source::Entry;

/// Facts about other entries of the index, and about its contents.
pub trait FindFacts {
    /// The entry at a path, for `-newer`, `-samefile` and the like.
    fn reference(&self, path: &[u8]) -> Option<ReferenceEntry>;

    /// Whether a directory has no entries.
    fn is_empty_directory(&self, entry: &Entry) -> Option<bool>;

    /// What a symbolic link leads to, for `-xtype` and `%Y`.
    fn target(&self, entry: &Entry) -> FoundTarget;

    /// The user id of a name, for `-user`; none where nobody has the name.
    fn user(&self, name: &[u8]) -> Option<OwnerIdentity>;

    /// The group id of a name, for `-group`; none where no group has the name.
    fn group(&self, name: &[u8]) -> Option<OwnerIdentity>;

    /// Whether entries carry the names of their owners and groups. If they do not, `-nouser` is unknown.
    fn has_names(&self) -> bool;

    /// Whether the content of an entry matches the query of a `-content`, by its number in
    /// [`super::Expression::contents`].
    fn matches_content(&self, query: usize, entry: &Entry) -> bool;
}

/// What is known of an entry that a test compares with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceEntry {
    /// The time of the last modification.
    pub mtime: Option<i64>,
    /// The time of the last access.
    pub atime: Option<i64>,
    /// The time of the last change of the entry or its metadata.
    pub ctime: Option<i64>,
    /// The time of its birth.
    pub btime: Option<i64>,
    /// Its inode.
    pub inode: Option<u64>,
    /// Its device.
    pub device: Option<u64>,
}

impl ReferenceEntry {
    /// What an entry tells about itself.
    pub fn of(entry: &Entry) -> Self {
        let Entry { mtime, atime, ctime, btime, inode, device, .. } = *entry;
        ReferenceEntry { mtime, atime, ctime, btime, inode, device }
    }
}

/// Where a symbolic link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundTarget {
    /// To an entry of this kind.
    Entry(FindType),
    /// To nothing.
    Missing,
    /// Back to itself.
    Loop,
    /// The index does not know: the target is outside of it.
    Unknown,
}

/// A name that somebody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerIdentity {
    /// The number of the name.
    Id(u32),
    /// The number is not known; entries are compared by name.
    Name,
}

/// The kinds of files as `-type` distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindType {
    /// A block device.
    Block,
    /// A character device.
    Character,
    /// A directory.
    Directory,
    /// A regular file.
    Regular,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
}

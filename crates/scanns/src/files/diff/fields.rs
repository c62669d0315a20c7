//! The values of entries that are compared.

use crate::source::{Entry, EntryKind};

/// The bits of permissions in a mode.
const PERMISSIONS: u32 = 0o7777;

/// A second, in nanoseconds.
pub(super) const SECOND: i64 = 1_000_000_000;

/// A value of an entry that may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryField {
    /// What it is.
    Type,
    /// Its size.
    Size,
    /// The time of the last modification.
    Mtime,
    /// The time of the last access.
    Atime,
    /// The time of the last change of its status.
    Ctime,
    /// Its permissions.
    Mode,
    /// The name of the owner.
    Owner,
    /// The name of the group.
    Group,
    /// The number of the owner.
    Uid,
    /// The number of the group.
    Gid,
    /// The number of its names.
    Links,
    /// The target of a link.
    Target,
    /// Its number in the file system.
    Inode,
    /// Its extended attributes, one a line.
    Xattrs,
    /// Its ACL.
    Acl,
}

/// All fields, in the order in which they are shown.
pub const ENTRY_FIELDS: [EntryField; 15] = [
    EntryField::Type,
    EntryField::Size,
    EntryField::Mtime,
    EntryField::Atime,
    EntryField::Ctime,
    EntryField::Mode,
    EntryField::Owner,
    EntryField::Group,
    EntryField::Uid,
    EntryField::Gid,
    EntryField::Links,
    EntryField::Target,
    EntryField::Inode,
    EntryField::Xattrs,
    EntryField::Acl,
];

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A name.
    Text(&'a [u8]),
    /// A count or an identity.
    Number(u64),
    /// Permissions.
    Mode(u32),
    /// Nanoseconds since 1970.
    Time(i64),
}

impl EntryField {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            EntryField::Type => "type",
            EntryField::Size => "size",
            EntryField::Mtime => "mtime",
            EntryField::Atime => "atime",
            EntryField::Ctime => "ctime",
            EntryField::Mode => "mode",
            EntryField::Owner => "owner",
            EntryField::Group => "group",
            EntryField::Uid => "uid",
            EntryField::Gid => "gid",
            EntryField::Links => "links",
            EntryField::Target => "target",
            EntryField::Inode => "inode",
            EntryField::Xattrs => "xattrs",
            EntryField::Acl => "acl",
        }
    }

    /// The field with a name.
    pub fn named(name: &str) -> Option<Self> {
        ENTRY_FIELDS.into_iter().find(|field| field.name() == name)
    }

    /// The value of an entry; `None` if it is not known.
    pub fn value<'a>(self, entry: &Entry<'a>) -> Option<FieldValue<'a>> {
        let number = |number: Option<u32>| number.map(|number| FieldValue::Number(number.into()));
        match self {
            EntryField::Type => entry.kind.map(|kind| FieldValue::Text(kind.name().as_bytes())),
            EntryField::Size => entry.size.map(FieldValue::Number),
            EntryField::Mtime => entry.mtime.map(FieldValue::Time),
            EntryField::Atime => entry.atime.map(FieldValue::Time),
            EntryField::Ctime => entry.ctime.map(FieldValue::Time),
            EntryField::Mode => entry.mode.map(|mode| FieldValue::Mode(mode & PERMISSIONS)),
            EntryField::Owner => entry.owner.map(FieldValue::Text),
            EntryField::Group => entry.group.map(FieldValue::Text),
            EntryField::Uid => number(entry.uid),
            EntryField::Gid => number(entry.gid),
            EntryField::Links => entry.links.map(FieldValue::Number),
            EntryField::Target => entry.target.map(FieldValue::Text),
            EntryField::Inode => entry.inode.map(FieldValue::Number),
            EntryField::Xattrs => entry.xattrs.map(FieldValue::Text),
            EntryField::Acl => entry.acl.map(FieldValue::Text),
        }
    }
}

/// Some of the fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryFieldSet(u16);

impl EntryFieldSet {
    /// The set with one more field.
    #[must_use]
    pub fn with(self, field: EntryField) -> Self {
        EntryFieldSet(self.0 | 1 << field as u16)
    }

    /// The set without a field.
    #[must_use]
    pub fn without(self, field: EntryField) -> Self {
        EntryFieldSet(self.0 & !(1 << field as u16))
    }

    /// True if it has the field.
    pub fn contains(self, field: EntryField) -> bool {
        self.0 >> (field as u16) & 1 == 1
    }

    /// True if it has no field.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its fields in order.
    pub fn iter(self) -> impl Iterator<Item = EntryField> {
        ENTRY_FIELDS.into_iter().filter(move |&field| self.contains(field))
    }
}

/// How values are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldRules {
    /// Fields that are not compared.
    pub(super) ignored: EntryFieldSet,
    /// Whether times are compared in whole seconds, since one of the trees has no fractions.
    pub(super) whole_seconds: bool,
}

impl FieldRules {
    /// The fields that differ, and those that only one of the entries has.
    pub(super) fn compare(self, old: &Entry<'_>, new: &Entry<'_>) -> (EntryFieldSet, EntryFieldSet) {
        let (mut changed, mut unknown) = (EntryFieldSet::default(), EntryFieldSet::default());
        let is_directory = |entry: &Entry<'_>| entry.kind == Some(EntryKind::Directory);
        let mut ignored = self.ignored;
        if is_directory(old) && is_directory(new) {
            // Both follow from what is in the directory, in the way of the file system.
            ignored = ignored.with(EntryField::Size).with(EntryField::Links);
        }
        for field in ENTRY_FIELDS {
            if ignored.contains(field) {
                continue;
            }
            match (field.value(old), field.value(new)) {
                (Some(old), Some(new)) if !self.is_equal(old, new) => changed = changed.with(field),
                (Some(_), None) | (None, Some(_)) => unknown = unknown.with(field),
                _ => {}
            }
        }
        if changed.contains(EntryField::Type) {
            // Only links have targets.
            unknown = unknown.without(EntryField::Target);
        }
        (changed, unknown)
    }

    fn is_equal(self, old: FieldValue<'_>, new: FieldValue<'_>) -> bool {
        match (old, new) {
            (FieldValue::Time(old), FieldValue::Time(new)) => self.is_same_time(old, new),
            (old, new) => old == new,
        }
    }

    /// True if two times are equal as far as both trees know them.
    pub(super) fn is_same_time(self, old: i64, new: i64) -> bool {
        old == new || self.whole_seconds && old.div_euclid(SECOND) == new.div_euclid(SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_name_that_finds_it() {
        for field in ENTRY_FIELDS {
            assert_eq!(EntryField::named(field.name()), Some(field));
        }
        assert_eq!(EntryField::named("blocks"), None);
    }

    #[test]
    fn values_are_compared_if_both_are_known() {
        let old = Entry { mtime: Some(5), mode: Some(0o100_644), uid: Some(1), ..Entry::default() };
        let new = Entry { mtime: Some(6), mode: Some(0o644), size: Some(1), ..Entry::default() };
        let rules = FieldRules::default();
        let none = EntryFieldSet::default();
        let (changed, unknown) = rules.compare(&old, &new);
        assert_eq!(changed, none.with(EntryField::Mtime));
        assert_eq!(unknown.iter().collect::<Vec<_>>(), [EntryField::Size, EntryField::Uid]);
        let coarse = FieldRules { whole_seconds: true, ..rules };
        assert_eq!(coarse.compare(&old, &new).0, none);
        let ignoring = FieldRules { ignored: none.with(EntryField::Mtime), ..rules };
        assert_eq!(ignoring.compare(&old, &new).0, none);
        let link = Entry { kind: Some(EntryKind::Link), target: Some(b"x"), ..Entry::default() };
        let file = Entry { kind: Some(EntryKind::File), ..Entry::default() };
        assert_eq!(rules.compare(&link, &file), (none.with(EntryField::Type), none));
    }
}

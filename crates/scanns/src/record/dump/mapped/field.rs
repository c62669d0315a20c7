//! The fields of an entry that columns of a table can fill.

/// A field that a column fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MapField {
    Path,
    Kind,
    Target,
    Owner,
    Group,
    Modified,
    Accessed,
    Changed,
    Born,
    Size,
    Blocks,
    Uid,
    Gid,
    Mode,
    Inode,
    Links,
    Device,
    Stripes,
    Pool,
    Project,
    /// Whether the row is about the latest version of an object; other rows are passed over.
    Latest,
    /// Whether the row only says that an object was deleted; such rows are passed over.
    Deleted,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldClass {
    Text,
    Kind,
    Time,
    /// A size in bytes, or in blocks.
    Size,
    Number,
    Mode,
    Flag,
}

impl MapField {
    /// All fields by the names that `--map` uses, in the order in which a map is shown.
    pub(super) const ALL: [(MapField, &'static str); 22] = [
        (MapField::Path, "path"),
        (MapField::Kind, "type"),
        (MapField::Size, "size"),
        (MapField::Blocks, "blocks"),
        (MapField::Modified, "mtime"),
        (MapField::Accessed, "atime"),
        (MapField::Changed, "ctime"),
        (MapField::Born, "btime"),
        (MapField::Owner, "owner"),
        (MapField::Group, "group"),
        (MapField::Uid, "uid"),
        (MapField::Gid, "gid"),
        (MapField::Mode, "mode"),
        (MapField::Inode, "inode"),
        (MapField::Links, "links"),
        (MapField::Device, "device"),
        (MapField::Target, "target"),
        (MapField::Stripes, "stripes"),
        (MapField::Pool, "pool"),
        (MapField::Project, "project"),
        (MapField::Latest, "latest"),
        (MapField::Deleted, "deleted"),
    ];

    /// The field with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(field, _)| *field)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(field, _)| *field == self).map_or("", |(_, name)| name)
    }

    /// What its values are.
    pub(super) fn class(self) -> FieldClass {
        match self {
            MapField::Path | MapField::Target | MapField::Owner | MapField::Group | MapField::Pool => {
                FieldClass::Text
            }
            MapField::Kind => FieldClass::Kind,
            MapField::Modified | MapField::Accessed | MapField::Changed | MapField::Born => FieldClass::Time,
            MapField::Size | MapField::Blocks => FieldClass::Size,
            MapField::Mode => FieldClass::Mode,
            MapField::Latest | MapField::Deleted => FieldClass::Flag,
            _ => FieldClass::Number,
        }
    }
}

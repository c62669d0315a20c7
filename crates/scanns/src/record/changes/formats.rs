//! The formats of lists of changes, and how they are recognised.

use super::{lustre, watch_json, zfs_diff};

/// A format of lists of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeFormat {
    /// Paths, one a line.
    Paths,
    /// Paths, each followed by a NUL byte.
    NulPaths,
    /// `zfs diff -H`.
    ZfsDiff,
    /// `lfs changelog` of Lustre.
    Lustre,
    /// A clustered watch of IBM Storage Scale.
    WatchJson,
}

/// The formats, by name.
pub const CHANGE_FORMATS: [(&str, ChangeFormat); 5] = [
    ("paths", ChangeFormat::Paths),
    ("paths0", ChangeFormat::NulPaths),
    ("zfs-diff", ChangeFormat::ZfsDiff),
    ("lustre", ChangeFormat::Lustre),
    ("scale-watch", ChangeFormat::WatchJson),
];

impl ChangeFormat {
    /// The format with a name.
    pub fn named(name: &str) -> Option<ChangeFormat> {
        CHANGE_FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        CHANGE_FORMATS.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// The byte after each row.
    pub(super) fn end(self) -> u8 {
        if self == ChangeFormat::NulPaths { 0 } else { b'\n' }
    }

    /// The format of a list that begins with `head`, if this is certain. Only the first row is looked at.
    pub fn detect(head: &[u8]) -> Option<ChangeFormat> {
        if head.contains(&0) {
            return Some(ChangeFormat::NulPaths);
        }
        let row = head.split(|&byte| byte == b'\n').next()?;
        if lustre::is_row(row) {
            Some(ChangeFormat::Lustre)
        } else if watch_json::is_row(row) {
            Some(ChangeFormat::WatchJson)
        } else if zfs_diff::is_row(row) {
            Some(ChangeFormat::ZfsDiff)
        } else if row.starts_with(b"/") || row.starts_with(b"./") {
            Some(ChangeFormat::Paths)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognised_by_the_first_row_or_not_at_all() {
        use ChangeFormat::*;
        let lustre = "7 02MKDIR 08:14:59.250441873 2026.11.26 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] d\n";
        for (head, expected) in [
            ("/data/a\n", Some(Paths)),
            ("./a", Some(Paths)),
            ("a\n/b\n", None),
            ("", None),
            ("/a\0/b\0", Some(NulPaths)),
            ("M\tF\t/tank/a\n", Some(ZfsDiff)),
            ("1.5\tR\t/tank/a\t/tank/b\n", Some(ZfsDiff)),
            (lustre, Some(Lustre)),
            ("{\"event\":\"IN_CREATE\",\"path\":\"/a\"}\n", Some(WatchJson)),
            ("{}\n", None),
        ] {
            assert_eq!(ChangeFormat::detect(head.as_bytes()), expected, "{head}");
        }
        for (name, format) in CHANGE_FORMATS {
            assert_eq!((ChangeFormat::named(name), format.name()), (Some(format), name));
        }
        assert_eq!(ChangeFormat::named("rsync"), None);
    }
}

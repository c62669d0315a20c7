//! The kinds of entries of a directory.

use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;

/// The bits of the type in a mode.
pub(super) const TYPE_BITS: u32 = 0o170_000;

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    #[default]
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A file in an archive.
    Member,
}

impl EntryKind {
    /// The kind as the system tells it.
    pub(super) fn of(kind: FileType) -> Self {
        match kind {
            kind if kind.is_dir() => EntryKind::Directory,
            kind if kind.is_symlink() => EntryKind::Link,
            kind if kind.is_fifo() => EntryKind::Fifo,
            kind if kind.is_socket() => EntryKind::Socket,
            kind if kind.is_char_device() || kind.is_block_device() => EntryKind::Device,
            _ => EntryKind::File,
        }
    }

    /// The kind that the bits of the type in a mode tell; `None` if it has none or unknown ones.
    pub fn of_mode(mode: u32) -> Option<Self> {
        match mode & TYPE_BITS {
            0o100_000 => Some(EntryKind::File),
            0o040_000 => Some(EntryKind::Directory),
            0o120_000 => Some(EntryKind::Link),
            0o010_000 => Some(EntryKind::Fifo),
            0o140_000 => Some(EntryKind::Socket),
            0o020_000 | 0o060_000 => Some(EntryKind::Device),
            _ => None,
        }
    }

    /// The kind with a name, see [`EntryKind::name`].
    pub fn named(name: &[u8]) -> Option<Self> {
        let all = [
            EntryKind::File,
            EntryKind::Directory,
            EntryKind::Link,
            EntryKind::Fifo,
            EntryKind::Socket,
            EntryKind::Device,
            EntryKind::Member,
        ];
        all.into_iter().find(|kind| kind.name().as_bytes() == name)
    }

    /// Its name, which is its value in the field `type`.
    pub fn name(self) -> &'static str {
        match self {
            EntryKind::File => "file",
            EntryKind::Directory => "directory",
            EntryKind::Link => "link",
            EntryKind::Fifo => "fifo",
            EntryKind::Socket => "socket",
            EntryKind::Device => "device",
            EntryKind::Member => "member",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_modes_are_known() {
        let kinds: Vec<_> =
            (0..16).map(|bits| EntryKind::of_mode(bits << 12 | 0o7777).map(EntryKind::name)).collect();
        let expected = [
            (1, "fifo"),
            (2, "device"),
            (4, "directory"),
            (6, "device"),
            (8, "file"),
            (10, "link"),
            (12, "socket"),
        ];
        for (bits, kind) in kinds.iter().enumerate() {
            let expected = expected.iter().find(|expected| expected.0 == bits).map(|expected| expected.1);
            assert_eq!(*kind, expected);
        }
    }
}

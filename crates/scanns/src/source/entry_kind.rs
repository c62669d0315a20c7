//! The kinds of entries of a directory.

use std::fs::FileType;
use std::os::unix::fs::FileTypeExt;

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

    /// Its name, which is its value in the field `type`.
    pub fn name(self) -> &'static str {
        match self {
            EntryKind::File => "file",
            EntryKind::Directory => "directory",
            EntryKind::Link => "link",
            EntryKind::Fifo => "fifo",
            EntryKind::Socket => "socket",
            EntryKind::Device => "device",
        }
    }
}

//! A member of an archive: what its header tells about it.

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; the target is a path as the link tells it.
    Symlink,
    /// Another name of a file of the same archive. A tar tells the target, a cpio does not.
    HardLink,
    /// A device, a pipe, a volume label and the like.
    Other,
}

/// The name and metadata of a member. Values are absent where the archive does not tell them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMember {
    /// The path without a leading `./`, repeated slashes and a final slash, and otherwise as stored. It may
    /// be absolute, contain `..`, and need not be UTF-8: it is only a name, and nothing is written to it.
    pub path: Vec<u8>,
    /// What the member is.
    pub kind: MemberKind,
    /// The size that the header declares, in bytes after expansion. The content may be shorter.
    pub size: u64,
    /// The time of the last modification, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// The permission bits, set-user-ID, set-group-ID and sticky included (`0o7777`).
    pub mode: Option<u32>,
    /// The number of the owner.
    pub uid: Option<u32>,
    /// The number of the group.
    pub gid: Option<u32>,
    /// The name of the owner.
    pub owner: Option<Vec<u8>>,
    /// The name of the group.
    pub group: Option<Vec<u8>>,
    /// The target of a link.
    pub target: Option<Vec<u8>>,
    /// The byte of the archive at which the content begins; for a zip, at which the local header begins.
    pub offset: u64,
}

impl ArchiveMember {
    /// A file of which only the path and the size are known.
    pub(super) fn file(path: &[u8], size: u64, offset: u64) -> Self {
        Self {
            path: clean(path),
            kind: MemberKind::File,
            size,
            modified: None,
            mode: None,
            uid: None,
            gid: None,
            owner: None,
            group: None,
            target: None,
            offset,
        }
    }

    /// The record of a collection with this number, from 1, and this many bytes.
    pub(crate) fn record(number: u64, size: u64) -> Self {
        Self::file(number.to_string().as_bytes(), size, 0)
    }

    /// Sets the kind and the permissions from the `st_mode` of Unix.
    pub(super) fn set_unix_mode(&mut self, mode: u32) {
        self.kind = match mode & 0o170_000 {
            0o040_000 => MemberKind::Directory,
            0o120_000 => MemberKind::Symlink,
            0o100_000 | 0 => MemberKind::File,
            _ => MemberKind::Other,
        };
        self.mode = Some(mode & 0o7777);
    }
}

/// Nanoseconds of whole seconds, unless they lie outside the years 1677 to 2262.
pub(super) fn nanoseconds(seconds: i64) -> Option<i64> {
    seconds.checked_mul(1_000_000_000)
}

/// The path without a leading `./`, repeated slashes and a final slash.
pub(super) fn clean(path: &[u8]) -> Vec<u8> {
    let mut rest = path;
    while let Some(after) = rest.strip_prefix(b"./") {
        rest = after;
        while let Some(after) = rest.strip_prefix(b"/") {
            rest = after;
        }
    }
    let mut cleaned = Vec::with_capacity(rest.len());
    let next = rest.get(1..).unwrap_or_default();
    let repeated = rest.iter().zip(next).fold(false, |any, pair| any | (pair == (&b'/', &b'/')));
    if !repeated {
        cleaned.extend_from_slice(rest);
    } else {
        for &byte in rest {
            if byte != b'/' || cleaned.last() != Some(&b'/') {
                cleaned.push(byte);
            }
        }
    }
    if cleaned.len() > 1 && cleaned.last() == Some(&b'/') {
        cleaned.pop();
    }
    if cleaned.is_empty() && !path.is_empty() {
        cleaned.push(b'.');
    }
    cleaned
}

/// The bytes before the first NUL.
pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    memchr::memchr(0, bytes).and_then(|end| bytes.get(..end)).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn a_path_loses_its_leading_dot_and_repeated_slashes() {
        let cases: [(&[u8], &[u8]); 12] = [
            (b"a/b", b"a/b"),
            (b"./a//b/", b"a/b"),
            (b"././/a", b"a"),
            (b".//./a", b"a"),
            (b"./", b"."),
            (b".", b"."),
            (b"", b""),
            (b"/", b"/"),
            (b"//a///b", b"/a/b"),
            (b"../../etc/passwd", b"../../etc/passwd"),
            (b"a/./b/../c", b"a/./b/../c"),
            (b".a", b".a"),
        ];
        for (path, cleaned) in cases {
            assert_eq!(clean(path), cleaned, "{}", path.escape_ascii());
        }
    }
}

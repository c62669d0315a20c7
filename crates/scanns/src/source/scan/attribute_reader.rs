//! Reads the extended attributes and ACLs of one entry after the other.
//!
//! The kernel lists the names of all attributes of an entry in one call; each value takes another call. An
//! entry is named by `/proc/self/fd/N/NAME`, where N is the descriptor of its directory, so that nothing is
//! opened and paths may be long.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io::Write;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Mutex;

use rustix::io::Errno;

use crate::source::scan::acl_text::{posix_text, put_hexadecimal};
use crate::source::scan::options::ScanOptions;

/// The kernel knows no longer names and values.
const BUFFER: usize = 64 << 10;

/// The bytes of a value that are kept.
const MOST_VALUE: usize = 4 << 10;

/// The bytes that the texts of all attributes of an entry may take, and those of its ACLs.
const MOST_TEXT: usize = 32 << 10;

/// The attributes that hold ACLs: of POSIX, for the entry and for what is made in it, and of NFSv4.
const ACCESS: &[u8] = b"system.posix_acl_access";
const DEFAULT: &[u8] = b"system.posix_acl_default";
const NFS4: [&[u8]; 2] = [b"system.nfs4_acl", b"system.nfs4_acl_xdr"];

/// File systems without attributes that all threads have met so far.
pub(super) type WithoutAttributes = Mutex<HashSet<u64>>;

/// What one thread needs to read attributes.
pub(super) struct AttributeReader {
    with_xattrs: bool,
    with_acl: bool,
    /// Whether entries can be named by descriptors of their directories.
    has_proc: bool,
    /// Devices of file systems that have no attributes.
    pub(super) without: HashSet<u64>,
    names: Vec<u8>,
    value: Vec<u8>,
    /// The path by which the entry is named, and whether links are followed there.
    place: Vec<u8>,
    follows: bool,
    /// The attributes of the entry, one a line.
    pub(super) xattrs: Vec<u8>,
    /// The ACLs of the entry.
    pub(super) acl: Vec<u8>,
}

/// What was found out about the attributes of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AttributeFaults {
    pub(super) unread: bool,
    pub(super) cut: bool,
}

impl AttributeReader {
    /// A reader of what the options ask for; `None` if they ask for nothing.
    pub(super) fn new(options: &ScanOptions) -> Option<Box<Self>> {
        (options.xattrs || options.acl).then(|| {
            Box::new(AttributeReader {
                with_xattrs: options.xattrs,
                with_acl: options.acl,
                has_proc: Path::new("/proc/self/fd").exists(),
                without: HashSet::new(),
                names: vec![0; BUFFER],
                value: vec![0; BUFFER],
                place: Vec::new(),
                follows: false,
                xattrs: Vec::new(),
                acl: Vec::new(),
            })
        })
    }

    pub(super) fn begin(&mut self, path: &[u8], directory: BorrowedFd<'_>, name: &CStr) {
        self.xattrs.clear();
        self.acl.clear();
        self.place.clear();
        let descriptor = directory.as_raw_fd();
        // Of a path without a directory, which was named or is a link to follow, the target is listed.
        self.follows = descriptor < 0;
        if descriptor >= 0 && self.has_proc {
            self.place.extend_from_slice(format!("/proc/self/fd/{descriptor}/").as_bytes());
            self.place.extend_from_slice(name.to_bytes());
        } else {
            self.place.extend_from_slice(path);
        }
    }

    /// The names of the attributes that are wanted, each with a NUL at its end.
    pub(super) fn list(&mut self) -> rustix::io::Result<Vec<u8>> {
        let length = match self.follows {
            true => rustix::fs::listxattr(self.place.as_slice(), &mut self.names)?,
            false => rustix::fs::llistxattr(self.place.as_slice(), &mut self.names)?,
        };
        let names = self.names.get(..length).unwrap_or_default();
        let wanted = |name: &&[u8]| {
            let is_acl = [ACCESS, DEFAULT].contains(name) || NFS4.contains(name);
            self.with_xattrs && name.starts_with(b"user.") || self.with_acl && is_acl
        };
        let mut kept: Vec<&[u8]> = names.split(|&byte| byte == 0).filter(wanted).collect();
        kept.sort_unstable();
        Ok(kept.into_iter().flat_map(|name| [name, b"\0"]).flatten().copied().collect())
    }

    /// Reads a value; `None` if it is gone.
    pub(super) fn read(&mut self, name: &[u8]) -> rustix::io::Result<Option<usize>> {
        let read = match self.follows {
            true => rustix::fs::getxattr(self.place.as_slice(), name, &mut self.value),
            false => rustix::fs::lgetxattr(self.place.as_slice(), name, &mut self.value),
        };
        match read {
            Ok(length) => Ok(Some(length)),
            Err(Errno::NODATA) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds a value of an attribute to the texts; `None` stands for one that could not be read.
    pub(super) fn add(&mut self, name: &[u8], length: Option<usize>, faults: &mut AttributeFaults) {
        let value = length.map(|length| self.value.get(..length).unwrap_or_default());
        faults.unread |= value.is_none();
        if name.starts_with(b"user.") {
            let kept = value.map(|value| value.get(..MOST_VALUE).unwrap_or(value));
            faults.cut |= kept != value;
            let before = self.xattrs.len();
            put_line(name, kept, &mut self.xattrs);
            if self.xattrs.len() > MOST_TEXT {
                self.xattrs.truncate(before);
                faults.cut = true;
            }
            return;
        }
        let Some(value) = value else { return };
        let before = self.acl.len();
        if before > 0 {
            self.acl.push(b',');
        }
        if NFS4.contains(&name) {
            self.acl.extend_from_slice(name);
            put_hexadecimal(value, &mut self.acl);
        } else if posix_text(value, name == DEFAULT, &mut self.acl).is_none() {
            self.acl.truncate(before);
            faults.unread = true;
        }
        if self.acl.len() > MOST_TEXT {
            faults.cut = true;
            let kept = self.acl.get(..MOST_TEXT).and_then(|kept| memchr::memrchr(b',', kept));
            self.acl.truncate(kept.unwrap_or(MOST_TEXT));
        }
    }
}

/// Appends a line with an attribute: its name, and `=` and its value if that is known. Control characters,
/// backslashes and bytes that are not UTF-8 are written as a backslash and three octal digits.
fn put_line(name: &[u8], value: Option<&[u8]>, out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b'\n');
    }
    put_escaped(name, out);
    if let Some(value) = value {
        out.push(b'=');
        put_escaped(value, out);
    }
}

fn put_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' => put_octal(b'\\', out),
                letter if letter.is_control() => {
                    letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| put_octal(byte, out));
                }
                letter => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        chunk.invalid().iter().for_each(|&byte| put_octal(byte, out));
    }
}

fn put_octal(byte: u8, out: &mut Vec<u8>) {
    // A vector takes everything.
    let _ = write!(out, "\\{byte:03o}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_one_line_each_whatever_bytes_they_have() {
        let mut lines = Vec::new();
        put_line(b"user.project", Some(b"climate"), &mut lines);
        put_line(b"user.a\nb", Some("gr\u{fc}n \\ \u{85}".as_bytes()), &mut lines);
        put_line(b"user.bytes", Some(b"\x00\xff=\r\n"), &mut lines);
        put_line(b"user.secret", None, &mut lines);
        put_line(b"user.empty", Some(b""), &mut lines);
        let expected = "user.project=climate\nuser.a\\012b=gr\u{fc}n \\134 \\302\\205\n\
            user.bytes=\\000\\377=\\015\\012\nuser.secret\nuser.empty=";
        assert_eq!(String::from_utf8(lines).unwrap(), expected);
    }
}

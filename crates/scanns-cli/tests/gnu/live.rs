//! The entries of a tree as find lists them, for the generator of expressions.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use crate::source::{Entry, EntryKind};

/// All that find can tell of an entry and that stays the same, each with a tab behind it, and the target of a
/// link.
const FORMAT: &str = "%y\\t%s\\t%b\\t%m\\t%U\\t%G\\t%T@\\t%A@\\t%C@\\t%i\\t%n\\t%D\\0%l\\0%p\\0";

/// What find tells of each path.
pub type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// An entry of the tree.
pub struct LiveEntry {
    pub path: Vec<u8>,
    pub kind: EntryKind,
    target: Vec<u8>,
    fields: Vec<u64>,
}

/// The entries of a tree.
pub struct LiveTree {
    pub entries: Vec<LiveEntry>,
}

impl LiveEntry {
    /// The entry with what the generator draws from.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            path: &self.path,
            kind: Some(self.kind),
            target: (!self.target.is_empty()).then_some(self.target.as_slice()),
            size: self.fields.first().copied(),
            mode: self.fields.get(2).and_then(|mode| u32::from_str_radix(&mode.to_string(), 8).ok()),
            inode: self.fields.get(8).copied(),
            ..Entry::default()
        }
    }

    /// The number of names.
    pub fn links(&self) -> u64 {
        self.fields[9]
    }

    /// What tells it from other files: its inode and its device.
    pub fn identity(&self) -> (u64, u64) {
        (self.fields[8], self.fields[10])
    }

    fn read(record: &[&[u8]]) -> Self {
        let text = String::from_utf8(record[0].to_vec()).unwrap();
        let mut fields = text.split('\t');
        let kind = match fields.next().unwrap() {
            "d" => EntryKind::Directory,
            "f" => EntryKind::File,
            "l" => EntryKind::Link,
            "p" => EntryKind::Fifo,
            "s" => EntryKind::Socket,
            _ => EntryKind::Device,
        };
        // Dates have a fraction, which nobody needs.
        let number = |field: &str| field.split('.').next().and_then(|field| field.parse().ok()).unwrap_or(0);
        let fields = fields.map(number).collect();
        LiveEntry { path: record[2].to_vec(), kind, target: record[1].to_vec(), fields }
    }
}

/// Reads the trees below paths; none if find cannot read all of them.
pub fn read(roots: &[impl AsRef<Path>]) -> Option<(LiveTree, Rows)> {
    let mut find = Command::new("find");
    find.args(roots.iter().map(|root| root.as_ref())).args(["-printf", FORMAT]).env("LC_ALL", "C");
    let out = find.output().unwrap();
    if !out.status.success() {
        return None;
    }
    let texts: Vec<&[u8]> = out.stdout.strip_suffix(b"\0")?.split(|&byte| byte == 0).collect();
    let entries = texts.chunks(3).map(LiveEntry::read).collect();
    let row = |record: &[&[u8]]| (record[2].to_vec(), [record[0], b"\0", record[1]].concat());
    Some((LiveTree { entries }, texts.chunks(3).map(row).collect()))
}

/// A path of bytes.
pub fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

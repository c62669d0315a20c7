//! The keywords of an entry, and the defaults that `/set` makes.

use super::vis::unescape;
use crate::source::{Entry, EntryKind, nanoseconds};

/// What is wrong with a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MtreeFault {
    /// The value cannot be read.
    Bad(&'static str),
    /// The value may mean something else.
    Guessed(&'static str),
}

/// A text that may be absent. It keeps its room.
#[derive(Debug, Default)]
struct MtreeText {
    known: bool,
    bytes: Vec<u8>,
}

impl MtreeText {
    fn get(&self) -> Option<&[u8]> {
        self.known.then_some(&self.bytes)
    }

    fn copy(&mut self, other: &MtreeText) {
        self.known = other.known;
        self.bytes.clear();
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// Takes a value with escapes.
    fn set(&mut self, value: &[u8]) -> Result<(), MtreeFault> {
        self.known = true;
        self.bytes.clear();
        let known = unescape(value, &mut self.bytes);
        if known { Ok(()) } else { Err(UNKNOWN_ESCAPE) }
    }
}

/// The fault of a text with a backslash that begins no escape.
pub(super) const UNKNOWN_ESCAPE: MtreeFault =
    MtreeFault::Guessed("a backslash begins no known escape and was kept");

/// The keywords that are numbers.
#[derive(Clone, Copy, Debug, Default)]
struct MtreeNumbers {
    kind: Option<EntryKind>,
    mode: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    size: Option<u64>,
    mtime: Option<i64>,
    links: Option<u64>,
    inode: Option<u64>,
    device: Option<u64>,
}

/// The keywords of one entry, or the defaults.
#[derive(Debug, Default)]
pub(super) struct MtreeKeywords {
    numbers: MtreeNumbers,
    owner: MtreeText,
    group: MtreeText,
    target: MtreeText,
}

impl MtreeKeywords {
    /// Takes over the keywords of `other`.
    pub fn copy(&mut self, other: &MtreeKeywords) {
        self.numbers = other.numbers;
        self.owner.copy(&other.owner);
        self.group.copy(&other.group);
        self.target.copy(&other.target);
    }

    /// What the entry is, if that is known.
    pub fn kind(&self) -> Option<EntryKind> {
        self.numbers.kind
    }

    /// Reads `word`, which is `KEY=VALUE` or `KEY`. Unknown keys are read over.
    pub fn set(&mut self, word: &[u8]) -> Result<(), MtreeFault> {
        let Some((key, value)) = split(word) else { return Ok(()) };
        let numbers = &mut self.numbers;
        match key {
            b"type" => {
                numbers.kind = None;
                numbers.kind = kind(value)?;
            }
            b"mode" => numbers.mode = mode(value)?,
            b"uid" => numbers.uid = number(value, "uid is not a user id of 32 bits")?,
            b"gid" => numbers.gid = number(value, "gid is not a group id of 32 bits")?,
            b"size" => numbers.size = number(value, "size is not a number of bytes")?,
            b"nlink" => numbers.links = number(value, "nlink is not a number of links")?,
            b"inode" => numbers.inode = number(value, "inode is not an inode number")?,
            b"time" => numbers.mtime = time(value)?,
            b"resdevice" => numbers.device = device(value)?,
            b"uname" => self.owner.set(value)?,
            b"gname" => self.group.set(value)?,
            b"link" => self.target.set(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Forgets the value of `key`, or of all keys.
    pub fn unset(&mut self, key: &[u8]) {
        let numbers = &mut self.numbers;
        match key {
            b"all" => *self = MtreeKeywords::default(),
            b"type" => numbers.kind = None,
            b"mode" => numbers.mode = None,
            b"uid" => numbers.uid = None,
            b"gid" => numbers.gid = None,
            b"size" => numbers.size = None,
            b"nlink" => numbers.links = None,
            b"inode" => numbers.inode = None,
            b"time" => numbers.mtime = None,
            b"resdevice" => numbers.device = None,
            b"uname" => self.owner.known = false,
            b"gname" => self.group.known = false,
            b"link" => self.target.known = false,
            _ => {}
        }
    }

    /// The entry at `path`.
    pub fn entry<'k>(&'k self, path: &'k [u8]) -> Entry<'k> {
        let numbers = self.numbers;
        Entry {
            path,
            kind: numbers.kind,
            target: self.target.get(),
            owner: self.owner.get(),
            group: self.group.get(),
            mtime: numbers.mtime,
            size: numbers.size,
            uid: numbers.uid,
            gid: numbers.gid,
            mode: numbers.mode,
            inode: numbers.inode,
            links: numbers.links,
            device: numbers.device,
            ..Entry::default()
        }
    }
}

/// True if `word` is a key that only mtree has, with a value.
pub(super) fn is_known(word: &[u8]) -> bool {
    const KNOWN: [&[u8]; 10] =
        [b"type", b"mode", b"uid", b"gid", b"uname", b"gname", b"nlink", b"flags", b"size", b"time"];
    split(word).is_some_and(|(key, value)| KNOWN.contains(&key) && !value.is_empty())
}

/// The key and the value of a word.
fn split(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = word.split_at(memchr::memchr(b'=', word)?);
    Some((key, value.get(1..).unwrap_or_default()))
}

fn kind(value: &[u8]) -> Result<Option<EntryKind>, MtreeFault> {
    Ok(Some(match value {
        b"file" => EntryKind::File,
        b"dir" => EntryKind::Directory,
        b"link" => EntryKind::Link,
        b"fifo" => EntryKind::Fifo,
        b"socket" => EntryKind::Socket,
        b"block" | b"char" => EntryKind::Device,
        _ => return Err(MtreeFault::Guessed("the type is not known and was left out")),
    }))
}

/// Octal permissions. Symbolic ones (`u=rw`) depend on the permissions before them and are left out.
fn mode(value: &[u8]) -> Result<Option<u32>, MtreeFault> {
    if value.first().is_some_and(u8::is_ascii_alphabetic) {
        return Ok(None);
    }
    digits(value, 8)
        .and_then(|mode| u32::try_from(mode).ok())
        .map(Some)
        .ok_or(MtreeFault::Bad("mode is not octal"))
}

/// A time; what follows the point is a number of nanoseconds and not a fraction, so `1.5` is 5 ns after 1 s.
fn time(value: &[u8]) -> Result<Option<i64>, MtreeFault> {
    const FAULT: MtreeFault = MtreeFault::Bad("time is not SECONDS.NANOSECONDS");
    let (sign, value) = value.strip_prefix(b"-").map_or((1, value), |value| (-1, value));
    let point = memchr::memchr(b'.', value);
    let (seconds, rest) = value.split_at(point.unwrap_or(value.len()));
    let nanos = match rest.get(1..) {
        Some(rest) => digits(rest, 10).filter(|nanos| *nanos < 1_000_000_000).ok_or(FAULT)?,
        None => 0,
    };
    let seconds = digits(seconds, 10).and_then(|seconds| i64::try_from(seconds).ok()).ok_or(FAULT)?;
    let nanos = i64::try_from(nanos).map_err(|_| FAULT)?;
    Ok(Some(nanoseconds(sign * seconds, nanos)))
}

/// The device of a file system: a number, or `native,MAJOR,MINOR` as Linux combines them. The numbers of
/// other systems are left out.
fn device(value: &[u8]) -> Result<Option<u64>, MtreeFault> {
    const FAULT: MtreeFault = MtreeFault::Bad("resdevice is not a device number");
    let mut parts = value.split(|byte| *byte == b',');
    let format = parts.next().unwrap_or_default();
    if format.first().is_some_and(u8::is_ascii_digit) {
        return number(value, "resdevice is not a device number");
    }
    if !matches!(format, b"native" | b"linux") {
        return Ok(None);
    }
    let mut part = || parts.next().and_then(|part| digits(part, 10)).filter(|part| *part < 1 << 32);
    let (major, minor) = (part().ok_or(FAULT)?, part().ok_or(FAULT)?);
    Ok(Some((major & !0xfff) << 32 | (major & 0xfff) << 8 | (minor & !0xff) << 12 | minor & 0xff))
}

/// A number from 0 that fits `T`; decimal, or hexadecimal after `0x`.
fn number<T: TryFrom<u64>>(value: &[u8], fault: &'static str) -> Result<Option<T>, MtreeFault> {
    let value = match value.strip_prefix(b"0x") {
        Some(value) => digits(value, 16),
        None => digits(value, 10),
    };
    value.and_then(|value| T::try_from(value).ok()).map(Some).ok_or(MtreeFault::Bad(fault))
}

/// The number of which `value` consists.
fn digits(value: &[u8], radix: u32) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |number, byte| {
        number.checked_mul(radix.into())?.checked_add(char::from(*byte).to_digit(radix)?.into())
    })
}

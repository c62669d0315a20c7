//! Which answer of the cache belongs to a file: a hash of its bytes and of all else that decides the answer.
//!
//! Only documents that an extractor reads as a whole are worth a hash. Of a scientific file, it reads the
//! header: to hash all of such a file would take longer than to extract it again.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Stat, fstat};
use rustix::io::{Errno, pread};

use super::super::ExtractLimits;
use super::super::frame::FRAME_VERSION;
use super::siphash::KeyedHash;
use crate::content::document::document_kind;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;
/// The number of first bytes that tell the kind of a document.
const HEAD: usize = 64 << 10;
/// The largest document to hash, except PDF: larger ones consist of pictures, which an extractor skips.
const MOST_HASHED: u64 = 64 << 20;
/// The longest part of a name that counts as its extension.
const EXTENSION: usize = 16;

/// The key of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct ContentKey {
    /// The hash of the context and of the bytes.
    pub(super) hash: [u8; 16],
    /// How many bytes the document has.
    pub(super) length: u64,
}

/// What a key depends on besides the bytes of the document.
#[derive(Clone, Copy)]
pub(super) struct KeyContext<'a> {
    pub(super) secret: [u8; 16],
    pub(super) version: &'a [u8],
    pub(super) limits: &'a ExtractLimits,
    /// Of the name, the extension counts: it may tell an extractor the format.
    pub(super) name: &'a [u8],
}

/// What the system says about a file, to notice changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: StampTime,
    changed: StampTime,
}

/// Seconds since 1970 and nanoseconds.
pub(super) type StampTime = (i64, u64);

/// When the contents of the file last changed.
#[allow(clippy::useless_conversion, reason = "the types of the fields depend on the system")]
pub(super) fn time_modified(stat: &Stat) -> StampTime {
    (stat.st_mtime.into(), u64::try_from(stat.st_mtime_nsec).unwrap_or(0))
}

/// When the contents, the names or the attributes of the file last changed.
#[allow(clippy::useless_conversion, reason = "the types of the fields depend on the system")]
fn time_changed(stat: &Stat) -> StampTime {
    (stat.st_ctime.into(), u64::try_from(stat.st_ctime_nsec).unwrap_or(0))
}

impl KeyContext<'_> {
    /// The key of a document in memory; `None` if it is not worth one.
    pub(super) fn of_bytes(&self, bytes: &[u8]) -> Option<ContentKey> {
        let length = bytes.len() as u64;
        if !is_worth(bytes, length) {
            return None;
        }
        let mut hash = self.start();
        hash.update(bytes);
        Some(ContentKey { hash: hash.finish(), length })
    }

    /// The key of an open file, whose position stays where it is. `None` if it is not worth one, cannot be
    /// read, or changes while it is read, and if `cancel` is set.
    pub(super) fn of_file(
        &self,
        file: BorrowedFd<'_>,
        cancel: &AtomicBool,
    ) -> Option<(ContentKey, FileStamp)> {
        let stamp = FileStamp::of(file)?;
        let most = stamp.size.saturating_add(1);
        let mut block = vec![0; BLOCK.min(usize::try_from(most).unwrap_or(BLOCK))];
        let mut hash = self.start();
        let mut length = 0;
        while !cancel.load(Ordering::Relaxed) {
            let got = match pread(file, block.as_mut_slice(), length) {
                Err(Errno::INTR) => continue,
                got => got.ok()?,
            };
            let bytes = block.get(..got)?;
            if length == 0 && !is_worth(bytes, stamp.size) {
                return None;
            }
            if got == 0 {
                let is_same = length == stamp.size && stamp.is_of(file);
                return is_same.then(|| (ContentKey { hash: hash.finish(), length }, stamp));
            }
            hash.update(bytes);
            length += got as u64;
        }
        None
    }

    /// A hash of everything but the bytes. Every part has a fixed length or its length in front.
    fn start(&self) -> KeyedHash {
        let ExtractLimits { memory, seconds: _, text, fields } = *self.limits;
        let mut hash = KeyedHash::new(self.secret);
        for number in [memory, text, fields, u64::from(FRAME_VERSION)] {
            hash.update(&number.to_le_bytes());
        }
        for part in [self.version, extension(self.name).as_slice()] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash
    }
}

/// The end of a name after the last dot, in lower case. Empty if there is none, or if it is too long for one.
fn extension(name: &[u8]) -> Vec<u8> {
    let dot = name.iter().rposition(|&byte| byte == b'.');
    let end = dot.and_then(|dot| name.get(dot + 1..)).filter(|end| end.len() <= EXTENSION);
    end.unwrap_or_default().to_ascii_lowercase()
}

/// Whether hashing a document of `size` bytes is cheaper than extracting it.
fn is_worth(start: &[u8], size: u64) -> bool {
    match document_kind(start.get(..HEAD).unwrap_or(start)) {
        Some("PDF") => true,
        Some("RTF" | "Office 97" | "Office" | "OpenDocument" | "EPUB") => size <= MOST_HASHED,
        _ => false,
    }
}

impl FileStamp {
    /// `None` if it is not a regular file.
    fn of(file: BorrowedFd<'_>) -> Option<Self> {
        let stat = fstat(file).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then_some(Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: time_modified(&stat),
            changed: time_changed(&stat),
        })
    }

    /// True if the file has not changed since.
    pub(in super::super) fn is_of(&self, file: BorrowedFd<'_>) -> bool {
        Self::of(file).as_ref() == Some(self)
    }

    /// True if the last change is so recent that one more could have the same time. Some file systems count
    /// whole seconds.
    pub(super) fn is_younger_than(&self, age: Duration) -> bool {
        let changed = Duration::from_secs(u64::try_from(self.changed.0).unwrap_or(0));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        changed + age > now
    }
}

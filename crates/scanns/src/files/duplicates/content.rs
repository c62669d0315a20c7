//! Reads the content of files: hashes of their start and end, hashes of everything, and comparisons.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::Xxh3;

use super::candidates::FileCandidate;
use crate::source::nanoseconds;

/// The bytes at the start and at the end that are hashed first. Smaller files are read as a whole at once.
pub(super) const PART: usize = 4096;

/// The bytes of a buffer. Larger ones are not faster, measured on a cached file.
const BUFFER: usize = 1 << 20;

/// A second, in nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// Why a file was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not what the index knows: it has changed, or is gone.
    Changed,
    /// The system does not let it be read.
    Failed(io::Error),
    /// The user asked to stop.
    Stopped,
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unread::Changed,
            _ => Unread::Failed(error),
        }
    }
}

/// Reads files on one thread.
pub(super) struct ContentReader<'s> {
    buffer: Vec<u8>,
    other: Vec<u8>,
    stop: &'s AtomicBool,
}

impl<'s> ContentReader<'s> {
    pub(super) fn new(stop: &'s AtomicBool) -> Self {
        ContentReader { buffer: vec![0; BUFFER], other: Vec::new(), stop }
    }

    /// The hash of the start and the end of a file; of a small file this is all of it. `progress` gets the
    /// number of bytes of each step.
    pub(super) fn partial(
        &mut self,
        candidate: &FileCandidate,
        progress: &dyn Fn(u64),
    ) -> Result<u128, Unread> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Unread::Stopped);
        }
        let file = open(candidate)?;
        let size = usize::try_from(candidate.size).unwrap_or(usize::MAX);
        let is_small = size <= 2 * PART;
        let parts = if is_small { [(0, size), (0, 0)] } else { [(0, PART), (size - PART, PART)] };
        let mut hash = Xxh3::new();
        for (at, length) in parts {
            let part = self.buffer.get_mut(..length).unwrap_or_default();
            exact(&file, part, at as u64)?;
            hash.update(part);
            progress(length as u64);
        }
        check(&file.metadata()?, candidate)?;
        Ok(hash.digest128())
    }

    /// Whether a file is still what the index knows, without reading it.
    pub(super) fn check(&self, candidate: &FileCandidate) -> Result<(), Unread> {
        let mut refused = Unread::Changed;
        for path in &candidate.paths {
            let found = std::fs::symlink_metadata(Path::new(OsStr::from_bytes(path)));
            match found.map_err(Unread::from).and_then(|meta| check(&meta, candidate)) {
                Ok(()) => return Ok(()),
                Err(Unread::Changed) => {}
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// The hash of a whole file. `progress` gets the number of bytes of each step.
    pub(super) fn whole(
        &mut self,
        candidate: &FileCandidate,
        progress: &dyn Fn(u64),
    ) -> Result<u128, Unread> {
        let file = open(candidate)?;
        read_ahead(&file);
        let (mut hash, mut at) = (Xxh3::new(), 0);
        while at < candidate.size {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Unread::Stopped);
            }
            let part = step(&mut self.buffer, candidate.size - at);
            exact(&file, part, at)?;
            hash.update(part);
            at += part.len() as u64;
            progress(part.len() as u64);
        }
        check(&file.metadata()?, candidate)?;
        Ok(hash.digest128())
    }

    /// True if two files have the same bytes.
    pub(super) fn is_equal(&mut self, one: &FileCandidate, other: &FileCandidate) -> Result<bool, Unread> {
        let (one_file, other_file) = (open(one)?, open(other)?);
        [&one_file, &other_file].into_iter().for_each(read_ahead);
        self.other.resize(BUFFER, 0);
        let mut at = 0;
        while at < one.size {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Unread::Stopped);
            }
            let part = step(&mut self.buffer, one.size - at);
            let other_part = step(&mut self.other, one.size - at);
            exact(&one_file, part, at)?;
            exact(&other_file, other_part, at)?;
            if part != other_part {
                return Ok(false);
            }
            at += part.len() as u64;
        }
        check(&one_file.metadata()?, one)?;
        check(&other_file.metadata()?, other)?;
        Ok(true)
    }
}

/// The part of a buffer for the next bytes of which `left` are left.
fn step(buffer: &mut [u8], left: u64) -> &mut [u8] {
    let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    buffer.get_mut(..length).unwrap_or_default()
}

/// Tells the system that a file is read from its start to its end. It is advice; a failure changes nothing.
fn read_ahead(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Sequential);
}

/// Opens a file by the first of its names that is still the file of the index.
fn open(candidate: &FileCandidate) -> Result<File, Unread> {
    let mut refused = Unread::Changed;
    for path in &candidate.paths {
        match open_at(Path::new(OsStr::from_bytes(path)), candidate) {
            Ok(file) => return Ok(file),
            Err(error @ Unread::Failed(_)) => refused = error,
            Err(_) => {}
        }
    }
    Err(refused)
}

fn open_at(path: &Path, candidate: &FileCandidate) -> Result<File, Unread> {
    // A pipe or a link in place of the file must not be waited for or followed.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| {
        match error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            true => Unread::Changed,
            false => Unread::from(error),
        }
    })?;
    check(&file.metadata()?, candidate)?;
    Ok(file)
}

/// Whether a file is what the index knows of it.
fn check(meta: &Metadata, candidate: &FileCandidate) -> Result<(), Unread> {
    let is_same = |known: Option<i64>, found: i64| {
        // Some dumps have whole seconds.
        known.is_none_or(|known| {
            known == found || known % SECOND == 0 && found.div_euclid(SECOND) == known / SECOND
        })
    };
    let mtime = is_same(candidate.mtime, nanoseconds(meta.mtime(), meta.mtime_nsec()));
    let ctime = is_same(candidate.ctime, nanoseconds(meta.ctime(), meta.ctime_nsec()));
    let inode = candidate.file.is_none_or(|(_, inode)| inode == meta.ino());
    let is_unchanged = meta.is_file() && meta.size() == candidate.size && mtime && ctime && inode;
    if is_unchanged { Ok(()) } else { Err(Unread::Changed) }
}

/// Fills a buffer with the bytes from a place of a file; a file that ends before has changed.
fn exact(file: &File, buffer: &mut [u8], at: u64) -> Result<(), Unread> {
    file.read_exact_at(buffer, at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Unread::Changed,
        _ => Unread::Failed(error),
    })
}

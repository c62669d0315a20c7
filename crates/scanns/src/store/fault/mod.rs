//! A directory in memory with planned faults: calls that fail, a full disk, power cuts.
//!
//! The directory tracks the durability of the bytes of each file, and of each name. Bytes are durable after
//! [`Output::finish`], names after [`Directory::sync`]; a seed decides whether a power cut keeps, loses or
//! garbles everything else. `journal.rs` replays the calls up to any point, so that one run of a program
//! shows the result of a power cut at each of its calls.
//!
//! ```
//! use scanns::store::{Directory, Fault, FaultDirectory};
//!
//! let directory = FaultDirectory::new();
//! directory.create("a")?.finish()?;
//! // Without a sync of the directory the name may be gone, or not.
//! let left = |seed| directory.after_power_cut(seed).list().map(|names| names.len());
//! assert!((0..20).any(|seed| left(seed).is_ok_and(|count| count == 0)));
//! directory.sync()?;
//! assert!((0..20).all(|seed| left(seed).is_ok_and(|count| count == 1)));
//! directory.fail_at(directory.call_count(), Fault::NoSpace);
//! assert!(directory.create("b").is_err() && directory.create("b").is_ok());
//! # Ok::<(), scanns::Error>(())
//! ```

mod journal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use rustix::io::Errno;

use super::{Bytes, Directory, Output, RamDirectory, WriterLock};
use crate::error::{Error, Result};
use crate::sys::lock;
use journal::{FileNumber, Journal, JournalStep, PAGE};

/// A way in which a call can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Fails with EIO and does nothing. If the call is [`Output::finish`], the bytes are lost: after a failed
    /// sync, the kernel marks the pages as clean and drops them.
    Io,
    /// Like [`Fault::Io`], with ENOSPC.
    NoSpace,
    /// Like [`Fault::Io`], with EMFILE.
    TooManyFiles,
    /// A write takes only half of the bytes, and reports that; an opened file has half its length. Other
    /// calls succeed.
    Short,
    /// Succeeds, but fails with EIO: a network file system whose reply was lost.
    LostReply,
}

impl Fault {
    /// All faults.
    pub const ALL: [Fault; 5] =
        [Fault::Io, Fault::NoSpace, Fault::TooManyFiles, Fault::Short, Fault::LostReply];
}

/// The functions that count as calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// [`Directory::create`]
    Create,
    /// [`Write::write`] of an [`Output`]
    Write,
    /// [`Write::flush`] of an [`Output`]
    Flush,
    /// [`Output::finish`]
    Finish,
    /// [`Directory::open`]
    Open,
    /// [`Directory::rename`]
    Rename,
    /// [`Directory::remove`]
    Remove,
    /// [`Directory::list`]
    List,
    /// [`Directory::sync`]
    Sync,
    /// [`Directory::lock`]
    Lock,
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function that was called.
    pub kind: CallKind,
    /// The name of the file; empty for a call about the directory, the old name for a rename.
    pub name: String,
}

/// A directory in memory with planned faults. Clones share all state.
///
/// Calls are numbered from 0 in the order in which they are made, over all threads. Everything that was ever
/// written is kept in memory, including removed files.
#[derive(Clone, Debug, Default)]
pub struct FaultDirectory {
    disk: Arc<Mutex<Disk>>,
}

/// The state that all clones share.
#[derive(Debug, Default)]
struct Disk {
    journal: Journal,
    /// The bytes of each file; file numbers are never used again.
    files: Vec<Vec<u8>>,
    names: BTreeMap<String, FileNumber>,
    calls: Vec<Call>,
    faults: BTreeMap<u64, Fault>,
    cut_at: Option<u64>,
    no_power: bool,
    /// The maximum number of bytes of all files, in whole pages.
    space: Option<u64>,
    locked: bool,
}

/// The result of a call that is not refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Works,
    Half,
    LosesReply,
}

impl Course {
    /// The reply to the caller after the work is done.
    fn reply(self) -> io::Result<()> {
        if self == Course::LosesReply { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

impl Disk {
    /// Counts a call and looks up the fault that is planned for it.
    fn call(&mut self, kind: CallKind, name: &str) -> io::Result<Course> {
        let number = self.calls.len() as u64;
        self.calls.push(Call { kind, name: name.into() });
        self.no_power |= self.cut_at == Some(number);
        if self.no_power {
            return Err(Errno::IO.into());
        }
        match self.faults.get(&number) {
            None => Ok(Course::Works),
            Some(Fault::Short) => Ok(Course::Half),
            Some(Fault::LostReply) => Ok(Course::LosesReply),
            Some(Fault::Io) => Err(Errno::IO.into()),
            Some(Fault::NoSpace) => Err(Errno::NOSPC.into()),
            Some(Fault::TooManyFiles) => Err(Errno::MFILE.into()),
        }
    }

    /// Records a step of the current call.
    fn note(&mut self, step: JournalStep) {
        self.journal.note(self.calls.len() as u64, step);
    }

    fn create(&mut self, name: &str) -> FileNumber {
        let file = self.files.len();
        self.files.push(Vec::new());
        let replaced = self.names.insert(name.into(), file);
        self.note(JournalStep::Create { file, name: name.into(), replaced });
        file
    }

    fn write(&mut self, file: FileNumber, bytes: &[u8]) {
        self.note(JournalStep::Write { file, bytes: bytes.into() });
        if let Some(content) = self.files.get_mut(file) {
            content.extend_from_slice(bytes);
        }
    }

    /// A sync failed: bytes that were not durable are lost.
    fn lose(&mut self, file: FileNumber) {
        if !self.no_power {
            self.note(JournalStep::Lose { file });
            if let Some(content) = self.files.get_mut(file) {
                content.fill(0);
            }
        }
    }

    fn len(&self, file: FileNumber) -> u64 {
        self.files.get(file).map_or(0, |content| content.len() as u64)
    }

    /// The number of bytes that all files use, in whole pages.
    fn used(&self) -> u64 {
        self.names.values().map(|&file| self.len(file).next_multiple_of(PAGE)).sum()
    }

    /// The number of bytes by which a file may grow.
    fn room(&self, file: FileNumber) -> u64 {
        let Some(space) = self.space else { return u64::MAX };
        let own = self.len(file);
        let free = space.saturating_sub(self.used());
        (own.next_multiple_of(PAGE) - own).saturating_add(free / PAGE * PAGE)
    }
}

impl FaultDirectory {
    /// Creates an empty directory without planned faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a directory with the files of another one, all of them durable.
    ///
    /// # Errors
    /// Any error of the other directory.
    pub fn with_files(from: &dyn Directory) -> Result<Self> {
        let directory = FaultDirectory::new();
        for name in from.list()? {
            let bytes = from.open(&name)?;
            let mut disk = directory.disk();
            let file = disk.create(&name);
            disk.write(file, &bytes);
            disk.note(JournalStep::Sync { file });
        }
        directory.disk().note(JournalStep::SyncNames);
        Ok(directory)
    }

    /// Makes the call with this number, counted from 0, fail with `fault`.
    pub fn fail_at(&self, call: u64, fault: Fault) {
        self.disk().faults.insert(call, fault);
    }

    /// Cuts the power at the call with this number: it does nothing, and this call and all later ones fail.
    pub fn cut_power_at(&self, call: u64) {
        self.disk().cut_at = Some(call);
    }

    /// Limits the total size of all files, in pages of 4 KiB; `None` means no limit.
    pub fn limit_space(&self, bytes: Option<u64>) {
        self.disk().space = bytes;
    }

    /// The number of bytes that files use, each in whole pages of 4 KiB.
    pub fn used_space(&self) -> u64 {
        self.disk().used()
    }

    /// The number of calls made so far, which is the number of the next call.
    pub fn call_count(&self) -> u64 {
        self.disk().calls.len() as u64
    }

    /// The calls made so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.disk().calls.clone()
    }

    /// The content of the medium if the power is cut now. The seed decides about everything that is not
    /// durable.
    pub fn after_power_cut(&self, seed: u64) -> RamDirectory {
        self.disk().journal.replay(u64::MAX, seed)
    }

    /// The content of the medium if the power had been cut before the call with this number.
    pub fn after_power_cut_at(&self, call: u64, seed: u64) -> RamDirectory {
        self.disk().journal.replay(call, seed)
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.disk)
    }
}

/// Turns an error of the operating system into an error about `name`.
fn failed(action: &'static str, name: &str) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = PathBuf::from(name);
    move |source| Error::io(action, &path, source)
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Directory for FaultDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Create, name).map_err(failed("create", name))?;
        let file = disk.create(name);
        course.reply().map_err(failed("create", name))?;
        Ok(Box::new(FaultOutput { disk: self.disk.clone(), file, name: name.into() }))
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Open, name).map_err(failed("open", name))?;
        let file = disk.names.get(name).and_then(|&file| disk.files.get(file));
        let content = file.ok_or_else(missing).map_err(failed("open", name))?;
        let len = if course == Course::Half { content.len() / 2 } else { content.len() };
        course.reply().map_err(failed("open", name))?;
        Ok(Bytes::from(content.iter().take(len).copied().collect::<Vec<u8>>()))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Rename, from).map_err(failed("rename", from))?;
        let file = disk.names.remove(from).ok_or_else(missing).map_err(failed("rename", from))?;
        disk.names.insert(to.into(), file);
        disk.note(JournalStep::Rename { file, from: from.into(), to: to.into() });
        course.reply().map_err(failed("rename", from))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Remove, name).map_err(failed("remove", name))?;
        if let Some(file) = disk.names.remove(name) {
            disk.note(JournalStep::Remove { file, name: name.into() });
        }
        course.reply().map_err(failed("remove", name))
    }

    fn list(&self) -> Result<Vec<String>> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::List, "").map_err(failed("list", ""))?;
        course.reply().map_err(failed("list", ""))?;
        Ok(disk.names.keys().cloned().collect())
    }

    fn sync(&self) -> Result<()> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Sync, "").map_err(failed("sync", ""))?;
        disk.note(JournalStep::SyncNames);
        course.reply().map_err(failed("sync", ""))
    }

    fn lock(&self) -> Result<WriterLock> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Lock, "").map_err(failed("lock", ""))?;
        course.reply().map_err(failed("lock", ""))?;
        if std::mem::replace(&mut disk.locked, true) {
            return Err(Error::Locked { path: "memory".into(), here: true });
        }
        Ok(WriterLock::new(ReleaseDisk(self.disk.clone())))
    }

    fn reads_unfinished(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        "memory".into()
    }
}

/// Releases the lock when dropped.
#[derive(Debug)]
struct ReleaseDisk(Arc<Mutex<Disk>>);

impl Drop for ReleaseDisk {
    fn drop(&mut self) {
        lock(&self.0).locked = false;
    }
}

#[derive(Debug)]
struct FaultOutput {
    disk: Arc<Mutex<Disk>>,
    file: FileNumber,
    name: String,
}

impl FaultOutput {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.disk)
    }
}

impl Write for FaultOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Write, &self.name)?;
        let wanted = if course == Course::Half { bytes.len().div_ceil(2) } else { bytes.len() };
        let room = usize::try_from(disk.room(self.file)).unwrap_or(usize::MAX);
        let (taken, _) = bytes.split_at(wanted.min(room));
        if taken.is_empty() && !bytes.is_empty() {
            return Err(Errno::NOSPC.into());
        }
        disk.write(self.file, taken);
        course.reply().map(|()| taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.disk().call(CallKind::Flush, &self.name).and_then(Course::reply)
    }
}

impl Output for FaultOutput {
    fn finish(self: Box<Self>) -> Result<()> {
        let mut disk = self.disk();
        let course = disk.call(CallKind::Finish, &self.name).inspect_err(|_| disk.lose(self.file));
        let course = course.map_err(failed("sync", &self.name))?;
        disk.note(JournalStep::Sync { file: self.file });
        course.reply().map_err(failed("sync", &self.name))
    }
}

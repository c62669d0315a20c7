//! An attempt to build a shard: a directory and a sign of life under names of its own, and a rename at the
//! end.
//!
//! ```text
//! shard-00017                      the shard, published
//! shard-00017.tmp-HOST-PID-RANDOM  the directory of an attempt, or its copy on the way to the index
//! shard-00017.run-HOST-PID-RANDOM  an empty file whose time of modification is the last sign of life
//! ```
//!
//! A rename of a directory fails if a directory with files has the new name. So of two attempts that end at
//! the same time one is published, and the other discarded.

use std::fs::{self, File, FileTimes};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;

use super::plan_file::PlannedShard;
use crate::error::{Error, Result};
use crate::store::{Directory, FsDirectory};
use crate::sys::lock;

/// Between the name of a shard and the rest of the name of an attempt's directory.
const DIRECTORY: &str = ".tmp-";
/// The same for the sign of life.
const SIGN: &str = ".run-";

/// Time between two signs of life.
const SIGN_EVERY: Duration = Duration::from_secs(20);

/// An attempt without a sign of life for this time counts as stopped.
pub(super) const SIGN_LASTS: Duration = Duration::from_secs(120);

/// An attempt. Dropping it removes what is left of it.
pub(super) struct Attempt {
    /// The directory in which the shard is built.
    pub(super) place: PathBuf,
    /// The directory of the index.
    index: PathBuf,
    shard: String,
    /// `HOST-PID-RANDOM`.
    name: String,
    _sign: LifeSign,
}

/// The host and the process of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttemptName {
    pub(super) shard: String,
    pub(super) host: String,
    pub(super) process: u32,
    pub(super) is_sign: bool,
}

impl AttemptName {
    /// Takes the name of a file of an attempt apart.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let signs = name.split_once(SIGN).map(|parts| (parts, true));
        let ((shard, rest), is_sign) = signs.or_else(|| Some((name.split_once(DIRECTORY)?, false)))?;
        let (rest, random) = rest.rsplit_once('-')?;
        let (host, process) = rest.rsplit_once('-')?;
        let is_shard = shard.strip_prefix("shard-").is_some_and(|number| number.parse::<u32>().is_ok());
        let is_random = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
        let process = process.parse().ok().filter(|_| is_shard && is_random)?;
        Some(AttemptName { shard: shard.into(), host: host.into(), process, is_sign })
    }

    /// True for an attempt of a process of this machine that is gone.
    fn is_dead(&self) -> bool {
        self.host == host() && !Path::new("/proc").join(self.process.to_string()).exists()
    }
}

/// The name of this machine, as far as it can be part of the name of a file.
fn host() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy().into_owned();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
    name.chars().filter(is_plain).take(64).collect()
}

impl Attempt {
    /// Begins an attempt: makes its directory in `scratch`, or beside the shard without it.
    pub(super) fn begin(index: &Path, scratch: Option<&Path>, shard: &PlannedShard) -> Result<Self> {
        let random = RandomState::new().hash_one((Instant::now(), std::thread::current().id()));
        let name = format!("{}-{}-{random:016x}", host(), std::process::id());
        let sign = LifeSign::begin(index.join(format!("{}{SIGN}{name}", shard.name)))?;
        let place = scratch.unwrap_or(index).join(format!("{}{DIRECTORY}{name}", shard.name));
        let (index, shard) = (index.to_path_buf(), shard.name.clone());
        let attempt = Attempt { place, index, shard, name, _sign: sign };
        fs::create_dir(&attempt.place).map_err(|source| Error::io("create", &attempt.place, source))?;
        Ok(attempt)
    }

    /// Gives the directory, whose files are durable, its final name. False if another attempt was first.
    pub(super) fn publish(&self) -> Result<bool> {
        let is_first = match self.rename(&self.place)? {
            Renamed::Published => true,
            Renamed::Exists => false,
            Renamed::OtherFileSystem => {
                let copy = self.copy_place();
                copy_directory(&self.place, &copy)?;
                matches!(self.rename(&copy)?, Renamed::Published)
            }
        };
        FsDirectory::new(&self.index).sync()?;
        Ok(is_first)
    }

    /// Where the directory is copied to on its way from another file system.
    fn copy_place(&self) -> PathBuf {
        self.index.join(format!("{}{DIRECTORY}{}", self.shard, self.name))
    }

    fn rename(&self, from: &Path) -> Result<Renamed> {
        let Err(error) = fs::rename(from, self.index.join(&self.shard)) else {
            return Ok(Renamed::Published);
        };
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOTEMPTY | Errno::EXIST) => Ok(Renamed::Exists),
            Some(Errno::XDEV) => Ok(Renamed::OtherFileSystem),
            _ => Err(Error::io("rename", from, error)),
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        // What cannot be removed is removed when the shards are assembled.
        let _ = fs::remove_dir_all(&self.place);
        let _ = fs::remove_dir_all(self.copy_place());
    }
}

enum Renamed {
    Published,
    Exists,
    OtherFileSystem,
}

/// Copies the files of a directory, durably.
fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).map_err(|source| Error::io("create", to, source))?;
    for name in FsDirectory::new(from).list()? {
        let (source, copy) = (from.join(&name), to.join(&name));
        let copied = fs::copy(&source, &copy).and_then(|_| File::open(&copy)?.sync_all());
        copied.map_err(|error| Error::io("copy the shard to", &copy, error))?;
    }
    FsDirectory::new(to).sync()
}

/// Removes what attempts of dead processes of this machine left of a shard.
pub(super) fn remove_dead(directory: &Path, shard: &str) {
    remove_attempts(directory, |attempt| attempt.shard == shard && attempt.is_dead());
}

/// Removes the files of attempts that `are_left` chooses; returns the number of those that it removed.
pub(super) fn remove_attempts(directory: &Path, are_left: impl Fn(&AttemptName) -> bool) -> u64 {
    let mut removed = 0;
    // What cannot be removed does no harm.
    for name in FsDirectory::new(directory).list().unwrap_or_default() {
        if AttemptName::parse(&name).is_some_and(|attempt| are_left(&attempt)) {
            let path = directory.join(&name);
            let gone = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            removed += u64::from(gone.is_ok());
        }
    }
    removed
}

/// A file whose time of modification says that its process lives.
struct LifeSign {
    path: PathBuf,
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl LifeSign {
    fn begin(path: PathBuf) -> Result<Self> {
        let file = File::create_new(&path).map_err(|source| Error::io("create", &path, source))?;
        let ended = Arc::new((Mutex::new(false), Condvar::new()));
        let watched = Arc::clone(&ended);
        let repeat = move || {
            let (ended, wake) = &*watched;
            let mut is_over = lock(ended);
            while !*is_over {
                let waited = wake.wait_timeout(is_over, SIGN_EVERY);
                is_over = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
                // Without the sign, the shard only looks stopped.
                let _ = file.set_times(FileTimes::new().set_modified(SystemTime::now()));
            }
        };
        // Without the thread, too.
        let thread = std::thread::Builder::new().name("scanns-sign".into()).spawn(repeat).ok();
        Ok(LifeSign { path, ended, thread })
    }
}

impl Drop for LifeSign {
    fn drop(&mut self) {
        *lock(&self.ended.0) = true;
        self.ended.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// How long ago a process gave its last sign of life.
pub(super) fn age_of_sign(path: &Path) -> io::Result<Duration> {
    let modified = fs::metadata(path)?.modified()?;
    Ok(SystemTime::now().duration_since(modified).unwrap_or_default())
}

/// Makes the directory of an index, durably, if it does not exist.
pub(super) fn make_directory(path: &Path) -> Result<()> {
    let absolute = std::path::absolute(path).map_err(|source| Error::io("create", path, source))?;
    let missing: Vec<&Path> = absolute.ancestors().take_while(|parent| !parent.exists()).collect();
    match fs::create_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Error::io("create", path, error)),
        _ => missing
            .iter()
            .filter_map(|created| created.parent())
            .try_for_each(|parent| FsDirectory::new(parent).sync()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard() -> PlannedShard {
        let place = Default::default();
        PlannedShard { number: 3, name: "shard-00003".into(), inputs: 1, files: 1, bytes: 1, place }
    }

    #[test]
    fn names_of_attempts_are_taken_apart_and_other_names_are_left_alone() {
        let name = "shard-00003.tmp-node-7.site-4711-0123456789abcdef";
        let parsed = AttemptName::parse(name).unwrap();
        assert_eq!((parsed.shard.as_str(), parsed.host.as_str()), ("shard-00003", "node-7.site"));
        assert_eq!((parsed.process, parsed.is_sign), (4711, false));
        assert!(AttemptName::parse(&name.replace("tmp", "run")).unwrap().is_sign);
        for other in ["shard-00003", "shards.json", "shard-x.tmp-a-1-0123456789abcdef", "shard-3.tmp-a-1-0"] {
            assert_eq!(AttemptName::parse(other), None, "{other}");
        }
    }

    #[test]
    fn of_two_attempts_one_is_published_and_nothing_is_left_of_the_other() {
        let place = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let one = Attempt::begin(place.path(), None, &shard()).unwrap();
        let other = Attempt::begin(place.path(), Some(scratch.path()), &shard()).unwrap();
        for attempt in [&one, &other] {
            fs::write(attempt.place.join("file"), attempt.name.as_bytes()).unwrap();
        }
        assert!(other.publish().unwrap());
        assert!(!one.publish().unwrap());
        let published = fs::read(place.path().join("shard-00003/file")).unwrap();
        assert_eq!(published, other.name.as_bytes());
        drop((one, other));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn attempts_of_dead_processes_are_removed_and_those_of_others_are_not() {
        let place = tempfile::tempdir().unwrap();
        let dead = format!("shard-00003.tmp-{}-4194305-0123456789abcdef", host());
        let foreign = "shard-00003.tmp-elsewhere-4194305-0123456789abcdef";
        for name in [dead.as_str(), foreign] {
            fs::create_dir(place.path().join(name)).unwrap();
            fs::write(place.path().join(name).join("file"), "x").unwrap();
        }
        remove_dead(place.path(), "shard-00003");
        let attempt = Attempt::begin(place.path(), None, &shard()).unwrap();
        assert!(!place.path().join(dead).exists() && place.path().join(foreign).exists());
        assert!(attempt.place.exists());
        assert_eq!(remove_attempts(place.path(), |_| true), 3, "the sign counts, too");
    }
}

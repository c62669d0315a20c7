//! Watches directories with inotify, and tells at which paths something happened.
//!
//! Each directory needs a watch of its own. A scan finds the directories, so the rules of scans say which are
//! watched. A directory that is made or moved here is watched from the moment at which its event is taken,
//! and everything below it counts as changed: so nothing is missed that happened before. A directory at
//! several paths, by bind mounts, has one watch and several paths.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::source::changed_paths::ChangedPaths;
use crate::source::entry_batch::EntryBatch;
use crate::source::entry_kind::EntryKind;
use crate::source::scan::{ScanOptions, scan};
use crate::sys::{is_readable, lock, unpoisoned};

/// Bytes for events that are read at once.
const BUFFER: usize = 64 << 10;

/// Events that are taken at once, before they are looked at.
const EVENTS: usize = 1 << 16;

/// What the user can do if there are too many directories.
const TOO_MANY: &str = "each directory needs a watch: raise the limit in \
    /proc/sys/fs/inotify/max_user_watches (sysctl fs.inotify.max_user_watches=1000000), or watch \
    fewer directories";

/// What the user can do if there are too many programs that watch.
const INSTANCES: &str = "raise the limit in /proc/sys/fs/inotify/max_user_instances, or end other programs \
    that watch directories";

/// Directories that are watched.
pub struct TreeWatch {
    inotify: OwnedFd,
    options: ScanOptions,
    watched: Watched,
}

/// The watches and their directories.
#[derive(Default)]
struct Watched {
    paths: HashMap<i32, Vec<Vec<u8>>>,
    numbers: BTreeMap<Vec<u8>, i32>,
}

/// Something that happened.
struct WatchEvent {
    watch: i32,
    what: ReadFlags,
    name: Option<Vec<u8>>,
}

impl TreeWatch {
    /// Watches nothing yet. The options say which directories of the trees will be watched.
    ///
    /// # Errors
    /// The system allows no more.
    pub fn new(options: ScanOptions) -> Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
        let inotify = inotify.map_err(|error| refused(error, INSTANCES))?;
        Ok(TreeWatch { inotify, options, watched: Watched::default() })
    }

    /// The number of directories that are watched.
    pub fn directories(&self) -> usize {
        self.watched.numbers.len()
    }

    /// Watches all directories of these trees.
    ///
    /// A directory may be made in another one after that was listed and before it is watched. So what was new
    /// is listed again, until nothing is new.
    ///
    /// # Errors
    /// The system allows no more watches.
    pub fn watch_trees(&mut self, paths: Vec<PathBuf>, stop: &AtomicBool) -> Result<()> {
        let mut added = self.watch_listed(paths.clone(), stop)?;
        if !added.is_empty() {
            added = self.watch_listed(paths, stop)?;
        }
        while !added.is_empty() && !stop.load(Ordering::Relaxed) {
            added = self.watch_listed(added, stop)?;
        }
        Ok(())
    }

    /// Lists trees, and watches their directories. Returns those that were not watched before.
    fn watch_listed(&mut self, paths: Vec<PathBuf>, stop: &AtomicBool) -> Result<Vec<PathBuf>> {
        let options = ScanOptions { paths, ..self.options.clone() };
        let (inotify, failed) = (&self.inotify, Mutex::new(None));
        let watched = Mutex::new((&mut self.watched, Vec::new()));
        let watch = |batch: EntryBatch| {
            let directories = batch.iter().filter(|entry| entry.kind == Some(EntryKind::Directory));
            let (watched, added) = &mut *lock(&watched);
            for directory in directories {
                match watched.add(inotify, directory.path) {
                    Ok(true) => added.push(PathBuf::from(OsStr::from_bytes(directory.path))),
                    Ok(false) => {}
                    Err(error) => {
                        lock(&failed).get_or_insert(error);
                        return false;
                    }
                }
            }
            true
        };
        scan(&options, stop, &watch)?;
        match unpoisoned(failed.into_inner()) {
            Some(error) => Err(refused(error, TOO_MANY)),
            None => Ok(unpoisoned(watched.into_inner()).1),
        }
    }

    /// Waits a moment for events; true if there are some.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub fn wait(&self) -> Result<bool> {
        is_readable(&self.inotify).map_err(broken)
    }

    /// Adds the paths of all events so far. Returns false if the system has lost events.
    ///
    /// # Errors
    /// The system allows no more watches, or events cannot be read.
    pub fn take(&mut self, paths: &mut ChangedPaths, stop: &AtomicBool) -> Result<bool> {
        let (mut new, mut is_whole) = (Vec::new(), true);
        for event in self.events()? {
            is_whole &= !event.what.contains(ReadFlags::QUEUE_OVERFLOW);
            self.take_event(&event, paths, &mut new);
        }
        if !new.is_empty() {
            self.watch_trees(new, stop)?;
        }
        Ok(is_whole)
    }

    /// Reads events.
    fn events(&self) -> Result<Vec<WatchEvent>> {
        let mut space = Vec::<u8>::with_capacity(BUFFER);
        let mut reader = Reader::new(&self.inotify, space.spare_capacity_mut());
        let mut events = Vec::new();
        while events.len() < EVENTS {
            match reader.next() {
                Ok(event) => events.push(WatchEvent {
                    watch: event.wd(),
                    what: event.events(),
                    name: event.file_name().map(|name| name.to_bytes().to_vec()),
                }),
                Err(Errno::WOULDBLOCK) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(broken(error.into())),
            }
        }
        Ok(events)
    }

    fn take_event(&mut self, event: &WatchEvent, paths: &mut ChangedPaths, new: &mut Vec<PathBuf>) {
        let WatchEvent { watch, what, name } = event;
        let directories = self.watched.paths.get(watch).cloned().unwrap_or_default();
        for directory in directories {
            let path = match name {
                Some(name) if directory.ends_with(b"/") => [&directory, name.as_slice()].concat(),
                Some(name) => [&directory, &b"/"[..], name].concat(),
                None => directory,
            };
            let is_directory = what.contains(ReadFlags::ISDIR);
            let comes = is_directory && what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
            if is_directory && what.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
                self.watched.forget(&self.inotify, &path);
            }
            paths.push(&path, comes);
            if comes {
                new.push(PathBuf::from(OsStr::from_bytes(&path)));
            }
        }
        if what.contains(ReadFlags::IGNORED) {
            self.watched.forget_watch(*watch);
        }
    }
}

impl Watched {
    /// Watches a directory; true if it was not watched at this path before. If it cannot be read, or is gone,
    /// the scan says so.
    fn add(&mut self, inotify: &OwnedFd, path: &[u8]) -> rustix::io::Result<bool> {
        let wanted = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let watch = match inotify::add_watch(inotify, path, wanted) {
            Ok(watch) => watch,
            Err(error @ (Errno::NOSPC | Errno::NOMEM)) => return Err(error),
            Err(_) => return Ok(false),
        };
        let before = self.numbers.insert(path.to_vec(), watch);
        if before == Some(watch) {
            return Ok(false);
        }
        if let Some(before) = before {
            self.forget_path(inotify, path, before);
        }
        self.paths.entry(watch).or_default().push(path.to_vec());
        Ok(true)
    }

    /// Forgets a directory that is gone from its path, and the directories below it.
    fn forget(&mut self, inotify: &OwnedFd, path: &[u8]) {
        let below = [path, b"/"].concat();
        let all = self.numbers.range(below.clone()..).take_while(|(path, _)| path.starts_with(&below));
        let mut gone: Vec<(Vec<u8>, i32)> = all.map(|(path, watch)| (path.clone(), *watch)).collect();
        gone.extend(self.numbers.get(path).map(|watch| (path.to_vec(), *watch)));
        for (path, watch) in gone {
            self.numbers.remove(&path);
            self.forget_path(inotify, &path, watch);
        }
    }

    /// Takes a path from a watch, which ends with its last path.
    fn forget_path(&mut self, inotify: &OwnedFd, path: &[u8], watch: i32) {
        let Some(paths) = self.paths.get_mut(&watch) else { return };
        paths.retain(|known| known != path);
        if paths.is_empty() {
            self.paths.remove(&watch);
            // The watch of a deleted directory has ended already.
            let _ = inotify::remove_watch(inotify, watch);
        }
    }

    /// Forgets a watch that has ended.
    fn forget_watch(&mut self, watch: i32) {
        for path in self.paths.remove(&watch).unwrap_or_default() {
            if self.numbers.get(&path) == Some(&watch) {
                self.numbers.remove(&path);
            }
        }
    }
}

fn refused(error: Errno, remedy: &'static str) -> Error {
    Error::System { action: "watch directories", source: error.into(), remedy }
}

fn broken(source: io::Error) -> Error {
    Error::System { action: "read the events of directories", source, remedy: "start again" }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn events_have_the_paths_of_their_directories_even_after_these_were_moved() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        let options = ScanOptions { paths: vec![root.clone()], threads: 1, ..ScanOptions::default() };
        let (mut watch, never) = (TreeWatch::new(options).unwrap(), AtomicBool::new(false));
        watch.watch_trees(vec![root.clone()], &never).unwrap();
        assert_eq!(watch.directories(), 3);
        let mut happened = |expected: &[(&str, bool)]| {
            let mut paths = ChangedPaths::default();
            assert!(watch.take(&mut paths, &never).unwrap());
            paths.sort();
            let expected = expected.iter().map(|(path, tree)| (root.join(path), *tree));
            let found = paths.iter().map(|(path, tree)| (PathBuf::from(OsStr::from_bytes(path)), tree));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            watch.directories()
        };
        assert_eq!(happened(&[]), 3);
        fs::write(root.join("a/b/file"), "x").unwrap();
        assert_eq!(happened(&[("a/b/file", false)]), 3);
        fs::rename(root.join("a"), root.join("c")).unwrap();
        assert_eq!(happened(&[("a", false), ("c", true)]), 3);
        fs::write(root.join("c/b/file"), "y").unwrap();
        assert_eq!(happened(&[("c/b/file", false)]), 3);
        fs::create_dir_all(root.join("d/e/f")).unwrap();
        assert_eq!(happened(&[("d", true)]), 6);
        fs::remove_file(root.join("c/b/file")).unwrap();
        fs::remove_dir(root.join("c/b")).unwrap();
        assert_eq!(happened(&[("c/b", false), ("c/b/file", false)]), 5);
        fs::create_dir(root.join("c/b")).unwrap();
        assert_eq!(happened(&[("c/b", true)]), 6);
    }
}

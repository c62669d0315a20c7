//! The walk: threads that take directories from a shared stack until none is left.
//!
//! The walk calls `stat` once per file, for its size; directories and links are recognised by their directory
//! entries. The files of each directory are sorted as soon as they are found, so that afterwards only
//! directories need to be sorted.

use std::collections::HashSet;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::source::access::{AccessChain, OpenedDirectory, Way};
use crate::source::entry::nanoseconds;
use crate::source::entry_kind::EntryKind;
use crate::source::filter::Filter;
use crate::source::ignore::{IgnoreRules, RuleFiles, RuleNames, UserRules};
use crate::source::inputs::{Failure, FileStatus, Input, Root};
use crate::source::options::SourceOptions;
use crate::source::walk_found::{CheckedWay, FilesOf, Found, Identity, PlaceToWalk};
use crate::sys::{lock, wait};

/// What a walk that hands over what it finds keeps until then, in each thread: files and failures.
const HANDED_OVER: usize = 4096;

/// Takes files and failures out of what was found; false if the walk should end.
pub(super) type TakeFound<'t> = dyn Fn(&mut Found) -> bool + Sync + 't;

/// A walk over several roots.
pub(super) struct Walk<'a> {
    filter: &'a Filter,
    follow: bool,
    /// Whether everything becomes an input.
    entries: bool,
    status: bool,
    /// The patterns of the user, if `.gitignore` files are respected.
    user: Option<UserRules>,
    threads: usize,
    cancel: &'a AtomicBool,
    /// Directories walked so far, to detect loops; only used if links are followed.
    visited: Mutex<HashSet<Identity>>,
    /// Takes what was found whenever it is much.
    take: Option<&'a TakeFound<'a>>,
    /// Set when that should end the walk.
    is_over: AtomicBool,
    /// Finds the checks on the way to given paths, if access classes are wanted.
    way: Option<Mutex<Way>>,
    found: Found,
}

/// Directories to walk, and the number of directories that are being read.
struct Stack {
    waiting: Vec<PlaceToWalk>,
    busy: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(filter: &'a Filter, options: &SourceOptions, cancel: &'a AtomicBool) -> Self {
        let mut found = Found::default();
        let user = options.gitignore.then(|| UserRules::of_process(&mut found.rule_faults));
        Walk {
            filter,
            follow: options.follow_symlinks,
            entries: options.entries,
            status: options.status,
            user,
            threads: options.threads.max(1),
            cancel,
            visited: Mutex::default(),
            take: None,
            is_over: AtomicBool::new(false),
            way: options.access.as_ref().map(|covered| Mutex::new(Way::new(covered, &options.paths))),
            found,
        }
    }

    /// The same walk, which hands over what it finds to `take` every few thousand files. Of a directory with
    /// many files, it hands over some at a time.
    pub(super) fn handing_over(self, take: &'a TakeFound<'a>) -> Self {
        Walk { take: Some(take), ..self }
    }

    /// Hands over what was found, if it is much.
    fn hand_over(&self, found: &mut Found) {
        if let Some(take) = self.take
            && found.files + found.failures.len() >= HANDED_OVER
            && !take(found)
        {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    fn is_stopped(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn into_found(self) -> Found {
        self.found
    }

    /// Collects everything at and below the given paths. The globs do not apply to a path that is marked
    /// true.
    ///
    /// Without links, all directories are walked together. With links, the given paths are walked one after
    /// the other in their order, and then the links by path. The result therefore does not depend on the
    /// threads if there are several ways to a directory.
    pub(super) fn take_given(&mut self, given: &[(PathBuf, bool)]) -> Result<()> {
        let mut roots = Vec::new();
        for (path, explicit) in given {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let mut found = std::mem::take(&mut self.found);
            let way = self.way.as_ref().map(|way| lock(way).to(path));
            let root = self.take_root(path, *explicit, way.as_ref(), &mut found);
            self.hand_over(&mut found);
            self.found = found;
            let way = match (&root, way) {
                (Some(path), Some(chain)) => match path.canonicalize() {
                    Ok(real) => Some(CheckedWay { chain, real }),
                    Err(error) => {
                        self.found.fail(path, &error);
                        continue;
                    }
                },
                _ => None,
            };
            let root = root.map(|path| {
                let user = self.user.as_ref();
                let rules = user.map(|user| IgnoreRules::above(&path, user, &mut self.found.rule_faults));
                PlaceToWalk { path, rules, way }
            });
            if let Some(PlaceToWalk { path, .. }) = &root {
                let is_empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
                self.found.roots.push(Root { path: path.clone(), is_empty });
            }
            if self.follow {
                self.descend(root.into_iter().collect())?;
            } else {
                roots.extend(root);
            }
        }
        self.descend(roots)?;
        while !self.found.links.is_empty() {
            let mut links = std::mem::take(&mut self.found.links);
            links.sort_unstable_by(|one, other| one.path.cmp(&other.path));
            for PlaceToWalk { path: link, rules, .. } in links {
                let mut found = std::mem::take(&mut self.found);
                let root = self.take_root(&link, false, None, &mut found);
                self.found = found;
                let root = root.map(|path| PlaceToWalk { path, rules, way: None });
                self.descend(root.into_iter().collect())?;
            }
        }
        Ok(())
    }

    /// Collects a path that was given or linked to; returns the path if it is a directory to walk.
    fn take_root(
        &self,
        path: &Path,
        explicit: bool,
        way: Option<&Arc<AccessChain>>,
        found: &mut Found,
    ) -> Option<PathBuf> {
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) => {
                found.fail(path, &error);
                return None;
            }
        };
        let kind = EntryKind::of(meta.file_type());
        if kind == EntryKind::Directory {
            if !explicit && !self.filter.enters(path) {
                found.skipped += 1;
                return None;
            }
            if self.entries {
                self.take_one(path, &meta, way, found);
            }
            return Some(path.to_path_buf());
        }
        if kind != EntryKind::File && !self.entries {
            found.failures.push(Failure { path: path.to_path_buf(), reason: special(kind) });
        } else if explicit || self.filter.takes_file(path) {
            self.take_one(path, &meta, way, found);
        } else {
            found.skipped += 1;
        }
        None
    }

    /// Collects an entry beside no others of its directory. It is not a link, since given links are followed.
    fn take_one(&self, path: &Path, meta: &Metadata, way: Option<&Arc<AccessChain>>, found: &mut Found) {
        let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let access = way.map(|way| found.class(way, path, path, meta, true));
        let files = vec![self.input(path.to_path_buf(), meta, None, access)];
        found.add(FilesOf { path: parent, files });
    }

    /// Walks directories with all threads.
    fn descend(&mut self, roots: Vec<PlaceToWalk>) -> Result<()> {
        if roots.is_empty() {
            return Ok(());
        }
        let stack = Mutex::new(Stack { waiting: roots, busy: 0 });
        let more = Condvar::new();
        let walk: &Walk = self;
        let parts = std::thread::scope(|scope| -> Result<Vec<Found>> {
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, || walk.work(&stack, &more));
            let helpers: Vec<_> = (1..walk.threads).map_while(|i| spawn(i).ok()).collect();
            let mut parts = vec![walk.work(&stack, &more)];
            for helper in helpers {
                parts.push(helper.join().map_err(|_| Error::System {
                    action: "walk the directories",
                    source: io::Error::other("a thread ended unexpectedly"),
                    remedy: "this is a bug in scanns: please report it",
                })?);
            }
            Ok(parts)
        })?;
        parts.into_iter().for_each(|part| self.found.append(part));
        Ok(())
    }

    /// The loop of one thread: reads directories until none is left to walk or being read.
    fn work(&self, stack: &Mutex<Stack>, more: &Condvar) -> Found {
        let mut found = Found::default();
        let mut below = Vec::new();
        while let Some(directory) = next(stack, more) {
            if !self.is_stopped() {
                self.read_directory(directory, &mut found, &mut below);
                self.hand_over(&mut found);
            }
            let mut state = lock(stack);
            state.busy -= 1;
            state.waiting.append(&mut below);
            if state.busy == 0 || !state.waiting.is_empty() {
                more.notify_all();
            }
        }
        found
    }

    fn read_directory(&self, place: PlaceToWalk, found: &mut Found, below: &mut Vec<PlaceToWalk>) {
        let PlaceToWalk { path: directory, rules, way } = place;
        match self.is_new(&directory) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return found.fail(&directory, &error),
        }
        let opened = match way.as_ref().map(|way| OpenedDirectory::open(&way.real)).transpose() {
            Ok(opened) => opened,
            Err(error) => return found.fail(&directory, &error),
        };
        let place = opened.as_ref().map_or_else(|| directory.clone(), OpenedDirectory::place);
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(error) => return found.fail(&directory, &error),
        };
        let mut files = Vec::new();
        let way = way.map(|way| CheckedWay { chain: found.enter(&way.chain, &place), ..way });
        let mut take = |entry: io::Result<DirEntry>, rules: Option<&IgnoreRules>, found: &mut Found| {
            match entry {
                Ok(entry) => {
                    let of = WalkedDirectory { path: &directory, rules, way: way.as_ref() };
                    self.take_entry(&entry, of, &mut files, found, below);
                    if self.take.is_some() && files.len() >= HANDED_OVER {
                        found.add(FilesOf { path: directory.clone(), files: std::mem::take(&mut files) });
                        self.hand_over(found);
                    }
                }
                Err(error) => {
                    found.fail(&directory, &error);
                    return ControlFlow::Break(()); // reading this directory further would fail again
                }
            }
            ControlFlow::Continue(())
        };
        // A directory has to be listed to its end before its rules are known.
        let _ = match rules {
            None => entries.into_iter().try_for_each(|entry| take(entry, None, found)),
            Some(above) => {
                let (entries, names) = listed(entries);
                let files = RuleFiles::read(&directory, names, &mut found.rule_faults);
                let rules = above.enter(&directory, files, &mut found.rule_faults);
                entries.into_iter().try_for_each(|entry| take(entry, Some(&rules), found))
            }
        };
        if !files.is_empty() {
            files.sort_unstable_by(|a: &(Input, Identity), b| a.0.path.as_os_str().cmp(b.0.path.as_os_str()));
            found.add(FilesOf { path: directory, files });
        }
    }

    fn take_entry(
        &self,
        entry: &DirEntry,
        of: WalkedDirectory<'_>,
        files: &mut Vec<(Input, Identity)>,
        found: &mut Found,
        below: &mut Vec<PlaceToWalk>,
    ) {
        let WalkedDirectory { path: directory, rules, way } = of;
        let path = if way.is_some() { directory.join(entry.file_name()) } else { entry.path() };
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return found.fail(&path, &error),
        };
        let kind = EntryKind::of(kind);
        let is_directory = kind == EntryKind::Directory;
        if rules.is_some_and(|rules| rules.is_ignored(path.as_os_str().as_bytes(), is_directory)) {
            found.skipped += 1;
            return;
        }
        if kind == EntryKind::Link && self.follow {
            found.links.push(PlaceToWalk { path, rules: rules.cloned(), way: None });
            return;
        }
        let enters = is_directory && self.filter.enters(&path);
        if enters {
            let way = way.map(|CheckedWay { chain, real }| CheckedWay {
                chain: chain.clone(),
                real: real.join(entry.file_name()),
            });
            below.push(PlaceToWalk { path: path.clone(), rules: rules.cloned(), way });
            if !self.entries {
                return;
            }
        }
        let is_taken = match kind {
            EntryKind::Directory => enters,
            EntryKind::File => self.filter.takes_file(&path),
            _ => self.entries && self.filter.takes_file(&path),
        };
        if !is_taken {
            found.skipped += 1;
            return;
        }
        match entry.metadata().and_then(|meta| Ok((self.target(&path, kind)?, meta))) {
            Ok((target, meta)) => {
                let access = way.map(|way| found.class(&way.chain, &entry.path(), &path, &meta, false));
                files.push(self.input(path, &meta, target, access));
            }
            Err(error) => found.fail(&path, &error),
        }
    }

    /// The target of a link, if metadata is kept.
    fn target(&self, path: &Path, kind: EntryKind) -> io::Result<Option<PathBuf>> {
        (self.status && kind == EntryKind::Link).then(|| fs::read_link(path)).transpose()
    }

    fn input(
        &self,
        path: PathBuf,
        meta: &Metadata,
        target: Option<PathBuf>,
        access: Option<Box<[u8]>>,
    ) -> (Input, Identity) {
        let mut input = input_of(path, meta, target, self.status);
        if let Some(status) = &mut input.status {
            status.access = access;
        }
        (input, (meta.dev(), meta.ino()))
    }

    /// Returns false for a directory that was walked before, by any path.
    fn is_new(&self, directory: &Path) -> io::Result<bool> {
        if !self.follow {
            return Ok(true);
        }
        let meta = fs::metadata(directory)?;
        let mut visited = lock(&self.visited);
        Ok(visited.insert((meta.dev(), meta.ino())))
    }
}

/// What holds for the entries of a directory.
#[derive(Clone, Copy)]
struct WalkedDirectory<'d> {
    path: &'d Path,
    rules: Option<&'d IgnoreRules>,
    /// The checks on the way to them, if access classes are wanted.
    way: Option<&'d CheckedWay>,
}

/// The entries of a directory, up to the first that cannot be read, and whether it may have rules.
fn listed(entries: fs::ReadDir) -> (Vec<io::Result<DirEntry>>, RuleNames) {
    let (mut all, mut names) = (Vec::new(), RuleNames::default());
    for entry in entries {
        let is_last = entry.as_ref().inspect(|entry| names.see(entry.file_name().as_bytes())).is_err();
        all.push(entry);
        if is_last {
            break;
        }
    }
    (all, names)
}

fn next(stack: &Mutex<Stack>, more: &Condvar) -> Option<PlaceToWalk> {
    let mut state = lock(stack);
    loop {
        if let Some(directory) = state.waiting.pop() {
            state.busy += 1;
            return Some(directory);
        }
        if state.busy == 0 {
            return None;
        }
        state = wait(more, state);
    }
}

/// The input with this metadata, of which all is kept if `keep` says so.
pub(super) fn input_of(path: PathBuf, meta: &Metadata, target: Option<PathBuf>, keep: bool) -> Input {
    let kind = EntryKind::of(meta.file_type());
    let modified = nanoseconds(meta.mtime(), meta.mtime_nsec());
    let status = keep.then(|| status(meta, target));
    let bytes = if kind == EntryKind::File { meta.len() } else { 0 };
    Input { path, kind, bytes, modified, status }
}

fn status(meta: &Metadata, target: Option<PathBuf>) -> Box<FileStatus> {
    Box::new(FileStatus {
        accessed: nanoseconds(meta.atime(), meta.atime_nsec()),
        changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        created: created(meta),
        size: meta.len(),
        blocks: meta.blocks(),
        target,
        inode: meta.ino(),
        links: meta.nlink(),
        device: meta.dev(),
        uid: meta.uid(),
        gid: meta.gid(),
        mode: meta.mode(),
        access: None,
    })
}

/// The time of birth, where the file system knows it, as [`nanoseconds`] gives it.
fn created(meta: &Metadata) -> Option<i64> {
    let of = |span: Duration| i64::try_from(span.as_nanos());
    Some(match meta.created().ok()?.duration_since(UNIX_EPOCH) {
        Ok(since) => of(since).unwrap_or(i64::MAX),
        Err(before) => of(before.duration()).map_or(i64::MIN, |span| -span),
    })
}

fn special(kind: EntryKind) -> String {
    let what = match kind {
        EntryKind::Fifo => "a named pipe",
        EntryKind::Socket => "a socket",
        EntryKind::Member => "a member of an archive",
        _ => "a device",
    };
    format!("it is {what}; only regular files and directories can be indexed")
}

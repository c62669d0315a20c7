//! Looks only at the paths that a list of changes names, and at the directories above them.
//!
//! A path that exists is listed as an entry, as are all directories on the way to it. A directory that the
//! caller does not know, or knows as another one, is scanned as a whole: it is new, or was moved here. What a
//! look says about deletions is in the `LookReport`.
//!
//! The paths are sorted, so what is below a directory is one range. A thread opens a directory, looks at the
//! next names of the paths in its range, and leaves the rest of them for the directories with these names.

use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;

use crate::source::ignore::RuleNames;
use crate::source::scan::directory::{PlaceAbove, ScanDirectory};
use crate::source::scan::entries::{EnteredDirectory, FoundName, OpenDirectory};
use crate::source::scan::names::NameList;
use crate::source::scan::places::{KnownPlace, Look, LookName};
use crate::source::scan::queue::{HeldOpen, LookWork, ScanWork};
use crate::source::scan::roots::NamedPath;
use crate::source::scan::status::ScanStatus;
use crate::source::scan::worker::ScanWorker;
use crate::sys::lock;

/// The number of names after which a thread gives half of the others to a thread without work.
const SLICE: usize = 64;

impl ScanWorker<'_> {
    /// Lists the named paths, and makes the directories among them pending if a path leads into them.
    pub(super) fn begin_look(&mut self, named: &[NamedPath], look: &Look<'_>) {
        for NamedPath { name, status, root, .. } in named {
            self.path.clear();
            self.path.extend_from_slice(name.as_bytes());
            let mut range = look.paths.at_or_below(&self.path);
            if range.is_empty() {
                continue;
            }
            let first = look.paths.get(range.start).filter(|(path, _)| *path == self.path);
            if look.with_directories || first.is_some() {
                self.emit(status, CWD, name);
                root.count(std::mem::take(&mut self.entries));
            }
            let tree = first.is_some_and(|(_, tree)| tree);
            range.start += usize::from(first.is_some());
            let known = (look.known)(&self.path);
            if !status.is_directory() {
                self.end_of_file(look, known);
                continue;
            }
            let above = PlaceAbove { rules: self.rules_above(root), way: None };
            let directory = Arc::new(ScanDirectory::top(name.clone(), status.device, root.clone(), above));
            match known {
                KnownPlace::Directory { inode, device } if inode == Some(status.inode) && !tree => {
                    self.stack.push(ScanWork::Look(LookWork { directory, range, device, held: None }));
                }
                _ => {
                    if !look.with_directories && first.is_none() {
                        self.emit(status, CWD, name);
                    }
                    lock(&look.report).trees.push(self.path.clone());
                    self.stack.push(ScanWork::Directory(directory));
                }
            }
        }
    }

    /// Looks at the paths in a directory.
    pub(super) fn look(&mut self, work: LookWork) {
        let Some(look) = self.shared.look else { return };
        let LookWork { directory, mut range, device, held } = work;
        let opened = self.open(&directory);
        drop(held);
        let open = match opened {
            Ok(descriptor) => OpenDirectory { directory, descriptor },
            Err(error) => return self.cannot_open(&directory, error),
        };
        self.enter_path(&open.directory);
        self.enter_access(&open);
        self.enter_rules(&open, RuleNames::UNKNOWN);
        let (mut below, mut looked) = (NameList::default(), 0);
        while !self.shared.stopped()
            && let Some(found) = look.next_name(self.prefix, range.clone())
        {
            range.start = found.end;
            self.look_at(look, &open, &found, device, &mut below);
            looked += 1;
            if looked % SLICE == 0 && self.shared.queue.wants() {
                self.share_look(look, &open, &mut range, device);
            }
        }
        open.directory.root.count(std::mem::take(&mut self.entries));
        self.add_below(&open, below);
    }

    /// Gives the second half of the paths in a directory to another thread.
    fn share_look(
        &self,
        look: &Look<'_>,
        open: &OpenDirectory,
        range: &mut Range<usize>,
        device: Option<u64>,
    ) {
        let middle = range.start + range.len() / 2;
        let Some(found) = look.next_name(self.prefix, middle..range.end) else { return };
        // The paths of one name stay together.
        if found.end < range.end {
            let rest = found.end..range.end;
            range.end = found.end;
            self.shared.queue.give(ScanWork::Look(self.look_below(
                open,
                open.directory.clone(),
                rest,
                device,
            )));
        }
    }

    /// Work in a directory at or below an open one, which stays open for it if the limit allows.
    fn look_below(
        &self,
        open: &OpenDirectory,
        directory: Arc<ScanDirectory>,
        range: Range<usize>,
        device: Option<u64>,
    ) -> LookWork {
        open.directory.keep(&open.descriptor, &self.shared.kept);
        LookWork { directory, range, device, held: Some(HeldOpen::new(open.directory.clone())) }
    }

    /// Looks at a name. `parent` is the device of the directory as far as the caller knows it.
    fn look_at(
        &mut self,
        look: &Look<'_>,
        open: &OpenDirectory,
        found: &LookName,
        parent: Option<u64>,
        below: &mut NameList,
    ) {
        let Some(status) = self.status_of_name(look, open, found) else { return };
        let known = (look.known)(&self.path);
        if !status.is_directory() {
            return self.end_of_file(look, known);
        }
        let here = FoundName { name: &found.name, status };
        let same = match known {
            KnownPlace::Directory { inode, device } if inode == Some(here.status.inode) => {
                // Devices may have other numbers since the last start of the system.
                (device == parent) == (here.status.device == open.directory.device)
            }
            _ => false,
        };
        if !same || found.tree {
            if !look.with_directories && !found.is_named {
                self.emit(&here.status, open.descriptor.as_fd(), here.name);
            }
            lock(&look.report).trees.push(self.path.clone());
            return self.descend(open, &here, below);
        }
        if found.below.is_empty() {
            return;
        }
        let device = if let KnownPlace::Directory { device, .. } = known { device } else { None };
        let directory = match self.enters(open, &here) {
            EnteredDirectory::None => return,
            EnteredDirectory::Same => {
                Arc::new(ScanDirectory::below(open.directory.clone(), found.name.clone(), here.status.device))
            }
            EnteredDirectory::Other(directory) => directory,
        };
        let work = self.look_below(open, directory, found.below.clone(), device);
        self.stack.push(ScanWork::Look(work));
    }

    /// Reads the values of a name and lists it, as a scan of the directory would.
    fn status_of_name(
        &mut self,
        look: &Look<'_>,
        open: &OpenDirectory,
        found: &LookName,
    ) -> Option<ScanStatus> {
        let name = found.name.as_c_str();
        self.path.truncate(self.prefix);
        self.path.extend_from_slice(name.to_bytes());
        if !self.passes(name) {
            return None;
        }
        self.operation();
        let status = ScanStatus::read(open.descriptor.as_fd(), name, self.flags(AtFlags::SYMLINK_NOFOLLOW));
        let status = match status {
            Ok(status) => status,
            Err(Errno::NOENT | Errno::NOTDIR) => {
                self.nothing_there(look);
                return None;
            }
            Err(error) => {
                self.fail(error);
                return None;
            }
        };
        if !self.is_listed(&status) || self.is_ignored(open, status.is_directory()) {
            return None;
        }
        if !look.with_directories && !found.is_named {
            return Some(status);
        }
        if status.is_directory() || self.includes_file() {
            self.emit(&status, open.descriptor.as_fd(), name);
        } else {
            self.report.filtered.add(&self.path);
        }
        Some(status)
    }

    /// Nothing is at the current path.
    fn nothing_there(&self, look: &Look<'_>) {
        match (look.known)(&self.path) {
            KnownPlace::Nothing => {}
            KnownPlace::Other => lock(&look.report).files.push(self.path.clone()),
            KnownPlace::Directory { .. } => lock(&look.report).trees.push(self.path.clone()),
        }
    }

    /// No directory is at the current path: nothing is below it.
    fn end_of_file(&self, look: &Look<'_>, known: KnownPlace) {
        if matches!(known, KnownPlace::Directory { .. }) {
            lock(&look.report).trees.push(self.path.clone());
        }
    }
}

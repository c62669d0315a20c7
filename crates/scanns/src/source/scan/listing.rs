//! The loop of one thread of a scan: lists directories until none is pending.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;

use crate::source::scan::directory::ScanDirectory;
use crate::source::scan::entries::OpenDirectory;
use crate::source::scan::names::NameList;
use crate::source::scan::queue::{PendingList, ScanWork};
use crate::source::scan::rules::HeldNames;
use crate::source::scan::worker::ScanWorker;

/// The number of names after which a large directory is shared with other threads.
const SLICE: u64 = 128;

impl ScanWorker<'_> {
    /// Works until no thread has anything left to do.
    pub(super) fn run(&mut self) {
        let _closing = Closing(self.shared);
        while !self.shared.stopped() {
            self.share();
            let Some(work) = self.stack.pop().or_else(|| self.shared.queue.next()) else { break };
            match work {
                ScanWork::Below(pending) => self.scan_next(pending),
                ScanWork::Directory(directory) => self.scan(directory),
                ScanWork::Look(work) => self.look(work),
                ScanWork::Names(directory, descriptor, names) => {
                    self.take_names(&OpenDirectory { directory, descriptor }, names);
                }
            }
        }
        if self.shared.stopped() {
            self.shared.queue.close();
        }
        if !self.batches.flush() {
            self.shared.refused.store(true, Ordering::Relaxed);
        }
    }

    /// Gives work to threads without any.
    fn share(&mut self) {
        while self.shared.queue.wants() {
            if self.stack.len() > 1 {
                self.shared.queue.give(self.stack.remove(0));
            } else if let Some(ScanWork::Below(pending)) = self.stack.first_mut()
                && let Some(half) = pending.split()
            {
                self.shared.queue.give(ScanWork::Below(half));
            } else {
                break;
            }
        }
    }

    /// Scans a directory of a list.
    fn scan_next(&mut self, mut pending: PendingList) {
        let parent = pending.parent.clone();
        let Some(name) = pending.names.last().map(|(name, _)| name.to_owned()) else { return };
        pending.names.pop();
        let device = parent.device;
        let directory = Arc::new(ScanDirectory::below(parent, name, device));
        let opened = self.open(&directory);
        // A list that has come to its end lets the descriptor of its directory be closed.
        if !pending.names.is_empty() {
            self.stack.push(ScanWork::Below(pending));
        } else {
            drop(pending);
        }
        match opened {
            Ok(descriptor) => self.list(OpenDirectory { directory, descriptor }),
            Err(error) => self.cannot_open(&directory, error),
        }
    }

    fn scan(&mut self, directory: Arc<ScanDirectory>) {
        match self.open(&directory) {
            Ok(descriptor) => self.list(OpenDirectory { directory, descriptor }),
            Err(error) => self.cannot_open(&directory, error),
        }
    }

    pub(super) fn cannot_open(&mut self, directory: &ScanDirectory, error: Errno) {
        self.enter_path(directory);
        self.trim_path();
        let gone = matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP);
        if gone && directory.parent.is_some() {
            self.report.vanished.add(&self.path);
        } else {
            self.fail(error);
        }
    }

    /// Lists a directory and reads the values of its entries.
    fn list(&mut self, open: OpenDirectory) {
        self.enter_path(&open.directory);
        self.enter_access(&open);
        let mut buffer = std::mem::take(&mut self.listing);
        let mut listed = RawDir::new(open.descriptor.as_fd(), buffer.spare_capacity_mut());
        let mut below = NameList::default();
        let (mut names, mut is_whole) = (0, false);
        let mut slice = None;
        let mut held = self.shared.user.is_some().then(HeldNames::default);
        while !self.shared.stopped() {
            if listed.is_buffer_empty() {
                self.operation();
            }
            let entry = match listed.next() {
                None => {
                    is_whole = true;
                    break;
                }
                Some(Ok(entry)) => entry,
                Some(Err(Errno::INTR)) => continue,
                Some(Err(error)) => {
                    self.cannot_list(&open, error);
                    break;
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            names += 1;
            let may_be_directory = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            if let Some(kept) = &mut held {
                kept.push(name, may_be_directory);
                if kept.is_full() {
                    self.end_holding(&open, held.take(), false, &mut below);
                }
                continue;
            }
            if names % SLICE == 0 {
                slice = self.next_slice(&open, slice, &mut below);
            }
            match &mut slice {
                Some(slice) => slice.push(name, may_be_directory),
                None => self.take_name(&open, name, may_be_directory, &mut below),
            }
        }
        self.listing = buffer;
        self.end_holding(&open, held, is_whole, &mut below);
        if is_whole && names > 0 && self.entries == 0 {
            // If other threads list a part of it, some names may be entries.
            self.trim_path();
            self.report.unlisted.add(&self.path);
            if below.is_empty() && slice.is_none() {
                self.report.unlisted.leave_out(&self.path);
            }
        }
        self.end_listing(&open, is_whole && names == 0);
        self.add_below(&open, below);
        if let Some(names) = slice {
            self.take_names(&open, names);
        }
    }

    /// Hands out the last part of a large directory, and decides whether the next part is for another thread.
    fn next_slice(
        &mut self,
        open: &OpenDirectory,
        slice: Option<NameList>,
        below: &mut NameList,
    ) -> Option<NameList> {
        if let Some(names) = slice {
            let (directory, descriptor) = (open.directory.clone(), open.descriptor.clone());
            self.shared.queue.give(ScanWork::Names(directory, descriptor, names));
        }
        if self.shared.queue.wants() && !below.is_empty() {
            open.directory.keep(&open.descriptor, &self.shared.kept);
            let below = PendingList::new(open.directory.clone(), std::mem::take(below));
            self.shared.queue.give(ScanWork::Below(below));
        }
        self.shared.queue.wants().then(NameList::default)
    }

    fn cannot_list(&mut self, open: &OpenDirectory, error: Errno) {
        self.trim_path();
        if error == Errno::NOENT && open.directory.parent.is_some() {
            self.report.vanished.add(&self.path); // it was deleted after it was opened
        } else {
            self.fail(error);
        }
    }

    /// Reads the values of names in a directory.
    fn take_names(&mut self, open: &OpenDirectory, mut names: NameList) {
        self.enter_path(&open.directory);
        self.enter_access(open);
        let mut below = NameList::default();
        while !self.shared.stopped()
            && let Some((name, may_be_directory)) = names.last()
        {
            self.take_name(open, name, may_be_directory, &mut below);
            names.pop();
        }
        open.directory.root.count(std::mem::take(&mut self.entries));
        self.add_below(open, below);
    }

    fn end_listing(&mut self, open: &OpenDirectory, is_empty: bool) {
        let root = &open.directory.root;
        root.directories.fetch_add(1, Ordering::Relaxed);
        root.count(std::mem::take(&mut self.entries));
        let is_root = open.directory.name.as_bytes() == root.path.as_os_str().as_encoded_bytes();
        if is_empty && is_root {
            root.is_empty.store(true, Ordering::Relaxed);
        }
    }

    /// Makes directories pending.
    pub(super) fn add_below(&mut self, open: &OpenDirectory, below: NameList) {
        if below.is_empty() {
            return;
        }
        let pending = PendingList::new(open.directory.clone(), below);
        open.directory.keep(&open.descriptor, &self.shared.kept);
        self.set_last(&open.directory, &open.descriptor);
        self.stack.push(ScanWork::Below(pending));
    }
}

/// Lets the other threads end if this one panics, as they would wait for it.
struct Closing<'a>(&'a super::worker::ScanShared<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.queue.close();
        }
    }
}

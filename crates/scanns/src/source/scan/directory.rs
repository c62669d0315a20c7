//! A directory that is being scanned, or has something below it that is not finished.
//!
//! A directory has only its name and its parent, so that pending directories take little memory: the path of
//! an entry is put together when it is listed. Its descriptor is kept open while directories below it are
//! pending, if the limit allows; otherwise the directory is opened again from its nearest ancestor that is
//! open.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::source::access::AccessChain;
use crate::source::ignore::IgnoreRules;
use crate::source::scan::report::ScannedRoot;
use crate::source::scan::status::ScanStatus;
use crate::sys::{lock, now};

/// A named path, and what was counted of it so far.
#[derive(Debug)]
pub(super) struct RootState {
    pub(super) path: PathBuf,
    device: u64,
    mount: Option<u64>,
    pub(super) entries: AtomicU64,
    pub(super) directories: AtomicU64,
    /// Whether the listing of the path itself ended without any entry.
    pub(super) is_empty: AtomicBool,
    began: i64,
    ended: AtomicI64,
}

impl RootState {
    pub(super) fn new(path: PathBuf, status: &ScanStatus, began: i64) -> RootState {
        RootState {
            path,
            device: status.device,
            mount: status.mount,
            entries: AtomicU64::new(0),
            directories: AtomicU64::new(0),
            is_empty: AtomicBool::new(false),
            began,
            ended: AtomicI64::new(began),
        }
    }

    /// True if a directory is in another file system than the named path, or leads to another one.
    pub(super) fn is_outside(&self, status: &ScanStatus) -> bool {
        let same_mount = status.mount.is_some() && status.mount == self.mount;
        status.automount || status.device != self.device && !same_mount
    }

    /// Counts entries that were just read.
    pub(super) fn count(&self, entries: u64) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
        self.ended.fetch_max(now(), Ordering::Relaxed);
    }

    pub(super) fn report(&self) -> ScannedRoot {
        ScannedRoot {
            path: self.path.clone(),
            entries: self.entries.load(Ordering::Relaxed),
            directories: self.directories.load(Ordering::Relaxed),
            is_empty: self.is_empty.load(Ordering::Relaxed),
            began: self.began,
            ended: self.ended.load(Ordering::Relaxed),
        }
    }
}

/// What holds above a directory without a parent.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceAbove {
    /// The rules of the directories above it, if `.gitignore` files are respected.
    pub(super) rules: Option<IgnoreRules>,
    /// The checks on the way to it, if access classes are wanted.
    pub(super) way: Option<Arc<AccessChain>>,
}

/// The number of descriptors that are kept open, and its limit.
#[derive(Debug)]
pub(super) struct KeptDescriptors {
    kept: AtomicUsize,
    limit: AtomicUsize,
}

impl KeptDescriptors {
    pub(super) fn new(limit: usize) -> Self {
        KeptDescriptors { kept: AtomicUsize::new(0), limit: AtomicUsize::new(limit) }
    }

    /// Lets no more descriptors be kept, since the system has none left.
    pub(super) fn exhausted(&self) {
        self.limit.store(0, Ordering::Relaxed);
    }

    fn take(self: &Arc<Self>) -> Option<KeptPlace> {
        let place = KeptPlace(self.clone());
        let before = self.kept.fetch_add(1, Ordering::Relaxed);
        (before < self.limit.load(Ordering::Relaxed)).then_some(place)
    }
}

/// One descriptor in the count of those that are kept.
#[derive(Debug)]
struct KeptPlace(Arc<KeptDescriptors>);

impl Drop for KeptPlace {
    fn drop(&mut self) {
        self.0.kept.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A directory.
#[derive(Debug)]
pub(super) struct ScanDirectory {
    /// `None` for a named path, and for one to which a link leads.
    pub(super) parent: Option<Arc<ScanDirectory>>,
    /// The name in its parent; the whole path if it has none.
    pub(super) name: CString,
    pub(super) device: u64,
    pub(super) root: Arc<RootState>,
    /// The rules of the directories above one without a parent, if `.gitignore` files are respected.
    above: Option<IgnoreRules>,
    /// The rules in the directory, after it was listed.
    pub(super) rules: OnceLock<IgnoreRules>,
    /// The checks on the way to one without a parent, if access classes are wanted.
    way: Option<Arc<AccessChain>>,
    /// The checks on the way to what is in the directory, after it was opened.
    pub(super) access: OnceLock<Arc<AccessChain>>,
    kept: Mutex<Option<(Arc<OwnedFd>, KeptPlace)>>,
    /// The number of lists of directories below it that are not finished.
    lists: AtomicUsize,
}

impl ScanDirectory {
    /// A directory without a parent, by its whole path.
    pub(super) fn top(path: CString, device: u64, root: Arc<RootState>, above: PlaceAbove) -> Self {
        let (kept, lists, rules) = (Mutex::default(), AtomicUsize::new(0), OnceLock::new());
        let (PlaceAbove { rules: above, way }, access) = (above, OnceLock::new());
        ScanDirectory { parent: None, name: path, device, root, above, rules, way, access, kept, lists }
    }

    pub(super) fn below(parent: Arc<ScanDirectory>, name: CString, device: u64) -> Self {
        let (kept, lists, root) = (Mutex::default(), AtomicUsize::new(0), parent.root.clone());
        let (rules, access) = (OnceLock::new(), OnceLock::new());
        let (parent, above, way) = (Some(parent), None, None);
        ScanDirectory { parent, name, device, root, above, rules, way, access, kept, lists }
    }

    /// The checks on the way to the directory itself.
    pub(super) fn access_above(&self) -> Option<Arc<AccessChain>> {
        match &self.parent {
            Some(parent) => parent.access.get().cloned(),
            None => self.way.clone(),
        }
    }

    /// The rules of the directories above this one.
    pub(super) fn rules_above(&self) -> Option<&IgnoreRules> {
        self.parent.as_ref().map_or(self.above.as_ref(), |parent| parent.rules.get())
    }

    /// Replaces `path` by the path of the directory and a slash.
    pub(super) fn write_path(&self, path: &mut Vec<u8>) {
        let (mut len, mut directory) = (0, self);
        loop {
            let name = directory.name.as_bytes();
            len += name.len() + usize::from(!name.ends_with(b"/"));
            let Some(parent) = &directory.parent else { break };
            directory = parent;
        }
        path.clear();
        path.resize(len, b'/');
        let (mut end, mut directory) = (len, self);
        loop {
            let name = directory.name.as_bytes();
            let start = end.saturating_sub(name.len() + usize::from(!name.ends_with(b"/")));
            if let Some(place) = path.get_mut(start..start + name.len()) {
                place.copy_from_slice(name);
            }
            end = start;
            let Some(parent) = &directory.parent else { break };
            directory = parent;
        }
    }

    /// The descriptor, if it is kept open.
    pub(super) fn kept(&self) -> Option<Arc<OwnedFd>> {
        lock(&self.kept).as_ref().map(|(descriptor, _)| descriptor.clone())
    }

    /// Keeps the descriptor open for the directories below it, if the limit allows.
    pub(super) fn keep(&self, descriptor: &Arc<OwnedFd>, all: &Arc<KeptDescriptors>) {
        let mut kept = lock(&self.kept);
        if kept.is_none() {
            *kept = all.take().map(|place| (descriptor.clone(), place));
        }
    }

    pub(super) fn begin_list(&self) {
        self.lists.fetch_add(1, Ordering::Relaxed);
    }

    /// Closes the descriptor after the last list: nothing is opened below this directory any more. A list
    /// that begins at the same time in another thread opens the directory again.
    pub(super) fn end_list(&self) {
        if self.lists.fetch_sub(1, Ordering::Relaxed) == 1 {
            let kept = lock(&self.kept).take();
            drop(kept);
        }
    }
}

impl Drop for ScanDirectory {
    /// Drops the ancestors one by one: a recursion could exhaust the stack, as trees may be very deep.
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(mut directory) = parent.and_then(Arc::into_inner) {
            parent = directory.parent.take();
        }
    }
}

//! One thread of a scan: what all threads share, and what the thread has for itself.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::io::Errno;

use crate::source::access::Way;
use crate::source::filter::Filter;
use crate::source::ignore::UserRules;
use crate::source::inputs::Failure;
use crate::source::scan::access::AccessWork;
use crate::source::scan::attribute_reader::{AttributeReader, WithoutAttributes};
use crate::source::scan::batch_writer::{BatchWriter, Send};
use crate::source::scan::directory::{KeptDescriptors, ScanDirectory};
use crate::source::scan::found_link::FoundLinks;
use crate::source::scan::opening::Opener;
use crate::source::scan::options::ScanOptions;
use crate::source::scan::pace::Pace;
use crate::source::scan::places::Look;
use crate::source::scan::queue::{ScanQueue, ScanWork};
use crate::source::scan::report::{MOST_FAILURES, ScanReport};

/// The size of the buffer for listings: about 2000 names.
const LISTING: usize = 64 << 10;

/// How often a directory is tried again if there is no descriptor for it, and the pause before.
const TRIES: usize = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// Device and inode, which identify a file.
pub(super) type ScanIdentity = (u64, u64);

/// What all threads of a scan share.
pub(super) struct ScanShared<'a> {
    pub(super) options: &'a ScanOptions,
    pub(super) filter: &'a Filter,
    /// The patterns of the user, if `.gitignore` files are respected.
    pub(super) user: Option<UserRules>,
    pub(super) stop: &'a AtomicBool,
    pub(super) send: &'a Send<'a>,
    /// Set when nobody takes entries any more.
    pub(super) refused: AtomicBool,
    pub(super) queue: ScanQueue,
    pub(super) opener: Opener,
    pub(super) kept: Arc<KeptDescriptors>,
    pub(super) pace: Option<Pace>,
    /// The directory that is neither listed nor entered.
    pub(super) left_out: Option<ScanIdentity>,
    /// Failures so far, to limit their number.
    pub(super) failures: AtomicUsize,
    /// Directories met so far; only used if links are followed.
    pub(super) visited: Mutex<HashSet<ScanIdentity>>,
    /// The places of named paths in the trees of others. Only used if there are several.
    pub(super) claims: HashMap<ScanIdentity, Vec<PathBuf>>,
    pub(super) without_attributes: WithoutAttributes,
    /// Finds the checks on the way to named paths, if access classes are wanted.
    pub(super) way: Option<Mutex<Way>>,
    /// The paths at which to look, if not everything is scanned.
    pub(super) look: Option<&'a Look<'a>>,
}

impl ScanShared<'_> {
    /// True if the scan must end early.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.refused.load(Ordering::Relaxed)
    }
}

/// One thread of a scan.
pub(super) struct ScanWorker<'a> {
    pub(super) shared: &'a ScanShared<'a>,
    pub(super) stack: Vec<ScanWork>,
    pub(super) batches: BatchWriter<'a>,
    pub(super) report: ScanReport,
    /// Links to follow after everything else.
    pub(super) links: FoundLinks,
    /// The path of the current entry.
    pub(super) path: Vec<u8>,
    /// The length of the path of the current directory with a slash, in `path`.
    pub(super) prefix: usize,
    /// Entries that were not yet added to the root's count.
    pub(super) entries: u64,
    pub(super) target: Vec<u8>,
    pub(super) listing: Vec<u8>,
    /// What reads extended attributes and ACLs, if they are wanted.
    pub(super) attributes: Option<Box<AttributeReader>>,
    /// What finds the access classes of entries, if they are wanted.
    pub(super) access: Option<Box<AccessWork>>,
    /// The directory that was used last, in case that the limit does not let it keep its descriptor.
    last: Option<(Arc<ScanDirectory>, Arc<OwnedFd>)>,
}

impl<'a> ScanWorker<'a> {
    pub(super) fn new(shared: &'a ScanShared<'a>) -> Self {
        ScanWorker {
            shared,
            stack: Vec::new(),
            batches: BatchWriter::new(shared.send),
            report: ScanReport::default(),
            links: Vec::new(),
            path: Vec::new(),
            prefix: 0,
            entries: 0,
            target: Vec::new(),
            listing: Vec::with_capacity(LISTING),
            attributes: AttributeReader::new(shared.options),
            access: shared.way.as_ref().map(|_| Box::new(AccessWork::new())),
            last: None,
        }
    }

    /// Counts a metadata operation, and waits until it may begin.
    #[inline]
    pub(super) fn operation(&mut self) {
        self.report.operations += 1;
        if let Some(pace) = &self.shared.pace {
            pace.wait(|| self.shared.stopped());
        }
    }

    /// Reports that nothing is known of the current path.
    pub(super) fn fail(&mut self, error: Errno) {
        self.fail_at(path_of(&self.path), std::io::Error::from(error).to_string());
    }

    pub(super) fn fail_at(&mut self, path: PathBuf, reason: String) {
        if self.shared.failures.fetch_add(1, Ordering::Relaxed) < MOST_FAILURES {
            self.report.unread.push(Failure { path, reason });
        } else {
            self.report.unread_more += 1;
        }
    }

    /// Sets the current path to a directory's.
    pub(super) fn enter_path(&mut self, directory: &ScanDirectory) {
        directory.write_path(&mut self.path);
        self.prefix = self.path.len();
    }

    /// Removes the name and the slash at the end, so that the path is the current directory's.
    pub(super) fn trim_path(&mut self) {
        self.path.truncate(self.prefix.saturating_sub(1).max(1));
    }

    /// Opens a directory in its parent, or a named one by its path.
    pub(super) fn open(&mut self, directory: &Arc<ScanDirectory>) -> rustix::io::Result<Arc<OwnedFd>> {
        let opened = match &directory.parent {
            None => self.open_with(|worker| worker.shared.opener.open_path(&directory.name))?,
            Some(parent) => {
                let parent = self.descriptor(parent)?;
                self.open_with(|worker| worker.shared.opener.open(parent.as_fd(), &directory.name, false))?
            }
        };
        Ok(Arc::new(opened))
    }

    /// The descriptor of a directory: one that is open, or a new one.
    fn descriptor(&mut self, directory: &Arc<ScanDirectory>) -> rustix::io::Result<Arc<OwnedFd>> {
        let mut closed = Vec::new();
        let mut nearest = Some(directory);
        let mut descriptor = None;
        while let Some(ancestor) = nearest {
            descriptor = ancestor.kept().or_else(|| self.last_of(ancestor));
            if descriptor.is_some() {
                break;
            }
            closed.push(ancestor);
            nearest = ancestor.parent.as_ref();
        }
        let mut descriptor = match descriptor {
            Some(descriptor) => descriptor,
            None => match closed.pop() {
                Some(top) => self.open(top)?,
                None => return Err(Errno::NOENT),
            },
        };
        for below in closed.into_iter().rev() {
            let opened =
                self.open_with(|worker| worker.shared.opener.open(descriptor.as_fd(), &below.name, false))?;
            descriptor = Arc::new(opened);
        }
        self.set_last(directory, &descriptor);
        Ok(descriptor)
    }

    fn last_of(&self, directory: &Arc<ScanDirectory>) -> Option<Arc<OwnedFd>> {
        let (last, descriptor) = self.last.as_ref()?;
        Arc::ptr_eq(last, directory).then(|| descriptor.clone())
    }

    /// Keeps the descriptor of the directory whose subdirectories are next.
    pub(super) fn set_last(&mut self, directory: &Arc<ScanDirectory>, descriptor: &Arc<OwnedFd>) {
        if self.last_of(directory).is_none() {
            self.last = Some((directory.clone(), descriptor.clone()));
        }
    }

    /// Opens a directory; waits for a while if there are no descriptors.
    fn open_with(
        &mut self,
        open: impl Fn(&Self) -> rustix::io::Result<OwnedFd>,
    ) -> rustix::io::Result<OwnedFd> {
        for _ in 0..TRIES {
            self.operation();
            match open(self) {
                Err(Errno::MFILE | Errno::NFILE) if !self.shared.stopped() => {
                    self.shared.kept.exhausted();
                    self.last = None;
                    std::thread::sleep(PAUSE);
                }
                opened => return opened,
            }
        }
        Err(Errno::MFILE)
    }
}

/// A path of these bytes.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// A path as the system takes it. Paths from the system have no NUL in them.
pub(super) fn c_path(path: &std::path::Path) -> Result<CString, Errno> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)
}

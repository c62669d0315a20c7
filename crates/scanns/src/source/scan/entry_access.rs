//! What a scan does about the rights of users: it adds the class of each entry, as `source/access/` describes
//! it.
//!
//! A directory is looked at again when it is opened, so that its permissions are those of the directory that
//! is listed. Its chain of checks is kept with it, for threads that list a part of it.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::AtFlags;

use crate::source::access::AccessChain;
use crate::source::entry_kind::EntryKind;
use crate::source::scan::entries::OpenDirectory;
use crate::source::scan::status::ScanStatus;
use crate::source::scan::worker::ScanWorker;
use crate::sys::lock;

impl ScanWorker<'_> {
    /// The checks on the way to a named path; none if they are not wanted.
    pub(super) fn way_to(&self, path: &Path) -> Option<Arc<AccessChain>> {
        let way = self.shared.way.as_ref()?;
        Some(lock(way).to(path))
    }

    /// Goes on with entries to which these checks lead.
    pub(super) fn set_way(&mut self, chain: Option<&Arc<AccessChain>>) {
        if let (Some(access), Some(chain)) = (&mut self.access, chain) {
            access.set_chain(chain.clone());
        }
    }

    /// Finds the checks on the way into the current directory, if no thread did so before.
    pub(super) fn enter_access(&mut self, open: &OpenDirectory) {
        let Some(mut access) = self.access.take() else { return };
        let directory = &open.directory;
        let chain = match directory.access.get() {
            Some(chain) => chain.clone(),
            None => {
                (0..2).for_each(|_| self.operation());
                let above = directory.access_above().unwrap_or_else(AccessChain::unknown);
                let descriptor = open.descriptor.as_fd();
                let status = ScanStatus::read(descriptor, c"", self.flags(AtFlags::EMPTY_PATH)).ok();
                let path = self.path.get(..self.prefix.saturating_sub(1).max(1)).unwrap_or_default();
                let permissions =
                    status.and_then(|status| access.permissions(&status, descriptor, None, path));
                let chain = match permissions {
                    Some(permissions) => above.enter(&permissions),
                    None => above.enter_unknown(),
                };
                // Another thread may have found it at the same time.
                directory.access.get_or_init(|| chain).clone()
            }
        };
        access.set_chain(chain);
        self.access = Some(access);
    }

    /// Finds the class of the current path.
    #[inline]
    pub(super) fn find_access(&mut self, status: &ScanStatus, directory: BorrowedFd<'_>, name: &CStr) {
        let Some(mut access) = self.access.take() else { return };
        if status.values.kind != Some(EntryKind::Link) {
            self.operation();
        }
        let own = access.permissions(status, directory, Some(name), &self.path);
        access.find_class(status.values.kind, own);
        if access.is_undecided {
            self.report.undecided_access.add(&self.path);
        }
        self.access = Some(access);
    }
}

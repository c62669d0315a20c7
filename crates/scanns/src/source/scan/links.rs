//! Links that are followed.
//!
//! Links to directories are followed after everything else has been scanned, by path, then links below these
//! directories, and at last links to files, so that the result does not depend on the threads. A link is
//! listed with the values of its target. It stays a link if it leads to nothing, to a file system that is
//! left out, or to something that is listed by another path: so every name is listed, and every directory
//! once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD};

use crate::source::scan::directory::{PlaceAbove, RootState, ScanDirectory};
use crate::source::scan::found_link::{FoundLink, FoundLinks};
use crate::source::scan::opening::{status_of, target_of};
use crate::source::scan::queue::ScanWork;
use crate::source::scan::status::ScanStatus;
use crate::source::scan::worker::{ScanWorker, c_path};
use crate::sys::lock;

/// What is known of links while they are followed.
#[derive(Default)]
pub(super) struct FollowedLinks {
    /// Links that do not lead to directories.
    pub(super) others: FoundLinks,
    /// The files to which links have led.
    files: HashSet<PathBuf>,
}

impl ScanWorker<'_> {
    /// Lists links to directories, and makes these directories pending. Other links are left for later.
    pub(super) fn begin_links(&mut self, links: FoundLinks, followed: &mut FollowedLinks) {
        let leads_to_directory = |link: &Path| {
            let status = c_path(link).and_then(|name| status_of(&name, AtFlags::empty()));
            status.is_ok_and(|status| status.is_directory())
        };
        let (directories, mut others) =
            links.into_iter().partition::<FoundLinks, _>(|link| leads_to_directory(&link.path));
        self.report.operations += others.len() as u64;
        followed.others.append(&mut others);
        self.follow_all(directories, followed);
    }

    /// Lists links.
    pub(super) fn follow_all(&mut self, mut links: FoundLinks, followed: &mut FollowedLinks) {
        links.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        for link in links {
            if self.shared.stopped() {
                break;
            }
            self.path.clear();
            self.path.extend_from_slice(link.path.as_os_str().as_encoded_bytes());
            if let Err(error) = self.follow(&link, &mut followed.files) {
                self.fail(error);
            }
            link.root.count(std::mem::take(&mut self.entries));
        }
    }

    fn follow(&mut self, found: &FoundLink, known: &mut HashSet<PathBuf>) -> rustix::io::Result<()> {
        let FoundLink { root, path: link, rules } = found;
        let name = c_path(link)?;
        self.operation();
        let status = status_of(&name, self.flags(AtFlags::empty())).ok();
        let status = status.filter(|status| self.is_new_target(root, link, status, known));
        let is_directory = status.as_ref().is_some_and(ScanStatus::is_directory);
        let included = is_directory || self.shared.filter.takes_file(link);
        let Some(status) = status else {
            if included {
                self.emit_link(link)?;
            } else {
                self.report.filtered.add(&self.path);
            }
            return Ok(());
        };
        if included {
            self.emit(&status, CWD, &name);
        } else {
            self.report.filtered.add(&self.path);
        }
        if status.is_directory() {
            let above = PlaceAbove { rules: rules.clone(), way: None };
            let directory = ScanDirectory::top(name, status.device, root.clone(), above);
            self.stack.push(ScanWork::Directory(Arc::new(directory)));
        }
        Ok(())
    }

    /// Whether a link leads to something that is not listed by another path, and may be.
    fn is_new_target(
        &mut self,
        root: &RootState,
        link: &Path,
        status: &ScanStatus,
        known: &mut HashSet<PathBuf>,
    ) -> bool {
        if self.shared.options.one_file_system && root.is_outside(status) {
            self.report.other_file_systems.add(&self.path);
            return false;
        }
        if status.is_directory() {
            return self.may_follow(link, status) && lock(&self.shared.visited).insert(status.identity());
        }
        let Ok(real) = link.canonicalize() else { return false };
        let parent = real.parent().and_then(|parent| c_path(parent).ok());
        self.operation();
        let parent = parent.and_then(|parent| status_of(&parent, AtFlags::empty()).ok());
        let is_listed = |parent: &ScanStatus| lock(&self.shared.visited).contains(&parent.identity());
        let listed = parent.as_ref().is_some_and(is_listed) && self.shared.filter.takes_file(&real);
        !listed && known.insert(real)
    }

    /// Lists a link as such.
    fn emit_link(&mut self, link: &Path) -> rustix::io::Result<()> {
        let name = c_path(link)?;
        self.operation();
        let status = status_of(&name, self.flags(AtFlags::SYMLINK_NOFOLLOW))?;
        self.operation();
        let target = target_of(&name).ok();
        self.emit_with(&status, target.as_deref());
        Ok(())
    }
}

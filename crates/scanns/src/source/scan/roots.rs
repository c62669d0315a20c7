//! The named paths of a scan.
//!
//! A path that is named twice, also by a link, is scanned once, under the first of its names. A named path
//! below another one is left out there, with its tree, and scanned by itself: so it is there once, whatever
//! lies between the two. Paths are the same if device and inode are, and the path without links is. Device
//! and inode alone do not suffice, as bind mounts have the same.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;

use crate::source::absolute::absolute;
use crate::source::inputs::Failure;
use crate::source::scan::directory::{PlaceAbove, RootState, ScanDirectory};
use crate::source::scan::opening::{Opener, status_of};
use crate::source::scan::queue::ScanWork;
use crate::source::scan::report::ScanReport;
use crate::source::scan::status::ScanStatus;
use crate::source::scan::worker::{ScanIdentity, ScanWorker, c_path};
use crate::sys::now;

/// A named path that exists.
pub(super) struct NamedPath {
    pub(super) name: CString,
    /// The path without links.
    real: PathBuf,
    pub(super) status: ScanStatus,
    pub(super) root: Arc<RootState>,
}

/// Finds the named paths; those that cannot be read are reported.
pub(super) fn named_paths(paths: &[PathBuf], opener: &Opener, report: &mut ScanReport) -> Vec<NamedPath> {
    let mut places = BTreeSet::new();
    for path in paths {
        match absolute(path) {
            Ok(place) if places.contains(&place) => report.repeated.add(place.as_os_str().as_bytes()),
            Ok(place) => drop(places.insert(place)),
            Err(error) => report.unread.push(Failure { path: path.clone(), reason: error.to_string() }),
        }
    }
    let mut known = HashSet::new();
    let mut found = Vec::new();
    for path in places {
        report.operations += 1;
        match named_path(&path, opener) {
            Ok(named) if known.insert(named.real.clone()) => found.push(named),
            Ok(_) => report.repeated.add(path.as_os_str().as_bytes()),
            Err(error) => {
                report.unread.push(Failure { path, reason: std::io::Error::from(error).to_string() });
            }
        }
    }
    found
}

fn named_path(path: &std::path::Path, opener: &Opener) -> Result<NamedPath, Errno> {
    let began = now();
    let name = c_path(path)?;
    let mut status = status_of(&name, AtFlags::empty())?;
    if status.automount {
        let opened = opener.open_path(&name)?;
        status = ScanStatus::read(opened.as_fd(), c"", AtFlags::EMPTY_PATH)?;
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let root = Arc::new(RootState::new(path.to_path_buf(), &status, began));
    Ok(NamedPath { name, real, status, root })
}

/// The directories among the named paths.
pub(super) fn directories(named: &[NamedPath]) -> HashSet<ScanIdentity> {
    let directories = named.iter().filter(|named| named.status.is_directory());
    directories.map(|named| named.status.identity()).collect()
}

/// The places at which named paths are in the trees of others: the places themselves, and links to them that
/// were named.
pub(super) fn claims(named: &[NamedPath]) -> HashMap<ScanIdentity, Vec<PathBuf>> {
    let mut claims: HashMap<_, Vec<_>> = HashMap::new();
    if named.len() < 2 {
        return claims;
    }
    for path in named {
        claims.entry(path.status.identity()).or_default().push(path.real.clone());
        let link = status_of(&path.name, AtFlags::SYMLINK_NOFOLLOW);
        let (Some(parent), Some(name)) = (path.root.path.parent(), path.root.path.file_name()) else {
            continue;
        };
        if let (Ok(link), Ok(parent)) = (link, parent.canonicalize()) {
            claims.entry(link.identity()).or_default().push(parent.join(name));
        }
    }
    claims
}

impl ScanWorker<'_> {
    /// Lists the named paths, and makes the directories among them pending.
    pub(super) fn begin_named(&mut self, named: &[NamedPath]) {
        for NamedPath { name, status, root, .. } in named {
            self.path.clear();
            self.path.extend_from_slice(name.as_bytes());
            let way = self.way_to(&root.path);
            self.set_way(way.as_ref());
            self.emit(status, CWD, name);
            root.count(std::mem::take(&mut self.entries));
            if status.is_directory() {
                let above = PlaceAbove { rules: self.rules_above(root), way };
                let directory = ScanDirectory::top(name.clone(), status.device, root.clone(), above);
                self.stack.push(ScanWork::Directory(Arc::new(directory)));
            }
        }
    }
}

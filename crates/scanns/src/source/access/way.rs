//! The checks on the way to a named path.
//!
//! The kernel asks for search permission on every directory that it passes, also on those of the targets of
//! links. A walk begins at the uppermost directory that the index covers: from there on, directories must be
//! listed, too.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::source::absolute::absolute;
use crate::source::access::acl_reader::AclReader;
use crate::source::access::chain::AccessChain;
use crate::source::access::class::AccessNeed;
use crate::source::access::gate::Gate;
use crate::source::access::permissions::AskedPermission;

/// The most links that are followed, as on Linux.
const MOST_LINKS: usize = 40;

/// Finds the checks on the way to paths.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// Directories that the index covers, or will cover.
    pub(crate) covered: Vec<PathBuf>,
    acls: AclReader,
}

/// What is left of a path on the way through its directories.
struct WayRest {
    /// The directory that is reached, without links.
    place: PathBuf,
    names: VecDeque<OsString>,
    links: usize,
    gates: Vec<(AccessNeed, Gate)>,
}

impl Way {
    /// The way for a scan of the paths `named` for an index that covers others.
    pub(crate) fn new(covered: &[PathBuf], named: &[PathBuf]) -> Self {
        let named = named.iter().filter_map(|path| absolute(path).ok());
        Way { covered: covered.iter().cloned().chain(named).collect(), acls: AclReader::default() }
    }

    /// The checks on the way to an absolute path, and through the link if it is one. A directory that cannot
    /// be examined makes them undecided.
    pub(crate) fn to(&mut self, path: &Path) -> Arc<AccessChain> {
        let chain = Arc::<AccessChain>::default().with(self.searched(path));
        let first =
            path.ancestors().filter(|place| self.covered.iter().any(|covered| covered == place)).last();
        let Some(first) = first.map(Path::to_path_buf) else { return chain };
        let listed = path.ancestors().skip(1).take_while(|place| place.starts_with(&first));
        let gates: Vec<_> =
            listed.map(|place| (AccessNeed::List, self.gate(place, AskedPermission::Read))).collect();
        chain.with(gates)
    }

    /// The checks of searches on the way to an absolute path, and through the link if it is one.
    fn searched(&mut self, path: &Path) -> Vec<(AccessNeed, Gate)> {
        let mut rest =
            WayRest { place: PathBuf::from("/"), names: names(path).collect(), links: 0, gates: Vec::new() };
        match self.walk(&mut rest) {
            Ok(()) => rest.gates,
            Err(_) => vec![(AccessNeed::Search, Gate::undecided())],
        }
    }

    fn walk(&mut self, rest: &mut WayRest) -> io::Result<()> {
        while let Some(name) = rest.names.pop_front() {
            let gate = self.gate(&rest.place, AskedPermission::Search);
            rest.gates.push((AccessNeed::Search, gate));
            if name == ".." {
                rest.place.pop();
                continue;
            }
            rest.place.push(name);
            if !fs::symlink_metadata(&rest.place)?.is_symlink() {
                continue;
            }
            rest.links += 1;
            if rest.links > MOST_LINKS {
                return Err(io::Error::other("too many links"));
            }
            let target = fs::read_link(&rest.place)?;
            rest.place.pop();
            if target.is_absolute() {
                rest.place = PathBuf::from("/");
            }
            for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
                rest.names.push_front(name);
            }
        }
        Ok(())
    }

    /// Who has a permission on a directory.
    fn gate(&mut self, place: &Path, permission: AskedPermission) -> Gate {
        match fs::metadata(place) {
            Ok(meta) => Gate::of(&self.acls.permissions(place, &meta, true), permission),
            Err(_) => Gate::undecided(),
        }
    }
}

/// The names of a path, `..` among them.
fn names(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

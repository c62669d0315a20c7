//! What the kernel lets a user see: a thread takes on the identity of the user, walks, and opens.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, OFlags, accessat};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::source::access::AccessUser;

/// What a user sees of a tree.
#[derive(Debug, Default)]
pub struct Seen {
    /// The paths that a walk finds.
    pub entries: HashSet<PathBuf>,
    /// Of all paths, those whose content can be read.
    pub contents: HashSet<PathBuf>,
}

/// Does something in a thread that takes on the identity of a user. Threads that it starts have it, too.
pub fn as_user<T: Send>(user: &AccessUser, action: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let act = || {
            let groups: Vec<Gid> = user.groups().iter().map(|&gid| Gid::from_raw(gid)).collect();
            let (uid, gid) = (Uid::from_raw(user.uid()), Gid::from_raw(user.gid()));
            set_thread_groups(&groups).unwrap();
            set_thread_res_gid(gid, gid, gid).unwrap();
            set_thread_res_uid(uid, uid, uid).unwrap();
            action()
        };
        scope.spawn(act).join().unwrap()
    })
}

/// What a user sees of the tree at `root`, of which `all` are the paths.
pub fn seen_by(user: &AccessUser, root: &Path, all: &[PathBuf]) -> Seen {
    as_user(user, || {
        let mut seen = Seen::default();
        walk(root, &mut seen.entries);
        seen.contents = all.iter().filter(|path| is_readable(path)).cloned().collect();
        seen
    })
}

fn walk(path: &Path, found: &mut HashSet<PathBuf>) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    found.insert(path.to_path_buf());
    if meta.is_dir()
        && let Ok(entries) = fs::read_dir(path)
    {
        entries.flatten().for_each(|entry| walk(&entry.path(), found));
    }
}

fn is_readable(path: &Path) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let kind = meta.file_type();
    if kind.is_symlink() {
        fs::read_link(path).is_ok()
    } else if kind.is_file() {
        // The access time stays, which only owners may leave alone.
        File::open(path).is_ok()
    } else if kind.is_dir() {
        let flags = i32::try_from((OFlags::DIRECTORY | OFlags::NOFOLLOW).bits()).unwrap();
        OpenOptions::new().read(true).custom_flags(flags).open(path).is_ok()
    } else {
        accessat(CWD, path, Access::READ_OK, AtFlags::EACCESS).is_ok()
    }
}

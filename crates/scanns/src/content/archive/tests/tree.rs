//! A random tree of files, and what an archive of it must have.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::MemberKind;

/// A member that an archive of the tree must have.
#[derive(Debug)]
pub(super) struct Expected {
    pub(super) kind: MemberKind,
    pub(super) content: Vec<u8>,
    pub(super) target: Option<Vec<u8>>,
    pub(super) mode: u32,
    pub(super) modified: i64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) inode: u64,
    pub(super) links: u64,
}

/// Which names a tree has.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Names {
    /// Paths of at most 90 bytes of ASCII.
    Short,
    /// Paths of up to 600 bytes, with newlines and bytes that are not UTF-8.
    Any,
}

/// Makes a tree in `root/tree`.
pub(super) fn make(root: &Path, names: Names, random: &mut fastrand::Rng) {
    let base = root.join("tree");
    fs::create_dir(&base).unwrap();
    let mut directories = vec![base.clone()];
    for number in 0..8 {
        let parent = random.choice(&directories).unwrap().clone();
        let path = parent.join(name(number, names, random));
        if fits(&path, root, names) {
            fs::create_dir(&path).unwrap();
            directories.push(path);
        }
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for number in 8..40 {
        let path = random.choice(&directories).unwrap().join(name(number, names, random));
        if !fits(&path, root, names) {
            continue;
        }
        match number % 8 {
            6 => symlink(Path::new("../some where").join(name(number, names, random)), &path).unwrap(),
            7 if !files.is_empty() => fs::hard_link(random.choice(&files).unwrap(), &path).unwrap(),
            _ => {
                fs::write(&path, content(random)).unwrap();
                files.push(path);
            }
        }
    }
    for path in files.iter().chain(&directories) {
        let seconds = random.u64(0..2_000_000_000);
        let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, random.u32(0..1_000_000_000));
        File::open(path).unwrap().set_modified(time).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600 | random.u32(0..0o200))).unwrap();
    }
    for path in directories {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
}

fn fits(path: &Path, root: &Path, names: Names) -> bool {
    let length = path.strip_prefix(root).unwrap().as_os_str().len();
    length <= if names == Names::Short { 90 } else { 600 }
}

fn name(number: usize, names: Names, random: &mut fastrand::Rng) -> PathBuf {
    let mut bytes = format!("{number}-").into_bytes();
    let length = match (names, random.u8(0..4)) {
        (Names::Short, _) => random.usize(1..20),
        (Names::Any, 0) => random.usize(90..250),
        (Names::Any, _) => random.usize(1..40),
    };
    for _ in 0..length {
        bytes.push(match names {
            Names::Short => random.choice(b"abcxyz .-_").copied().unwrap(),
            Names::Any => random.choice(b"abc \n\t'\"\\*\xe4\xff\xc3\xa4").copied().unwrap(),
        });
    }
    bytes.push(b'e');
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

fn content(random: &mut fastrand::Rng) -> Vec<u8> {
    let length = random.choice([0, 1, 3, 511, 512, 513, 1024, 70_000, 200_001]).unwrap();
    if random.bool() {
        (0..length).map(|_| random.u8(..)).collect()
    } else {
        b"some text that repeats, ".iter().copied().cycle().take(length).collect()
    }
}

/// What the tree in `root/tree` has, by path.
pub(super) fn expected(root: &Path) -> BTreeMap<Vec<u8>, Expected> {
    let mut all = BTreeMap::new();
    let mut left = vec![PathBuf::from("tree")];
    while let Some(path) = left.pop() {
        let full = root.join(&path);
        let stat = fs::symlink_metadata(&full).unwrap();
        let mut one = Expected {
            kind: MemberKind::File,
            content: Vec::new(),
            target: None,
            mode: stat.mode() & 0o7777,
            modified: stat.mtime() * 1_000_000_000 + stat.mtime_nsec(),
            uid: stat.uid(),
            gid: stat.gid(),
            inode: stat.ino(),
            links: stat.nlink(),
        };
        if stat.is_dir() {
            one.kind = MemberKind::Directory;
            left.extend(fs::read_dir(&full).unwrap().map(|entry| path.join(entry.unwrap().file_name())));
        } else if stat.is_symlink() {
            one.kind = MemberKind::Symlink;
            one.target = Some(fs::read_link(&full).unwrap().into_os_string().into_vec());
        } else {
            one.content = fs::read(&full).unwrap();
        }
        all.insert(path.as_os_str().as_bytes().to_vec(), one);
    }
    all
}

/// The path of a member in the tree.
pub(super) fn in_root(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

//! Random trees with owners, modes and ACLs.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use rustix::fs::{CWD, FileType, Mode, XattrFlags, lsetxattr, mknodat};

/// The first of the numbers of users and groups in trees. Nobody on this system has them.
pub const FIRST: u32 = 52_000;

const DIRECTORY_MODES: [u32; 10] = [0o755, 0o755, 0o755, 0o711, 0o750, 0o770, 0o710, 0o751, 0o744, 0o700];
const FILE_MODES: [u32; 8] = [0o644, 0o644, 0o664, 0o640, 0o600, 0o604, 0o044, 0o040];

/// The number of a user or group.
pub fn number(random: &mut Rng) -> u32 {
    FIRST + random.u32(..8)
}

/// Makes a tree of about this number of entries in a directory; true if the file system has ACLs.
pub fn make(root: &Path, entries: usize, random: &mut Rng) -> bool {
    let (mut directories, mut files, mut has_acls) = (vec![root.to_path_buf()], Vec::<PathBuf>::new(), true);
    has_acls &= dress(root, 0o755, random);
    for number in 0..entries {
        // Trees are deep rather than wide.
        let near = directories.len().saturating_sub(1 + random.usize(..directories.len().min(12)));
        let parent =
            directories[if random.u8(..4) == 0 { random.usize(..directories.len()) } else { near }].clone();
        let path = parent.join(format!("n{number}"));
        match random.u8(..100) {
            0..20 => {
                fs::create_dir(&path).unwrap();
                directories.push(path.clone());
            }
            20..26 => {
                let target =
                    if random.bool() { "..".into() } else { root.join(format!("n{}", random.usize(..20))) };
                symlink(target, &path).unwrap();
            }
            26..36 if !files.is_empty() => {
                // Another name of a file has the same owner, mode and ACL.
                fs::hard_link(&files[random.usize(..files.len())], &path).unwrap();
                continue;
            }
            36..39 => {
                mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
            }
            _ => {
                fs::write(&path, path.as_os_str().as_bytes()).unwrap();
                files.push(path.clone());
            }
        }
        let is_directory = path.symlink_metadata().unwrap().is_dir();
        let modes: &[u32] = if is_directory { &DIRECTORY_MODES } else { &FILE_MODES };
        let mode =
            if random.u8(..8) == 0 { random.u32(..0o1000) } else { modes[random.usize(..modes.len())] };
        has_acls &= dress(&path, mode, random);
    }
    has_acls
}

/// Gives a path an owner, a mode, and perhaps ACLs; false if the file system has none.
fn dress(path: &Path, mode: u32, random: &mut Rng) -> bool {
    let owner = if random.u8(..10) == 0 { 0 } else { number(random) };
    lchown(path, Some(owner), Some(number(random))).unwrap();
    let kind = path.symlink_metadata().unwrap();
    if kind.is_symlink() {
        return true;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mut has_acls = true;
    if random.u8(..4) == 0 {
        has_acls &= set_acl(path, "system.posix_acl_access", random);
    }
    if kind.is_dir() && random.u8(..8) == 0 {
        has_acls &= set_acl(path, "system.posix_acl_default", random);
    }
    has_acls
}

fn set_acl(path: &Path, name: &str, random: &mut Rng) -> bool {
    let mut entries: Vec<(u16, u32)> = vec![(1, u32::MAX)];
    let mut numbers: Vec<u32> = (0..8).map(|at| FIRST + at).collect();
    random.shuffle(&mut numbers);
    let (users, groups) = (random.usize(..4), random.usize(..4));
    let mut named = |tag, count: usize| {
        let mut some = numbers[..count].to_vec();
        some.sort_unstable();
        numbers.rotate_left(3);
        entries.extend(some.into_iter().map(|id| (tag, id)));
        if tag == 2 {
            entries.push((4, u32::MAX));
        }
    };
    named(2, users);
    named(8, groups);
    if users + groups > 0 || random.bool() {
        entries.push((16, u32::MAX));
    }
    entries.push((32, u32::MAX));
    let mut bytes = vec![2, 0, 0, 0];
    for (tag, id) in entries {
        // Masks without permissions are a case of their own.
        let permissions = if tag == 16 && random.u8(..3) == 0 { random.u16(..2) } else { random.u16(..8) };
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    let name = CString::new(name).unwrap();
    lsetxattr(path, name.as_c_str(), &bytes, XattrFlags::empty()).is_ok()
}

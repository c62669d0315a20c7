//! A tree with everything that is odd in file systems.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

const NAMES: [&[u8]; 36] = [
    b"a",
    b"b.h5",
    b"UPPER.H5",
    b"with space",
    b"tab\there",
    b"new\nline",
    b"quote\"d",
    b"back\\slash",
    b"'single'",
    b"\xff\xfe",
    "Ünïcode".as_bytes(),
    b"-dash",
    b"(",
    b"!",
    b"[a]",
    b"[ab",
    b"*star",
    b"q?mark",
    b".hidden",
    b"..dots",
    b"...",
    b"a,b",
    b"{}",
    b"%p",
    b"~",
    b"\x01control",
    b"\x7f",
    b"\r",
    b"b.h5.bak",
    b"data_1.csv",
    b"data_22.csv",
    b"Z",
    b"z",
    b"_",
    b"0",
    b"\x80\xe9",
];

const MODES: [u32; 14] =
    [0o644, 0o600, 0o755, 0o4755, 0o2755, 0o1777, 0o7777, 0o000, 0o4644, 0o2644, 0o1644, 0o111, 0o222, 0o666];

const SIZES: [u64; 14] =
    [0, 1, 2, 511, 512, 513, 1023, 1024, 1025, 4096, 100_000, 1 << 20, (1 << 20) + 1, (1 << 30) + 1];

/// Builds the tree below `root`, which does not exist yet. The same seed gives the same tree.
pub(super) fn build(root: &Path, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    fs::create_dir(root).unwrap();
    let mut directories = vec![root.to_owned()];
    for depth in 0..7 {
        let parent = directories[random.usize(..directories.len())].clone();
        for name in [&b"dir"[..], b"Sub.d", b"x y", b"e"] {
            let path = parent.join(OsStr::from_bytes(name)).join(format!("{depth}"));
            fs::create_dir_all(&path).unwrap();
            directories.extend([path.parent().unwrap().to_owned(), path]);
        }
    }
    directories.sort();
    directories.dedup();
    let files = files(&directories, &mut random);
    links(&directories, &files, &mut random);
    special(root);
    for directory in directories.iter().skip(1) {
        if random.bool() {
            fs::set_permissions(directory, Permissions::from_mode(MODES[random.usize(..7)])).unwrap();
        }
        give(directory, &mut random);
        if random.bool() {
            let past = UNIX_EPOCH + Duration::new(random.u64(..1_700_000_000), random.u32(..1_000_000_000));
            File::open(directory).unwrap().set_times(FileTimes::new().set_modified(past)).unwrap();
        }
    }
}

fn files(directories: &[PathBuf], random: &mut fastrand::Rng) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for name in NAMES.iter().chain(&NAMES).chain(&NAMES) {
        let path = directories[random.usize(..directories.len())].join(OsStr::from_bytes(name));
        if path.exists() {
            continue;
        }
        let file = File::create(&path).unwrap();
        let size = SIZES[random.usize(..SIZES.len())];
        match size {
            1..100_001 if random.bool() => {
                fs::write(&path, vec![b'x'; usize::try_from(size).unwrap()]).unwrap()
            }
            size => file.set_len(size).unwrap(),
        }
        give(&path, random);
        fs::set_permissions(&path, Permissions::from_mode(MODES[random.usize(..MODES.len())])).unwrap();
        let [modified, accessed] = [moment(random), moment(random)];
        file.set_times(FileTimes::new().set_modified(modified).set_accessed(accessed)).unwrap();
        files.push(path);
    }
    files
}

/// A time: anywhere between 1970 and 2038, near now, or in the future.
fn moment(random: &mut fastrand::Rng) -> std::time::SystemTime {
    let now = UNIX_EPOCH.elapsed().unwrap().as_secs();
    let seconds = match random.u8(..8) {
        0 => 0,
        1 => (1 << 31) - 1,
        2 => now + random.u64(..10_000),
        3 => now - random.u64(..200 * 86_400),
        4 => now - random.u64(..86_400),
        5 => now - random.u64(..7) * 86_400 - 43_200,
        _ => random.u64(..1 << 31),
    };
    UNIX_EPOCH
        + Duration::new(
            seconds,
            [0, 1, 500_000_000, 999_999_999, random.u32(..1_000_000_000)][random.usize(..5)],
        )
}

/// Gives an entry to somebody, where we may.
fn give(path: &Path, random: &mut fastrand::Rng) {
    let ids = [0, 1, 2, 100, 1000, 65_534, 4_000_001, 123_456_789];
    let _ = chown(path, Some(ids[random.usize(..8)]), Some(ids[random.usize(..8)]));
}

fn links(directories: &[PathBuf], files: &[PathBuf], random: &mut fastrand::Rng) {
    for number in 0..6 {
        let path = directories[random.usize(..directories.len())].join(format!("hard{number}"));
        fs::hard_link(&files[random.usize(..files.len())], path).unwrap();
    }
    let parent = &directories[directories.len() / 2];
    let targets: [&[u8]; 12] = [
        b"missing",
        b"loop",
        b".",
        b"..",
        b"/dev/null",
        b"/etc/passwd",
        b"to file",
        b"new\nline",
        b"fifo",
        b"A.H5",
        b"/etc/passwd/x",
        b"../\xff",
    ];
    for (number, target) in targets.iter().enumerate() {
        let place = directories[random.usize(..directories.len())].join(format!("link {number}"));
        symlink(OsStr::from_bytes(target), &place).unwrap();
        let _ = lchown(&place, Some(1), Some(1));
    }
    symlink("loop", parent.join("loop")).unwrap();
    symlink(&files[0], parent.join("to file")).unwrap();
    symlink(&directories[1], parent.join("to directory")).unwrap();
}

/// A named pipe, a socket, an empty directory, a deep one, and a long name.
fn special(root: &Path) {
    assert!(Command::new("mkfifo").arg(root.join("fifo")).status().unwrap().success());
    UnixListener::bind(root.join("socket")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::create_dir_all(root.join("deep/1/2/3/4/5/6/7/8/9")).unwrap();
    File::create(root.join("n".repeat(250))).unwrap();
}

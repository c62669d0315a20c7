//! What the tests of the readers share: owned entries, trees with hostile names, mutations.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::BufReader;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use tempfile::TempDir;

use super::testing::damaged_dumps;
use super::{DumpTally, ReadDump};
use crate::source::{Entry, EntryKind, nanoseconds};

/// An [`Entry`] that owns its texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EntryCopy {
    pub path: Vec<u8>,
    pub kind: Option<EntryKind>,
    pub target: Option<Vec<u8>>,
    pub owner: Option<Vec<u8>>,
    pub group: Option<Vec<u8>>,
    pub mtime: Option<i64>,
    pub atime: Option<i64>,
    pub ctime: Option<i64>,
    pub size: Option<u64>,
    pub blocks: Option<u64>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub mode: Option<u32>,
    pub inode: Option<u64>,
    pub links: Option<u64>,
    pub device: Option<u64>,
}

impl EntryCopy {
    /// An entry of which only the path and the kind are known.
    pub fn named(path: &[u8], kind: Option<EntryKind>) -> Self {
        EntryCopy { path: path.to_vec(), kind, ..Self::default() }
    }

    fn of(entry: &Entry<'_>) -> Self {
        assert_eq!((entry.btime, entry.stripes, entry.pool, entry.project), (None, None, None, None));
        EntryCopy {
            path: entry.path.to_vec(),
            kind: entry.kind,
            target: entry.target.map(<[u8]>::to_vec),
            owner: entry.owner.map(<[u8]>::to_vec),
            group: entry.group.map(<[u8]>::to_vec),
            mtime: entry.mtime,
            atime: entry.atime,
            ctime: entry.ctime,
            size: entry.size,
            blocks: entry.blocks,
            uid: entry.uid,
            gid: entry.gid,
            mode: entry.mode,
            inode: entry.inode,
            links: entry.links,
            device: entry.device,
        }
    }
}

/// What a reader made of a dump.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DumpOutcome {
    pub entries: Vec<EntryCopy>,
    pub tally: DumpTally,
    pub error: Option<String>,
}

impl DumpOutcome {
    /// The entries of a dump that is read without any trouble.
    pub fn clean(self) -> Vec<EntryCopy> {
        assert_eq!(self.error, None);
        assert_eq!(
            (self.tally.bad, self.tally.guessed, self.tally.truncated),
            (0, 0, false),
            "{:?}",
            self.tally
        );
        self.entries
    }

    /// The reason of the first bad row.
    pub fn first_reason(&self) -> &str {
        self.tally.first_bad.as_ref().map_or("", |bad| bad.reason.as_str())
    }
}

/// Reads `bytes` through a buffer of `capacity` bytes.
pub(super) fn read_by(reader: &mut dyn ReadDump, bytes: &[u8], capacity: usize) -> DumpOutcome {
    let (mut entries, mut tally) = (Vec::new(), DumpTally::default());
    let mut input = BufReader::with_capacity(capacity, bytes);
    let result = reader.read(&mut input, &mut tally, &mut |entry| {
        entries.push(EntryCopy::of(entry));
        ControlFlow::Continue(())
    });
    DumpOutcome { entries, tally, error: result.err().map(|error| error.to_string()) }
}

/// Reads `bytes` at once.
pub(super) fn read_all(reader: &mut dyn ReadDump, bytes: &[u8]) -> DumpOutcome {
    read_by(reader, bytes, bytes.len().max(1))
}

/// Collects entries of a reader that has another method than `ReadDump::read`.
pub(super) fn collect(
    read: impl FnOnce(&mut DumpTally, &mut super::Visit<'_>) -> std::io::Result<()>,
) -> DumpOutcome {
    let (mut entries, mut tally) = (Vec::new(), DumpTally::default());
    let result = read(&mut tally, &mut |entry| {
        entries.push(EntryCopy::of(entry));
        ControlFlow::Continue(())
    });
    DumpOutcome { entries, tally, error: result.err().map(|error| error.to_string()) }
}

/// The entries by path.
pub(super) fn sorted(mut entries: Vec<EntryCopy>) -> Vec<EntryCopy> {
    entries.sort_by(|one, two| one.path.cmp(&two.path));
    entries
}

/// Both lists have to be equal; shows the first difference.
pub(super) fn assert_equal(entries: &[EntryCopy], expected: &[EntryCopy]) {
    let show = |entry: Option<&EntryCopy>| entry.map(|entry| entry.path.escape_ascii().to_string());
    for at in 0..entries.len().max(expected.len()) {
        let (entry, expected) = (entries.get(at), expected.get(at));
        assert_eq!(entry, expected, "{:?} and {:?}", show(entry), show(expected));
    }
}

/// A tree with names that break careless readers.
pub(super) fn hostile_tree() -> TempDir {
    let tree = TempDir::new().unwrap();
    let root = tree.path();
    let names: [&[u8]; 18] = [
        b"plain",
        b"new\nline",
        b"quote\"quote'",
        b"back\\slash\\n",
        b"\xff\xfe bytes",
        b"tab\tand\x01\x7f\x1f",
        b" blank first and last ",
        b"#hash",
        b"-dash",
        b"*?[glob]",
        b"a=b",
        b"\\101",
        b"...",
        b"type=dir",
        "\u{fc}\u{20ac}\u{1f980}".as_bytes(),
        b"{\"name\":\"x\"},",
        b"/set"[1..].as_ref(),
        b"\x80\x9f\xa0",
    ];
    for (index, name) in names.iter().enumerate() {
        let directory = root.join(OsStr::from_bytes(&[b"d ".as_slice(), name].concat()));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(OsStr::from_bytes(name)), vec![b'x'; index * 700]).unwrap();
        symlink(OsStr::from_bytes(name), directory.join("link")).unwrap();
    }
    fs::write(root.join("x".repeat(255)), "long").unwrap();
    let deep = (0..40).fold(root.to_path_buf(), |path, _| path.join("y".repeat(60)));
    fs::create_dir_all(&deep).unwrap();
    fs::hard_link(root.join("x".repeat(255)), deep.join("hard")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::set_permissions(root.join("empty"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::write(root.join("set id"), "").unwrap();
    fs::set_permissions(root.join("set id"), fs::Permissions::from_mode(0o6751)).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    for (name, time) in [("before 1970", "@-1.5"), ("after 2100", "@7000000000.25")] {
        let touched = Command::new("touch").args(["-d", time]).arg(root.join(name)).status();
        assert!(touched.unwrap().success());
    }
    tree
}

/// Every entry of the tree, as the system describes it, by path. Paths begin with `root`.
pub(super) fn live_tree(root: &Path) -> Vec<EntryCopy> {
    let mut entries = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![root.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let status = fs::symlink_metadata(&path).unwrap();
        if status.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        entries.push(live_entry(&path, &status));
    }
    sorted(entries)
}

fn live_entry(path: &Path, status: &Metadata) -> EntryCopy {
    let kind = status.file_type();
    let kind = match () {
        () if kind.is_dir() => EntryKind::Directory,
        () if kind.is_symlink() => EntryKind::Link,
        () if kind.is_fifo() => EntryKind::Fifo,
        () if kind.is_socket() => EntryKind::Socket,
        () if kind.is_file() => EntryKind::File,
        () => EntryKind::Device,
    };
    EntryCopy {
        path: path.as_os_str().as_bytes().to_vec(),
        kind: Some(kind),
        target: fs::read_link(path).ok().map(|target| target.into_os_string().into_vec()),
        owner: None,
        group: None,
        mtime: Some(nanoseconds(status.mtime(), status.mtime_nsec())),
        atime: Some(nanoseconds(status.atime(), status.atime_nsec())),
        ctime: Some(nanoseconds(status.ctime(), status.ctime_nsec())),
        size: Some(status.size()),
        blocks: Some(status.blocks()),
        uid: Some(status.uid()),
        gid: Some(status.gid()),
        mode: Some(status.mode()),
        inode: Some(status.ino()),
        links: Some(status.nlink()),
        device: Some(status.dev()),
    }
}

/// The output of a tool of the system; prints SKIPPED and gives `None` where it is absent.
pub(super) fn output_of(command: &mut Command) -> Option<Vec<u8>> {
    match command.output() {
        Ok(output) if output.status.success() => Some(output.stdout),
        Ok(output) => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            println!("SKIPPED, {} is absent", command.get_program().to_string_lossy());
            None
        }
    }
}

/// A name of random bytes, often one that needs escapes.
pub(super) fn random_name(random: &mut Rng) -> Vec<u8> {
    const ODD: &[u8] = b"\n\t\r\"'\\ #=*?[]{}\x01\x1f\x7f\x80\xff,:.-|ab";
    let length = if random.u8(..) == 0 { random.usize(200..2000) } else { random.usize(1..12) };
    let mut name: Vec<u8> = (0..length)
        .map(|_| if random.bool() { ODD[random.usize(..ODD.len())] } else { random.u8(1..) })
        .map(|byte| if byte == b'/' { b'_' } else { byte })
        .collect();
    if name == b"." || name == b".." {
        name.push(b'x');
    }
    name
}

/// `bytes` with one to four changes: a flipped, overwritten, deleted or inserted byte, a cut, a copied part.
pub(super) fn mutated(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.usize(1..5) {
        let length = bytes.len();
        let at = random.usize(..=length);
        let end = length.min(at + random.usize(..=64));
        match random.u8(..8) {
            0 if at < length => bytes[at] ^= 1 << random.u8(..8),
            1 if at < length => {
                bytes[at] = [0, 0xff, b'9', b'"', b'\\', b'\n', b'[', b'}'][random.usize(..8)]
            }
            2 => drop(bytes.drain(at..end)),
            3 => bytes.insert(at, random.u8(..)),
            4 if random.u8(..4) == 0 => bytes.truncate(at),
            5 => {
                let copy = bytes[at..end].to_vec();
                let to = random.usize(..=length);
                drop(bytes.splice(to..to, copy));
            }
            6 => bytes[at..end].fill(random.u8(..)),
            _ if at < length => bytes[at] = random.u8(..),
            _ => {}
        }
    }
    bytes
}

/// Reads as many mutations of `dumps` as [`damaged_dumps`] says: no panic, no hang, no memory above 256 MiB.
pub(super) fn survive_mutations(dumps: &[Vec<u8>], mut read: impl FnMut(&[u8]) -> DumpOutcome) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let before = peak_memory();
    let (mut bad, mut errors) = (0, 0);
    for _ in 0..damaged_dumps() {
        let dump = mutated(&dumps[random.usize(..dumps.len())], &mut random);
        let outcome = read(&dump);
        bad += usize::from(outcome.tally.bad > 0);
        errors += usize::from(outcome.error.is_some());
        assert!(outcome.entries.len() <= dump.len() * 64, "more entries than bytes");
    }
    println!("{bad} dumps with bad rows, {errors} with errors");
    assert!(bad + errors > damaged_dumps() / 10, "the mutations do not hurt: {bad} {errors}");
    assert!(peak_memory().saturating_sub(before) < 256 << 20, "seed {seed}: {before} to {}", peak_memory());
}

/// The greatest resident memory of this process so far, in bytes.
pub(super) fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() << 10
}

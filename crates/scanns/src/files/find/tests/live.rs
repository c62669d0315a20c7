//! Entries and facts of a live tree, and the answers of our find and of GNU find for it.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::error::FindError;
use super::super::expression::Expression;
use super::super::owned::WaitingEntry;
use super::super::walk::WalkCounts;
use super::super::{
    FindCommand, FindFacts, FindOutput, FindSink, FindType, FindWalk, FoundTarget, Next, OwnerIdentity,
    ReferenceEntry, Requirements, Setting, parse,
};
use crate::source::{Entry, EntryKind, nanoseconds};

/// The names of users or groups, by their number.
pub(super) type Names = BTreeMap<u32, Vec<u8>>;

/// A tree that was read, in the order of readdir(3).
pub(super) struct LiveTree {
    pub(super) entries: Vec<WaitingEntry>,
    pub(super) users: Names,
    pub(super) groups: Names,
    /// The directory in which find runs; paths that are not absolute are below it.
    pub(super) directory: PathBuf,
}

impl LiveTree {
    /// Reads everything below a path.
    pub(super) fn read(root: &Path, directory: &Path) -> LiveTree {
        let [users, groups] = ["/etc/passwd", "/etc/group"].map(names);
        let mut tree = LiveTree { entries: Vec::new(), users, groups, directory: directory.to_owned() };
        tree.add(root);
        assert!(directory.starts_with(std::env::temp_dir()), "files in the directory are removed");
        tree
    }

    fn add(&mut self, path: &Path) {
        let Ok(metadata) = fs::symlink_metadata(path) else { return };
        let target = fs::read_link(path).ok().map(|target| target.into_os_string().into_vec());
        let mut entry = entry_of(path.as_os_str().as_bytes(), &metadata);
        entry.target = target.as_deref();
        entry.owner = self.users.get(&metadata.uid()).map(Vec::as_slice);
        entry.group = self.groups.get(&metadata.gid()).map(Vec::as_slice);
        let mut owned = WaitingEntry::default();
        owned.copy(&entry);
        self.entries.push(owned);
        if metadata.is_dir() {
            let below: Vec<PathBuf> =
                fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            below.iter().for_each(|path| self.add(path));
        }
    }

    fn absolute(&self, path: &[u8]) -> PathBuf {
        self.directory.join(std::ffi::OsStr::from_bytes(path))
    }
}

fn names(file: &str) -> Names {
    let mut names = Names::new();
    for line in fs::read(file).unwrap_or_default().split(|&byte| byte == b'\n') {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b':').collect();
        if let [name, _, id, ..] = fields.as_slice() {
            let id = std::str::from_utf8(id).unwrap().parse().unwrap();
            names.entry(id).or_insert_with(|| name.to_vec());
        }
    }
    names
}

fn entry_of<'a>(path: &'a [u8], metadata: &Metadata) -> Entry<'a> {
    let kind = metadata.file_type();
    Entry {
        path,
        kind: Some(match kind {
            _ if kind.is_dir() => EntryKind::Directory,
            _ if kind.is_symlink() => EntryKind::Link,
            _ if kind.is_file() => EntryKind::File,
            _ => match FindType::of_mode(metadata.mode()).unwrap() {
                FindType::Pipe => EntryKind::Fifo,
                FindType::Socket => EntryKind::Socket,
                _ => EntryKind::Device,
            },
        }),
        mtime: Some(nanoseconds(metadata.mtime(), metadata.mtime_nsec())),
        atime: Some(nanoseconds(metadata.atime(), metadata.atime_nsec())),
        ctime: Some(nanoseconds(metadata.ctime(), metadata.ctime_nsec())),
        btime: None,
        size: Some(metadata.size()),
        blocks: Some(metadata.blocks()),
        uid: Some(metadata.uid()),
        gid: Some(metadata.gid()),
        mode: Some(metadata.mode()),
        inode: Some(metadata.ino()),
        links: Some(metadata.nlink()),
        device: Some(metadata.dev()),
        ..Entry::default()
    }
}

impl FindFacts for LiveTree {
    fn reference(&self, path: &[u8]) -> Option<ReferenceEntry> {
        let metadata = fs::symlink_metadata(self.absolute(path)).ok()?;
        Some(ReferenceEntry::of(&entry_of(path, &metadata)))
    }

    fn is_empty_directory(&self, entry: &Entry) -> Option<bool> {
        Some(fs::read_dir(self.absolute(entry.path)).ok()?.next().is_none())
    }

    fn target(&self, entry: &Entry) -> FoundTarget {
        match fs::metadata(self.absolute(entry.path)) {
            Ok(metadata) => FoundTarget::Entry(FindType::of_mode(metadata.mode()).unwrap()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => FoundTarget::Missing,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => FoundTarget::Missing,
            Err(_) => FoundTarget::Loop,
        }
    }

    fn user(&self, name: &[u8]) -> Option<OwnerIdentity> {
        self.users.iter().find(|(_, known)| known.as_slice() == name).map(|(id, _)| OwnerIdentity::Id(*id))
    }

    fn group(&self, name: &[u8]) -> Option<OwnerIdentity> {
        self.groups.iter().find(|(_, known)| known.as_slice() == name).map(|(id, _)| OwnerIdentity::Id(*id))
    }

    fn has_names(&self) -> bool {
        true
    }

    fn matches_content(&self, _query: usize, _entry: &Entry) -> bool {
        false
    }
}

/// The bytes of each output; the first is the standard output, the second the standard error.
pub(super) type Outputs = BTreeMap<Vec<u8>, Vec<u8>>;

/// Collects what is written, by output.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) outputs: Vec<Vec<u8>>,
}

impl FindSink for Collected {
    fn write(&mut self, output: usize, bytes: &[u8]) -> io::Result<()> {
        if self.outputs.len() <= output {
            self.outputs.resize(output + 1, Vec::new());
        }
        self.outputs[output].extend_from_slice(bytes);
        Ok(())
    }
}

/// What our find says: the outputs by file name, and what the walk did.
pub(super) fn ours(
    tree: &LiveTree,
    arguments: &[Vec<u8>],
    setting: &Setting,
) -> Result<(Outputs, WalkCounts), FindError> {
    let FindCommand { start_points, expression, .. } = parse(arguments, setting.clone(), tree)?;
    let start_points = if start_points.is_empty() { vec![b".".to_vec()] } else { start_points };
    if start_points.iter().any(|written| fs::symlink_metadata(tree.absolute(written)).is_err()) {
        return Err(FindError::new("a start point is missing"));
    }
    let answer = walked(tree, &expression, &start_points, None);
    if let Some(requirements) = expression.requirements() {
        let filtered = walked(tree, &expression, &start_points, Some(&requirements));
        assert!(answer.0 == filtered.0, "requirements leave entries out: {requirements:?}");
    }
    Ok(answer)
}

/// Evaluates an expression for all entries, or for those that satisfy requirements.
fn walked(
    tree: &LiveTree,
    expression: &Expression,
    start_points: &[Vec<u8>],
    filter: Option<&Requirements>,
) -> (Outputs, WalkCounts) {
    let mut sink = Collected::default();
    let mut walk = FindWalk::new(expression, tree, &mut sink);
    for written in start_points {
        if walk_start(&mut walk, tree, written, filter) == Next::Stop {
            break;
        }
    }
    let counts = walk.counts();
    assert_eq!(walk.unknown(), [], "nothing is unknown of a live tree");
    (by_name(expression, sink), counts)
}

fn walk_start(
    walk: &mut FindWalk<LiveTree, Collected>,
    tree: &LiveTree,
    written: &[u8],
    filter: Option<&Requirements>,
) -> Next {
    let path = fs::canonicalize(tree.absolute(written).parent().unwrap()).unwrap();
    let absolute = match tree.absolute(written).file_name() {
        _ if written.ends_with(b".") => fs::canonicalize(tree.absolute(written)).unwrap(),
        Some(name) => path.join(name),
        None => path,
    };
    let root = absolute.as_os_str().as_bytes();
    walk.begin(written, root);
    for entry in &tree.entries {
        let entry = entry.entry();
        let is_inside = entry.path == root
            || entry.path.strip_prefix(root).is_some_and(|rest| rest.starts_with(b"/") || root == b"/");
        let is_wanted = entry.path == root || filter.is_none_or(|filter| filter.allow(&entry));
        if is_inside && is_wanted && walk.visit(&entry).unwrap() == Next::Stop {
            return Next::Stop;
        }
    }
    walk.end().unwrap()
}

fn by_name(expression: &Expression, mut sink: Collected) -> Outputs {
    sink.outputs.resize(expression.outputs.len(), Vec::new());
    let names = expression.outputs.iter().map(|output| match output {
        FindOutput::Standard => b"/dev/stdout".to_vec(),
        FindOutput::StandardError => b"/dev/stderr".to_vec(),
        FindOutput::File(path) => path.clone(),
    });
    names.zip(sink.outputs).filter(|(name, _)| name != b"/dev/stderr").collect()
}

/// What GNU find says, with its exit status and its messages. The files are those that `-fprint` may write.
pub(super) fn theirs(tree: &LiveTree, arguments: &[Vec<u8>], files: &[Vec<u8>], zone: &str) -> Theirs {
    for file in fs::read_dir(&tree.directory).unwrap().flatten() {
        if file.file_type().unwrap().is_file() {
            fs::remove_file(file.path()).unwrap();
        }
    }
    let arguments = arguments.iter().map(|argument| std::ffi::OsStr::from_bytes(argument));
    let output = Command::new("timeout")
        .args(["60", "find"])
        .args(arguments)
        .current_dir(&tree.directory)
        .env("LC_ALL", "C")
        .env("TZ", zone)
        .env_remove("POSIXLY_CORRECT")
        .output()
        .unwrap();
    let written = files.iter().filter_map(|file| Some((file.clone(), fs::read(tree.absolute(file)).ok()?)));
    Theirs {
        is_success: output.status.success(),
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        outputs: written.chain([(b"/dev/stdout".to_vec(), output.stdout)]).collect(),
    }
}

/// What GNU find says.
pub(super) struct Theirs {
    pub(super) is_success: bool,
    pub(super) errors: String,
    pub(super) outputs: Outputs,
}

impl Theirs {
    /// Whether find complains of nothing but links to themselves. It evaluates cheap tests first, so it may
    /// ask `-xtype` for other links than we do.
    pub(super) fn only_loops(&self) -> bool {
        let is_loop =
            |line: &str| line.contains("Too many levels of symbolic links") || line.contains("warning: ");
        self.errors.lines().all(is_loop)
    }
}

/// Whether GNU find 4.9 is there; says so where it is not.
pub(super) fn has_find() -> bool {
    let version = Command::new("find").arg("--version").output();
    let is_there = version.is_ok_and(|output| output.stdout.starts_with(b"find (GNU findutils) 4.9"));
    if !is_there {
        println!("SKIPPED: there is no GNU find 4.9");
    }
    is_there
}

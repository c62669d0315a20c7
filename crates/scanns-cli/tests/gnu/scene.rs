//! A tree, its index, and what changed since it was indexed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::live::{self, LiveTree, Rows, path_of};
use crate::source::EntryKind;

/// A tree and its index.
pub struct Scene {
    work: TempDir,
    roots: Vec<PathBuf>,
    pub tree: LiveTree,
    rows: Rows,
}

/// The two sides of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

impl Scene {
    /// Indexes trees; none if find cannot read all of them.
    pub fn of(roots: &[&Path]) -> Option<Scene> {
        // The first reader changes when directories were read last.
        live::read(roots)?;
        let (tree, rows) = live::read(roots)?;
        let work = tempfile::tempdir().unwrap();
        for side in [Side::Ours, Side::Theirs] {
            std::fs::create_dir(work.path().join(side.name())).unwrap();
        }
        std::fs::write(work.path().join("file"), b"").unwrap();
        let roots: Vec<PathBuf> = roots.iter().map(|root| root.to_path_buf()).collect();
        let scene = Scene { work, roots, tree, rows };
        let mut index = scanns(&["index", "-q", "--content", "none", "-o"]);
        let built = index.arg(scene.index()).args(&scene.roots).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(scene)
    }

    pub fn roots(&self) -> Vec<&[u8]> {
        self.roots.iter().map(|root| root.as_os_str().as_bytes()).collect()
    }

    pub fn index(&self) -> PathBuf {
        self.work.path().join("a.scanns")
    }

    /// The directory in which a side runs.
    pub fn room(&self, side: Side) -> PathBuf {
        self.work.path().join(side.name())
    }

    /// An empty file.
    pub fn file(&self) -> PathBuf {
        self.work.path().join("file")
    }

    /// A place to start, sometimes with a slash at its end: a directory above an entry, seldom a large one.
    pub fn start(&self, random: &mut fastrand::Rng) -> Vec<u8> {
        let at = random.usize(..self.tree.entries.len());
        let mut above: Vec<usize> = Vec::new();
        let mut path = path_of(&self.tree.entries[at].path);
        // Entries below a directory follow it.
        for (before, entry) in self.tree.entries[..=at].iter().enumerate().rev() {
            if entry.kind == EntryKind::Directory && path.starts_with(path_of(&entry.path)) {
                path = path_of(&entry.path);
                above.push(before);
            }
        }
        let is_small = |start: &usize| at - start < 5_000;
        let small: Vec<usize> = above.iter().copied().filter(is_small).collect();
        let choice = if small.is_empty() || random.u8(..16) == 0 { above } else { small };
        let best = random.choice(&choice).map_or(&self.tree.entries[0], |&start| &self.tree.entries[start]);
        let slash: &[u8] = if random.u8(..8) == 0 { b"/" } else { b"" };
        [best.path.as_slice(), slash].concat()
    }

    /// Runs find, and removes what it wrote before.
    pub fn find(&self, side: Side, words: &[Vec<u8>], zone: &str) -> Output {
        let room = self.room(side);
        std::fs::remove_dir_all(&room).unwrap();
        std::fs::create_dir(&room).unwrap();
        let mut command = match side {
            Side::Theirs => Command::new("find"),
            Side::Ours => scanns(&["find"]),
        };
        if side == Side::Ours {
            command.arg(self.index());
        }
        command.args(words.iter().map(|word| OsStr::from_bytes(word))).current_dir(room);
        command.env("LC_ALL", "C").env("TZ", zone).env_remove("POSIXLY_CORRECT").output().unwrap()
    }

    /// Takes the tree as it is now for the tree that was indexed.
    pub fn forget_changes(&mut self) {
        (self.tree, self.rows) = live::read(&self.roots).unwrap();
    }

    /// Paths that are not what they were when the tree was indexed.
    pub fn changed(&self) -> BTreeSet<Vec<u8>> {
        let (_, now) = live::read(&self.roots).unwrap_or((LiveTree { entries: Vec::new() }, Rows::new()));
        let changed = self.rows.iter().filter(|(path, row)| now.get(*path) != Some(*row));
        let new = now.iter().filter(|(path, _)| !self.rows.contains_key(*path));
        changed.chain(new).map(|(path, _)| path.clone()).collect()
    }
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::Theirs => "theirs",
        }
    }
}

/// The command.
pub fn scanns(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scanns"));
    command.args(words).stdin(Stdio::null());
    command
}

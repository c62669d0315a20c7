//! Sums of all directories of a tree, as starting points of du, with many sets of options.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::live::{LiveEntry, path_of};
use crate::scene::{Scene, scanns};
use crate::source::EntryKind;

/// Every option that changes the sums, the lines or how they look.
pub const OPTIONS: [&str; 22] = [
    "",
    "-s",
    "-a",
    "-S",
    "-h",
    "-ah",
    "--si",
    "-b",
    "-ab",
    "--apparent-size",
    "--inodes",
    "--inodes -S",
    "-d 1",
    "-d 2 -a",
    "-c",
    "-l",
    "-B 512",
    "-BM",
    "-k -x",
    "-t 8K",
    "-t -8K -a",
    "--time -a",
];

/// Directories that are given to one command.
const TOGETHER: usize = 400;

/// Directories where du starts, beside the roots, for each set of options.
const STARTS: usize = 300;

/// What was compared.
#[derive(Debug, Default)]
pub struct Sums {
    /// Directories, and sets of options for each.
    pub directories: usize,
    pub options: usize,
    /// Lines that are the same.
    pub lines: usize,
    /// Lines that differ for directories in which something changed after they were indexed.
    pub changed: usize,
    pub differences: usize,
}

/// Compares the lines of all directories, and of some as starting points. Directories of one depth are given
/// together; below each other, du would count them once.
pub fn directories(scene: &Scene, options: usize) -> Sums {
    let is_directory = |entry: &&LiveEntry| entry.kind == EntryKind::Directory;
    let directories: Vec<&LiveEntry> = scene.tree.entries.iter().filter(is_directory).collect();
    let mut levels = BTreeMap::<usize, Vec<&[u8]>>::new();
    for entry in directories.iter().step_by(directories.len().div_ceil(STARTS).max(1)) {
        let depth = path_of(&entry.path).components().count();
        levels.entry(depth).or_default().push(&entry.path);
    }
    let roots = scene.roots();
    let mut sums = Sums { directories: directories.len(), options, ..Sums::default() };
    let (in_one, in_several) = names(scene);
    for set in OPTIONS.iter().take(options) {
        let mut words: Vec<&str> = set.split_whitespace().collect();
        // With several names of a file, the lines depend on which one du meets first.
        let has_files = words.iter().any(|word| word.contains('a') && !word.starts_with("--"));
        let is_ambiguous = !words.contains(&"-s") && (in_several || in_one && has_files);
        if is_ambiguous && !words.contains(&"-l") {
            words.push("-l");
        }
        words.push("-0");
        compare(scene, &words, &roots, &mut sums);
        for level in levels.values() {
            level.chunks(TOGETHER).for_each(|directories| compare(scene, &words, directories, &mut sums));
        }
    }
    sums
}

/// Whether there are files with several names, and whether such names are in several directories.
fn names(scene: &Scene) -> (bool, bool) {
    let mut parents = BTreeMap::new();
    let mut found = (false, false);
    for entry in scene.tree.entries.iter().filter(|entry| entry.kind != EntryKind::Directory) {
        if entry.links() > 1 {
            let parent = path_of(&entry.path).parent();
            found.0 = true;
            found.1 |= *parents.entry(entry.identity()).or_insert(parent) != parent;
        }
    }
    found
}

/// The lines that a command prints.
fn lines(command: &mut Command, words: &[&str], directories: &[&[u8]]) -> Vec<Vec<u8>> {
    let paths = directories.iter().map(|path| OsStr::from_bytes(path));
    let out = command.args(paths).env("TZ", "Asia/Kolkata").env("LC_ALL", "C").output().unwrap();
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    let mut lines: Vec<Vec<u8>> = out.stdout.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect();
    lines.sort_unstable();
    lines
}

/// Compares one command.
fn compare(scene: &Scene, words: &[&str], directories: &[&[u8]], sums: &mut Sums) {
    let theirs = lines(Command::new("du").args(words), words, directories);
    let ours = lines(scanns(&["du"]).args(words).arg(scene.index()), words, directories);
    if ours == theirs {
        sums.lines += ours.len() - 1;
        return;
    }
    let [one, other] = [&ours, &theirs].map(|lines| lines.iter().collect::<BTreeSet<_>>());
    sums.lines += one.intersection(&other).count();
    let changed = scene.changed();
    for line in one.symmetric_difference(&other) {
        let path = line.rsplit(|&byte| byte == b'\t').next().unwrap_or_default();
        let below = |changed: &Vec<u8>| path == b"total" || path_of(changed).starts_with(path_of(path));
        if changed.iter().any(below) {
            sums.changed += 1;
            continue;
        }
        sums.differences += 1;
        if sums.differences < 50 {
            let side = if one.contains(*line) { "scanns" } else { "du" };
            println!("DIFFERENCE: du {words:?}: only {side} prints {}", line.escape_ascii());
        }
    }
}

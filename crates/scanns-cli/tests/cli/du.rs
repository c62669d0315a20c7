//! `scanns du`, compared with GNU du at the same moment.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Place, run, scanns};

/// Every option that changes the sums, the lines or how they look.
const OPTIONS: [&str; 29] = [
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
    "-al --apparent-size",
    "-B 512",
    "-BM",
    "-k -x",
    "-m",
    "-t 8K",
    "-t -8K -a",
    "--time -a",
    "-P",
    "--exclude=e1 -a",
    "--exclude=d0/* -a",
    "-s --exclude=*e[02]*",
    "--exclude=none",
];

/// Options with one line for each path. The lines of directories in it would depend on which of several names
/// of a file du meets first.
const SUMMARIES: [&str; 6] = ["-s", "-sl", "-sb", "-s --inodes", "-sc", "-s --apparent-size -h"];

/// A tree with a sparse file, links and odd names.
fn make_tree(root: &Path) {
    for at in 0..40_usize {
        let directory = root.join(format!("d{}", at % 4)).join(format!("e{}", at % 3));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("file {at}")), vec![b'x'; at * 700]).unwrap();
    }
    File::create(root.join("d0/sparse")).unwrap().set_len(50 << 20).unwrap();
    fs::create_dir_all(root.join("d1/none/below")).unwrap();
    symlink("d0", root.join("link")).unwrap();
    fs::create_dir(root.join("d2/e0-x")).unwrap();
    fs::write(root.join("d2/e0-x/f"), vec![b'y'; 9000]).unwrap();
}

/// Gives files a second and a third name, in their directory and in others.
fn make_links(root: &Path) {
    fs::hard_link(root.join("d0/e0/file 0"), root.join("d1/empty link")).unwrap();
    fs::hard_link(root.join("d3/e1/file 7"), root.join("d3/e1/again")).unwrap();
    fs::hard_link(root.join("d3/e1/file 7"), root.join("d2/again")).unwrap();
}

fn directories(root: &Path) -> Vec<PathBuf> {
    let below = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let below = below.filter(|path| path.is_dir() && !path.is_symlink()).flat_map(|path| directories(&path));
    std::iter::once(root.to_path_buf()).chain(below).collect()
}

/// What a command prints, its lines sorted.
fn lines(command: &mut Command) -> Vec<String> {
    let out = command.env("TZ", "Asia/Kolkata").env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn the_sums_of_all_directories_are_those_of_gnu_du() {
    let version = Command::new("du").arg("--version").output().map(|out| out.stdout).unwrap_or_default();
    if !version.starts_with(b"du (GNU coreutils) 9.1") && !version.starts_with(b"du (GNU coreutils) 8.") {
        return println!("SKIPPED: there is no GNU du 8 or 9.1, whose apparent sizes include directories");
    }
    for with_links in [false, true] {
        let place = Place::with(&[]);
        let root = place.files().canonicalize().unwrap();
        make_tree(&root);
        if with_links {
            make_links(&root);
        }
        place.indexed(&["--content", "none"]);
        for directory in directories(&root) {
            for options in if with_links { &SUMMARIES[..] } else { &OPTIONS } {
                let options: Vec<&str> = options.split_whitespace().collect();
                let theirs = lines(Command::new("du").args(&options).arg(&directory));
                let ours = lines(scanns(&["du"]).args(&options).arg(place.index()).arg(&directory));
                assert_eq!(ours, theirs, "{options:?} {}", directory.display());
            }
        }
    }
}

#[test]
fn several_paths_count_each_entry_once_and_a_missing_one_is_named() {
    let place = Place::with(&[("a/x", "one"), ("a/b/y", "two"), ("c/z", "three")]);
    let root = place.files().canonicalize().unwrap();
    place.indexed(&["--content", "none"]);
    for names in [&["a", "a/b", "c"][..], &["a/b", "a"], &["a/b/y", "c"], &["c/", "a"]] {
        let paths: Vec<_> = names.iter().map(|name| format!("{}/{name}", root.display())).collect();
        let theirs = lines(Command::new("du").args(["-cb"]).args(&paths));
        let ours = lines(scanns(&["du", "-cb"]).arg(place.index()).args(&paths));
        assert_eq!(ours, theirs, "{names:?}");
    }
    let missing = run(scanns(&["du", "-s"]).arg(place.index()).arg(root.join("nowhere")));
    assert_eq!((missing.code, missing.stdout.len()), (Some(1), 0));
    assert!(missing.stderr.contains("not in the index"), "{}", missing.stderr);
}

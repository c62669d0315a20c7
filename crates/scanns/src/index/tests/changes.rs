//! Lists of changes: whatever changes in a tree, the index is as after a scan of everything, if the list
//! names what changed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::dumps::{all_values, assert_same, make_tree, of_names};
use super::metadata::{build_all, values};
use super::*;
use crate::index::build::options::ChangeOptions;
use crate::index::build::report::ChangesReport;
use crate::index::coverage::{Coverage, coverage_of};
use crate::index::snapshot::Snapshot;
use crate::record::changes::ChangeFormat;
use crate::store::RamDirectory;

/// The options for a list of changes.
fn of_list(root: &Path, list: &Path, format: ChangeFormat, lanes: usize) -> IndexOptions {
    let changes = ChangeOptions { list: list.to_path_buf(), format: Some(format), ..Default::default() };
    IndexOptions { changes: Some(changes), ..of_names(root, lanes) }
}

/// A path as zfs diff writes it.
fn zfs_path(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_graphic() && byte != b'\\' {
            text.push(byte.into());
        } else {
            write!(text, "\\{byte:04o}").unwrap();
        }
    }
    text
}

/// All directories below a directory, and all files.
fn entries(root: &Path) -> [Vec<PathBuf>; 2] {
    let [mut directories, mut files] = [Vec::new(), Vec::new()];
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap()).collect();
        names.sort_by_key(|name| name.file_name());
        for entry in names {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
                directories.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    [directories, files]
}

/// Changes a tree, and returns what zfs diff would say of each change.
// tidy: one arm for each kind of change
fn mutate(root: &Path, random: &mut Rng) -> Vec<String> {
    let mut rows = Vec::new();
    for number in 0..random.usize(1..12) {
        let [directories, files] = entries(root);
        let (Some(directory), Some(file)) = (random.choice(&directories), random.choice(&files)) else {
            break;
        };
        let odd = ["plain", "white space", "line\nfeed", "back\\slash", "ü"][random.usize(..5)];
        let new = random.choice(&directories).unwrap().join(format!("{odd} {number} {}", random.u16(..)));
        let (from, to) = (zfs_path(directory), zfs_path(&new));
        let text = zfs_path(file);
        let is_inside = new.starts_with(directory);
        rows.push(match random.u8(..11) {
            0 => {
                fs::write(&new, vec![b'x'; random.usize(..9000)]).unwrap();
                format!("+\tF\t{to}")
            }
            1 => {
                fs::create_dir(&new).unwrap();
                fs::write(new.join("inside"), "new").unwrap();
                format!("+\t/\t{to}")
            }
            2 if directory.parent() != Some(root) => {
                fs::remove_dir_all(directory).unwrap();
                format!("-\t/\t{from}")
            }
            3 if !is_inside => {
                fs::rename(directory, &new).unwrap();
                format!("R\t/\t{from}\t{to}")
            }
            4 => {
                fs::rename(file, &new).unwrap();
                format!("R\tF\t{text}\t{to}")
            }
            5 => {
                fs::remove_file(file).unwrap();
                format!("-\tF\t{text}")
            }
            6 => {
                fs::set_permissions(directory, fs::Permissions::from_mode(0o700 + random.u32(..0o77)))
                    .unwrap();
                format!("M\t/\t{from}")
            }
            7 if file.symlink_metadata().unwrap().is_file() => {
                // Nothing is said of further names of the file.
                fs::hard_link(file, &new).unwrap();
                format!("+\tF\t{to}\nM\tF\t{text}\t(+1)")
            }
            8 => {
                symlink("anywhere", &new).unwrap();
                format!("+\t@\t{to}")
            }
            9 => {
                // A file takes the place of a directory, and a directory the place of a file.
                fs::remove_file(file).unwrap();
                fs::create_dir(file).unwrap();
                fs::write(file.join("below"), "").unwrap();
                format!("-\tF\t{text}\n+\t/\t{text}\n+\tF\t{text}/below")
            }
            10 if directory.parent() != Some(root) => {
                fs::remove_dir_all(directory).unwrap();
                fs::write(directory, "a file now").unwrap();
                format!("-\t/\t{from}\n+\tF\t{from}")
            }
            _ if file.symlink_metadata().unwrap().is_file() => {
                fs::write(file, vec![b'y'; random.usize(..9000)]).unwrap();
                format!("M\tF\t{text}")
            }
            _ => continue,
        });
    }
    rows
}

fn covered(index: &RamDirectory) -> Vec<Coverage> {
    coverage_of(Snapshot::open_in(index).unwrap().unwrap().notes()).unwrap()
}

#[test]
fn an_index_follows_lists_of_changes_as_it_follows_scans() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for lanes in [1, 2] {
        let place = tempfile::tempdir().unwrap();
        let (root, list) = (place.path().join("tree"), place.path().join("list"));
        make_tree(&root);
        let index = RamDirectory::new();
        build_all(&index, &of_names(&root, lanes));
        let mut before = all_values(&index);
        for round in 0..8 {
            let mut rows = mutate(&root, &mut random);
            let fresh = RamDirectory::new();
            build_all(&fresh, &of_names(&root, lanes));
            let now = all_values(&fresh);
            let format = if random.bool() {
                random.shuffle(&mut rows);
                fs::write(&list, rows.iter().map(|row| format!("{row}\n")).collect::<String>()).unwrap();
                ChangeFormat::ZfsDiff
            } else {
                // Every path that is new, gone or different.
                let all: BTreeSet<&Vec<u8>> = before.keys().chain(now.keys()).collect();
                let changed = all.into_iter().filter(|path| before.get(*path) != now.get(*path));
                let mut changed: Vec<_> = changed.map(|path| [path.as_slice(), b"\0"].concat()).collect();
                random.shuffle(&mut changed);
                fs::write(&list, changed.concat()).unwrap();
                ChangeFormat::NulPaths
            };
            let report = build_all(&index, &of_list(&root, &list, format, lanes));
            let what = format!("seed {seed} lanes {lanes} round {round}: {rows:?}");
            assert_same(&all_values(&index), &now, &what);
            assert!(report.failed.is_empty() && report.repeated == 0, "{what} {report:?}");
            let told = report.changes.unwrap();
            assert_eq!((told.tally.lost(), told.outside.count), (0, 0), "{what}");
            // A scan of everything finds nothing to do.
            if round % 4 == 3 {
                let again = build_all(&index, &of_names(&root, lanes));
                assert_eq!((again.documents, again.removed), (0, 0), "{what}");
            }
            before = now;
        }
    }
}

#[test]
fn a_list_looks_at_little_and_says_what_it_could_not_use() {
    let place = tempfile::tempdir().unwrap();
    let (root, list) = (place.path().join("tree"), place.path().join("list"));
    make_tree(&root);
    let index = RamDirectory::new();
    build_all(&index, &of_names(&root, 1));
    fs::write(root.join("d1/e1/new"), "new").unwrap();
    fs::remove_file(root.join("d0/e0/file 0.txt")).unwrap();
    let text = format!(
        "{0}/d1/e1/new\n{0}/d0/e0/file 0.txt\n{0}/d0/e0/file 0.txt\n/other\n\nx\0y\n",
        root.display()
    );
    fs::write(&list, text + "/no end").unwrap();
    let report = build_all(&index, &of_list(&root, &list, ChangeFormat::Paths, 1));
    // The root, two directories above each name, and the new file.
    assert_eq!(report.documents + report.unchanged, 6, "{report:?}");
    assert_eq!(report.removed, 1);
    let ChangesReport { tally, paths, outside, .. } = report.changes.unwrap();
    assert_eq!((tally.rows, tally.bad, tally.truncated, tally.lost()), (6, 2, true, 3));
    assert_eq!(tally.first_bad.unwrap().reason, "the path is empty");
    assert_eq!((paths, outside.count, outside.first), (2, 1, Some(PathBuf::from("/other"))));
    let covered = covered(&index);
    let updated = covered[0].updated.clone().unwrap();
    assert_eq!((updated.format.as_str(), updated.lists, updated.lost), ("paths", 1, 3));
    assert!(covered[0].complete && updated.applied > covered[0].ended);
    // A scan of everything makes the index whole again.
    build_all(&index, &of_names(&root, 1));
    assert_eq!(self::covered(&index)[0].updated, None);
}

#[test]
fn a_long_list_is_applied_in_parts_and_counts_as_one() {
    let place = tempfile::tempdir().unwrap();
    let (root, list) = (place.path().join("tree"), place.path().join("list"));
    make_tree(&root);
    let index = RamDirectory::new();
    build_all(&index, &of_names(&root, 1));
    fs::remove_file(root.join("d1/e1/file 1.txt")).unwrap();
    fs::write(root.join("d2/e2/new"), "").unwrap();
    // Paths that are named again and again take more than the memory for one part.
    let again = format!("{}/d0/e0/file 0.txt\n", root.display()).repeat(120_000);
    let text = format!("{0}/d1/e1/file 1.txt\n\n{again}{0}/d2/e2/new\n", root.display());
    fs::write(&list, text).unwrap();
    let memory = 80 << 20;
    let options = IndexOptions { memory, ..of_list(&root, &list, ChangeFormat::Paths, 1) };
    let report = build_all(&index, &options);
    let fresh = RamDirectory::new();
    build_all(&fresh, &of_names(&root, 1));
    assert_same(&all_values(&index), &all_values(&fresh), "parts");
    let told = report.changes.unwrap();
    assert_eq!((told.tally.rows, told.tally.bad, report.removed), (120_003, 1, 1));
    assert!(told.paths > 3, "the list had one part: {told:?}");
    let updated = covered(&index)[0].updated.clone().unwrap();
    assert_eq!((updated.lists, updated.lost), (1, 1));
}

#[test]
fn unread_directories_and_lost_file_systems_are_no_deletions() {
    let place = tempfile::tempdir().unwrap();
    let (root, list) = (place.path().join("tree"), place.path().join("list"));
    fs::create_dir_all(root.join("closed/sub")).unwrap();
    fs::write(root.join("closed/sub/file"), "one").unwrap();
    fs::write(root.join("last"), "two").unwrap();
    let index = RamDirectory::new();
    build_all(&index, &of_names(&root, 1));
    let apply = |paths: &[&str]| {
        let text = paths.iter().map(|path| format!("{}\n", root.join(path).display())).collect::<String>();
        fs::write(&list, text).unwrap();
        build_all(&index, &of_list(&root, &list, ChangeFormat::Paths, 1))
    };
    let count = || values(&index, "path").len();
    assert_eq!(count(), 5);
    let is_root = fs::metadata(place.path()).unwrap().uid() == 0 && fs::read_dir("/root").is_ok();
    if !is_root {
        fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        let report = apply(&["closed/sub/file", "closed/sub"]);
        assert_eq!((report.removed, report.failed.len(), count()), (0, 1, 5), "{report:?}");
        assert_eq!(covered(&index)[0].unread, 1);
        fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    } else {
        println!("SKIPPED the directory without permission: root reads everything");
    }
    // The root is empty, as the place of a file system that is not mounted.
    fs::remove_dir_all(root.join("closed")).unwrap();
    fs::remove_file(root.join("last")).unwrap();
    let report = apply(&["closed", "last"]);
    assert_eq!((report.removed, report.failed.len(), count()), (0, 1, 5), "{report:?}");
    assert!(report.failed[0].reason.contains("4 files"), "{report:?}");
    fs::write(root.join("new"), "").unwrap();
    let report = apply(&["closed", "last", "new"]);
    assert_eq!((report.removed, report.failed.len(), count()), (4, 0, 2), "{report:?}");
}

#[test]
fn a_list_needs_a_complete_scan_of_its_directories() {
    let place = tempfile::tempdir().unwrap();
    let (root, list) = (place.path().join("tree"), place.path().join("list"));
    make_tree(&root);
    fs::write(&list, "").unwrap();
    let index = RamDirectory::new();
    let apply = |root: &Path| {
        let options = of_list(root, &list, ChangeFormat::Paths, 1);
        build_in(&index, &options, &Progress::new(), &Arc::default()).map_err(|error| error.to_string())
    };
    assert!(apply(&root).unwrap_err().contains("scan"), "no index yet");
    build_all(&index, &of_names(&root.join("d1"), 1));
    let error = apply(&root).unwrap_err();
    assert!(error.contains("no complete scan of this directory"), "{error}");
    assert_eq!(apply(&root.join("d1")).unwrap().documents, 0);
}

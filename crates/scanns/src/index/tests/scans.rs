//! Scans of names and metadata: whatever changes in a tree, the index follows, and nothing is lost because a
//! file system is not mounted.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::dumps::{all_values, assert_same, find, make_tree, of_dump, of_names};
use super::metadata::{build_all, values};
use super::*;
use crate::column::split_path;
use crate::index::coverage::coverage_of;
use crate::index::snapshot::Snapshot;
use crate::index::{MergeOptions, check_in, merge_in};
use crate::record::dump::RECOMMENDED_FORMAT;
use crate::segment::CheckLevel;
use crate::store::RamDirectory;

/// Changes a tree a little.
fn change(root: &Path, random: &mut Rng) {
    let all =
        Command::new("find").arg(root).args(["-mindepth", "1", "-type", "d", "-print0"]).output().unwrap();
    let directories: Vec<PathBuf> = all
        .stdout
        .split(|&byte| byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| std::ffi::OsStr::from_bytes(path).into())
        .collect();
    for number in 0..random.usize(1..6) {
        let directory = &directories[random.usize(..directories.len())];
        let new = directory.join(format!("new {number} {}", random.u8(..)));
        // Another change may have taken the directory away.
        let _ = match random.u8(..6) {
            0 => fs::write(&new, vec![b'x'; random.usize(..9000)]),
            1 => fs::create_dir(&new),
            2 => fs::remove_dir_all(directory),
            3 => fs::rename(directory, root.join(format!("moved {number} {}", random.u32(..)))),
            4 => fs::set_permissions(directory, fs::Permissions::from_mode(0o700 + random.u32(..0o77))),
            _ => fs::hard_link(root.join("d0/e0/file 0.txt"), &new),
        };
    }
}

#[test]
fn an_index_follows_a_tree_that_changes_between_scans() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for lanes in [1, 2] {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("tree");
        make_tree(&root);
        let index = RamDirectory::new();
        for round in 0..8 {
            let fresh = RamDirectory::new();
            let report = build_all(&index, &of_names(&root, lanes));
            let all = build_all(&fresh, &of_names(&root, lanes));
            assert_same(&all_values(&index), &all_values(&fresh), &format!("seed {seed} round {round}"));
            assert_eq!(report.documents + report.unchanged, all.documents);
            assert!(report.failed.is_empty(), "{report:?}");
            let again = build_all(&index, &of_names(&root, lanes));
            assert_eq!((again.documents, again.removed, again.unchanged), (0, 0, all.documents));
            change(&root, &mut random);
        }
    }
}

/// The number of segments, and the paths of all documents in their order.
fn paths_in_order(index: &RamDirectory) -> (usize, Vec<Vec<u8>>) {
    let snapshot = Snapshot::open_in(index).unwrap().unwrap();
    let path = snapshot.schema().field("path").unwrap();
    let mut paths = Vec::new();
    let fields = [crate::index::snapshot::batch::BatchField::Values(path)];
    snapshot
        .for_each_batch(&Query::All, &fields, &Default::default(), &mut |batch| {
            for row in 0..batch.docs.len() {
                if let Some(crate::schema::ValueRef::Text(path)) = batch.columns[0].values(row).next() {
                    paths.push(path.to_vec());
                }
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    (snapshot.segments().len(), paths)
}

#[test]
fn documents_are_in_the_order_of_directories_and_names() {
    let place = tempfile::tempdir().unwrap();
    make_tree(&place.path().join("tree"));
    let index = RamDirectory::new();
    build_all(&index, &of_names(place.path(), 1));
    let (segments, paths) = paths_in_order(&index);
    assert_eq!(segments, 1);
    assert!(paths.len() > 300 && paths.is_sorted_by_key(|path| split_path(path)));
}

#[test]
fn merges_put_documents_in_the_order_of_directories() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("tree");
    make_tree(&root);
    let index = RamDirectory::new();
    for _ in 0..5 {
        build_all(&index, &of_names(&root, 1));
        change(&root, &mut random);
    }
    let (segments, before) = paths_in_order(&index);
    let values = all_values(&index);
    assert!(segments > 1 && !before.is_sorted_by_key(|path| split_path(path).0), "seed {seed}");
    let never = AtomicBool::new(false);
    merge_in(&index, &MergeOptions::default(), &Progress::new(), &never).unwrap();
    let checked = check_in(&index, CheckLevel::Cross, &Progress::new(), &never).unwrap();
    assert!(checked.is_whole(), "seed {seed} {checked:?}");
    let (segments, after) = paths_in_order(&index);
    assert_eq!((segments, after.len()), (1, before.len()), "seed {seed}");
    assert!(after.is_sorted_by_key(|path| split_path(path).0), "seed {seed}");
    assert_same(&all_values(&index), &values, &format!("seed {seed}"));
}

#[test]
fn what_is_below_the_place_of_a_lost_file_system_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let (root, dump) = (place.path().join("tree"), place.path().join("dump"));
    fs::create_dir_all(root.join("mount/sub")).unwrap();
    fs::create_dir_all(root.join("plain/sub")).unwrap();
    fs::write(root.join("mount/sub/file"), "one").unwrap();
    fs::write(root.join("plain/sub/file"), "two").unwrap();
    // As if another file system had been there when the dump was made.
    find(&root, "%p\\t%s\\t%T@\\t%C@\\t%D\\t%y\\n", &dump);
    let text = fs::read_to_string(&dump).unwrap();
    let moved = |row: &str| -> String {
        let mut cells: Vec<&str> = row.split('\t').collect();
        if row.contains("/mount") {
            cells[4] = "7777";
        }
        cells.join("\t") + "\n"
    };
    let rows: String = text.lines().map(moved).collect();
    fs::write(&dump, rows).unwrap();
    let index = RamDirectory::new();
    build_all(&index, &of_dump(&dump, "%p\\t%s\\t%T@\\t%C@\\t%D\\t%y\\n", 1));
    let paths = || -> Vec<String> {
        let found = values(&index, "path").into_keys();
        let name = |path: Vec<u8>| String::from_utf8(path).unwrap().replace(root.to_str().unwrap(), "");
        found.map(name).collect()
    };
    assert_eq!(paths().len(), 7);

    fs::remove_dir_all(root.join("mount/sub")).unwrap();
    fs::remove_dir_all(root.join("plain/sub")).unwrap();
    // The first scan indexes the place on its new device; this must not matter to the next one.
    for _ in 0..3 {
        let report = build_all(&index, &of_names(&root, 1));
        assert_eq!(paths(), ["", "/mount", "/mount/sub", "/mount/sub/file", "/plain"]);
        assert_eq!(report.failed.len(), 1, "{report:?}");
        assert_eq!(report.failed[0].path, root.join("mount"));
        assert!(report.failed[0].reason.contains("2 files"), "{report:?}");
    }

    // Once something is there, the rest is gone.
    fs::write(root.join("mount/new"), "").unwrap();
    let report = build_all(&index, &of_names(&root, 1));
    assert!(report.failed.is_empty(), "{report:?}");
    assert_eq!(paths(), ["", "/mount", "/mount/new", "/plain"]);

    fs::remove_dir_all(&root).unwrap();
    fs::create_dir(&root).unwrap();
    let report = build_all(&index, &of_names(&root, 1));
    assert_eq!(paths().len(), 4, "an empty root is no deletion");
    assert_eq!(report.failed[0].path, root);
}

#[test]
fn an_index_knows_what_it_covers() {
    let place = tempfile::tempdir().unwrap();
    let (root, dump) = (place.path().join("tree"), place.path().join("dump"));
    make_tree(&root);
    let index = RamDirectory::new();
    let report = build_all(&index, &of_names(&root, 2));
    let covered =
        |index: &RamDirectory| coverage_of(Snapshot::open_in(index).unwrap().unwrap().notes()).unwrap();
    let first = covered(&index);
    assert_eq!(first.len(), 1);
    assert_eq!((&first[0].path, first[0].entries, first[0].complete), (&root, report.documents, true));
    assert!(first[0].began <= first[0].ended && first[0].format.is_none());
    find(&root, RECOMMENDED_FORMAT, &dump);
    build_all(&index, &of_dump(&dump, RECOMMENDED_FORMAT, 1));
    let both = covered(&index);
    assert_eq!(both.len(), 2);
    assert_eq!((&both[0].path, both[0].format.as_deref()), (&dump, Some("find")));
    assert_eq!(both[0].entries, report.documents);
}

//! Imports of dumps, compared with scans of the same tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::metadata::{build_all, values};
use super::*;
use crate::content::ContentOptions;
use crate::index::build::options::DumpOptions;
use crate::record::dump::{DumpFormat, RECOMMENDED_FORMAT};
use crate::store::RamDirectory;

pub(super) fn of_names(root: &Path, lanes: usize) -> IndexOptions {
    let names = ContentOptions { names_only: true, ..ContentOptions::default() };
    let fields = FieldOptions::default();
    IndexOptions { contents: Some(names), fields, analyzer: None, ..options(root, Records::File, lanes) }
}

pub(super) fn of_dump(dump: &Path, format: &str, lanes: usize) -> IndexOptions {
    let format = DumpFormat::Named { name: "find", details: Some(format.to_owned()) };
    let dump = DumpOptions { files: vec![dump.to_path_buf()], format, ..DumpOptions::default() };
    IndexOptions { dump: Some(dump), contents: None, ..of_names(Path::new("/nonexistent"), lanes) }
}

/// A tree of every kind of entry that can be made without rights.
pub(super) fn make_tree(root: &Path) {
    for at in 0..300 {
        let directory = root.join(format!("d{}", at % 7)).join(format!("e{}", at % 3));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("file {at}.txt")), "x".repeat(at)).unwrap();
    }
    let odd = root.join(OsStr::from_bytes(b"line\nfeed\t\xff"));
    fs::create_dir_all(&odd).unwrap();
    fs::write(odd.join("f"), "odd").unwrap();
    symlink("nowhere\nat all", odd.join("link")).unwrap();
    Command::new("mkfifo").arg(odd.join("pipe")).status().unwrap();
    fs::set_permissions(odd.join("f"), fs::Permissions::from_mode(0o4751)).unwrap();
}

pub(super) fn find(root: &Path, format: &str, to: &Path) {
    let found = Command::new("find").arg(root).args(["-printf", format]).output().unwrap();
    assert!(found.status.success());
    fs::write(to, found.stdout).unwrap();
}

const FIELDS: [&str; 18] = [
    "path", "name", "ext", "type", "target", "owner", "group", "mtime", "ctime", "size", "blocks", "depth",
    "uid", "gid", "mode", "inode", "links", "device",
];

/// All values that a dump and a scan have in common.
pub(super) fn all_values(directory: &RamDirectory) -> BTreeMap<Vec<u8>, String> {
    let mut found: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    for field in FIELDS {
        for (key, values) in values(directory, field) {
            *found.entry(key).or_default() += &format!("{field} {values:?}\n");
        }
    }
    found
}

pub(super) fn assert_same(
    found: &BTreeMap<Vec<u8>, String>,
    expected: &BTreeMap<Vec<u8>, String>,
    what: &str,
) {
    let keys = |of: &BTreeMap<Vec<u8>, String>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(found).len(), keys(expected).len(), "{what}");
    for (path, values) in expected {
        assert_eq!(found.get(path), Some(values), "{what}: {}", String::from_utf8_lossy(path));
    }
}

#[test]
fn a_dump_makes_the_documents_of_a_scan_and_a_later_dump_updates_them() {
    let place = tempfile::tempdir().unwrap();
    let (root, dump) = (place.path().join("tree"), place.path().join("dump"));
    for lanes in [1, 3] {
        make_tree(&root);
        let (imported, scanned) = (RamDirectory::new(), RamDirectory::new());
        for round in 0..3 {
            if round == 1 {
                fs::remove_dir_all(root.join("d3")).unwrap();
                fs::write(root.join("d4/new"), "new").unwrap();
                let old = root.join("d5/e0/file 12.txt");
                fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
            }
            find(&root, RECOMMENDED_FORMAT, &dump);
            let first = build_all(&scanned, &of_names(&root, lanes));
            let report = build_all(&imported, &of_dump(&dump, RECOMMENDED_FORMAT, lanes));
            assert!(report.failed.is_empty() && report.kept.is_none(), "{report:?}");
            let what = format!("{lanes} lanes, round {round}");
            assert_same(&all_values(&imported), &all_values(&scanned), &what);
            let of =
                |report: &IndexReport| (report.documents, report.unchanged, report.replaced, report.removed);
            assert_eq!(of(&report), of(&first), "{what}");
            assert_eq!(report.dumps.len(), 1);
            assert_eq!(report.dumps[0].entries, report.documents + report.unchanged);
        }
        // A scan finds that nothing has changed since the dump.
        let report = build_all(&imported, &of_names(&root, lanes));
        assert_eq!((report.documents, report.removed), (0, 0));
        fs::remove_dir_all(&root).unwrap();
    }
}

#[test]
fn nothing_is_deleted_if_a_dump_is_damaged_cut_or_without_directories() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("dump");
    let directory = RamDirectory::new();
    let import = |text: &str, root: Option<&str>| {
        fs::write(&dump, text).unwrap();
        let mut options = of_dump(&dump, r"%y %s %p\n", 2);
        if let Some(dump) = &mut options.dump {
            dump.root = root.map(PathBuf::from);
        }
        let report = build_all(&directory, &options);
        let paths: Vec<_> = values(&directory, "path").into_keys().collect();
        (report, paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect::<Vec<_>>())
    };
    let (_, paths) = import("d 0 /a\nf 1 /a/x\nf 2 /a/y\nd 0 /b\nf 3 /b/z\n", None);
    assert_eq!(paths, ["/a", "/a/x", "/a/y", "/b", "/b/z"]);
    let (report, paths) = import("q 0 /a\nd 0 /a\nf 1 /a/x\n", None);
    assert_eq!((report.removed, paths.len(), report.dumps[0].tally.bad), (0, 5, 1));
    assert!(report.kept.is_some() && report.dumps[0].is_lossy());
    let (report, paths) = import("d 0 /a\nf 1 /a", None);
    assert_eq!((report.removed, paths.len()), (0, 5));
    assert!(report.dumps[0].tally.truncated && report.kept.is_some());
    let (report, paths) = import("f 1 /a/x\n", None);
    assert_eq!((report.removed, paths.len()), (0, 5));
    assert!(report.kept.is_some_and(|why| why.contains("no directories")) && !report.dumps[0].is_lossy());
    // Only what is below the directories of the dump is deleted.
    let (report, paths) = import("d 0 /a\nf 1 /a/x\n", None);
    assert_eq!((report.removed, report.kept), (1, None));
    assert_eq!(paths, ["/a", "/a/x", "/b", "/b/z"]);
    let (report, paths) = import("f 7 ./n\nd 0 .\n", Some("/b"));
    assert_eq!((report.removed, paths), (1, ["/a", "/a/x", "/b", "/b/n"].map(String::from).to_vec()));
}

#[test]
fn a_dump_needs_an_index_of_names_and_a_format_that_is_certain() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("dump");
    fs::write(&dump, "/a\n/b\n").unwrap();
    let build = |directory: &RamDirectory, options: &IndexOptions| {
        build_in(directory, options, &Progress::new(), &Arc::default())
    };
    let mut options = of_dump(&dump, "", 1);
    let error = build(&RamDirectory::new(), &options).unwrap_err().to_string();
    assert!(error.contains("the format has no path"), "{error}");
    if let Some(dump) = &mut options.dump {
        dump.format = DumpFormat::Detect;
    }
    let error = build(&RamDirectory::new(), &options).unwrap_err().to_string();
    assert!(error.contains("its format is not certain"), "{error}");
    let directory = RamDirectory::new();
    let with_text = IndexOptions { contents: None, ..of_names(place.path(), 1) };
    build(&directory, &with_text).unwrap();
    let error = build(&directory, &of_dump(&dump, r"%p\n", 1)).unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    let missing = of_dump(&place.path().join("missing"), r"%p\n", 1);
    assert!(matches!(build(&RamDirectory::new(), &missing), Err(Error::Io { .. })));
}

#[test]
fn dates_that_do_not_fit_are_counted_with_the_first_path() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("dump");
    fs::write(&dump, "/b 99999999999\n/a 99999999999\n/c 1\n/d -99999999999\n").unwrap();
    let directory = RamDirectory::new();
    let report = build_all(&directory, &of_dump(&dump, r"%p %T@\n", 1));
    let [conflict] = &report.records.conflicts[..] else { panic!("{:?}", report.records.conflicts) };
    assert_eq!((conflict.count, conflict.values, conflict.path.as_path()), (3, 4, Path::new("/a")));
}

#[test]
fn of_several_entries_with_the_same_path_one_is_kept_and_the_others_are_counted() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("dump");
    let rows: String = (0..5000).map(|at| format!("f {at} /a/{}\n", at % 1800)).collect();
    fs::write(&dump, format!("d 0 /a\n{rows}d 0 /a\n")).unwrap();
    let directory = RamDirectory::new();
    for round in 0..2 {
        let options = IndexOptions { merge: None, ..of_dump(&dump, r"%y %s %p\n", 3) };
        let report = build_all(&directory, &options);
        let kept = values(&directory, "path").len();
        assert_eq!((kept, report.documents, report.repeated), (1801, 1801, 3201), "round {round}");
        assert_eq!(report.first_repeated.as_deref(), Some(Path::new("/a")));
        assert_eq!(report.removed, 0, "round {round}");
    }
}

#[test]
fn a_dump_of_which_no_row_can_be_read_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("dump");
    for (text, reason) in [("x y\nz\n", "no row is one of the format find"), ("", "it is empty")] {
        fs::write(&dump, text).unwrap();
        let directory = RamDirectory::new();
        let options = of_dump(&dump, r"%s %p\n", 2);
        let error = build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap_err();
        assert!(matches!(&error, Error::Dump { .. }) && error.to_string().contains(reason), "{error}");
        assert!(Snapshot::open_in(&directory).unwrap().is_none());
    }
}

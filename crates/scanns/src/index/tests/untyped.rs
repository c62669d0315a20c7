//! Entries whose dumps do not tell their types.

use super::dumps::of_dump;
use super::metadata::{build_all, values};
use super::*;
use crate::schema::Value;
use crate::store::RamDirectory;

/// The types by path; `-` where the type is not known.
fn types(directory: &RamDirectory) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut paths: BTreeMap<_, _> =
        values(directory, "path").into_keys().map(|path| (text(&path), "-".to_owned())).collect();
    for (path, found) in values(directory, "type") {
        if let [Value::Text(kind)] = &found[..] {
            paths.insert(text(&path), text(kind));
        }
    }
    paths
}

/// Imports these dumps together.
fn import(directory: &RamDirectory, place: &Path, dumps: &[String], lanes: usize) -> IndexReport {
    let files: Vec<PathBuf> = (0..dumps.len()).map(|at| place.join(format!("dump{at}"))).collect();
    files.iter().zip(dumps).for_each(|(file, dump)| fs::write(file, dump).unwrap());
    let mut options = of_dump(&files[0], r"%p\t%s\t%T@\t%y\n", lanes);
    if let Some(dump) = &mut options.dump {
        dump.files = files;
    }
    build_all(directory, &options)
}

#[test]
fn what_others_are_below_is_a_directory_in_any_order_and_division() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    for round in 0..40 {
        let mut all: BTreeMap<String, String> = BTreeMap::new();
        for _ in 0..random.usize(1..60) {
            let start = *random.choice(&["/", "", "./"]).unwrap();
            let depth = random.usize(1..5);
            let names: Vec<&str> =
                (0..depth).map(|_| *random.choice(&["a", "b", "a-b", "a!", "aa"]).unwrap()).collect();
            let kind = if random.u8(..8) == 0 { "f" } else { "?" };
            all.insert(format!("{start}{}", names.join("/")), kind.to_owned());
        }
        for top in ["/", "."] {
            if random.bool() {
                all.insert(top.to_owned(), "?".to_owned());
            }
        }
        let mut rows: Vec<(String, String)> = all.clone().into_iter().collect();
        random.shuffle(&mut rows);
        let directory = RamDirectory::new();
        let (builds, lanes) = (random.usize(1..4), random.usize(1..4));
        let mut count = 0;
        for part in rows.chunks(rows.len().div_ceil(builds)) {
            let lines: Vec<String> =
                part.iter().map(|(path, kind)| format!("{path}\t7\t100\t{kind}\n")).collect();
            let dumps: Vec<String> =
                lines.chunks(lines.len().div_ceil(random.usize(1..4))).map(<[String]>::concat).collect();
            let report = import(&directory, place.path(), &dumps, lanes);
            assert!(report.failed.is_empty(), "seed {seed} round {round}: {report:?}");
            count += report.documents;
        }
        let is_below = |path: &str, top: &str| {
            path != top && path.starts_with(&format!("{}/", if top == "/" { "" } else { top }))
        };
        for (path, kind) in &mut all {
            let has_below = path == "/" || rows.iter().any(|(other, _)| is_below(other, path));
            let name = match kind.as_str() {
                "f" => "file",
                _ if has_below => "directory",
                _ => "-",
            };
            *kind = name.to_owned();
        }
        assert_eq!(types(&directory), all, "seed {seed} round {round}");
        assert_eq!(count, all.len() as u64, "seed {seed} round {round}");
        for field in ["size", "mtime", "source", "scanned"] {
            assert!(values(&directory, field).values().all(|values| values.len() == 1), "{field}");
        }
    }
}

#[test]
fn an_entry_below_which_everything_is_gone_keeps_no_type_that_it_did_not_have() {
    let place = tempfile::tempdir().unwrap();
    let directory = RamDirectory::new();
    import(&directory, place.path(), &["/t\t1\t1\td\n/t/a/b\t1\t1\tf\n".to_owned()], 1);
    let report = import(&directory, place.path(), &["/t\t1\t1\td\n/t/c\t1\t1\tf\n".to_owned()], 1);
    assert_eq!(report.removed, 1);
    import(&directory, place.path(), &["/t/a\t1\t1\t?\n".to_owned()], 1);
    let expected = [("/t", "directory"), ("/t/a", "-"), ("/t/c", "file")];
    let expected: BTreeMap<_, _> = expected.map(|(path, kind)| (path.to_owned(), kind.to_owned())).into();
    assert_eq!(types(&directory), expected);
}

#[test]
fn entries_that_have_not_changed_are_skipped_though_their_types_are_known_now() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("dump");
    fs::write(&file, "/a\t5\t100\t100\n/a/b\t5\t100\t100\n/c\t5\t100\t100\n").unwrap();
    let directory = RamDirectory::new();
    let options = of_dump(&file, r"%p\t%s\t%T@\t%C@\n", 1);
    assert_eq!(build_all(&directory, &options).documents, 3);
    let report = build_all(&directory, &options);
    assert_eq!((report.documents, report.unchanged), (0, 3));
    assert_eq!(types(&directory)["/a"], "directory");
}

//! Looks at chosen paths, compared with scans.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

use super::*;
use crate::source::changed_paths::ChangedPaths;

/// What a caller knows that has scanned everything.
fn known_of(rows: &[Row]) -> HashMap<Vec<u8>, KnownPlace> {
    let place = |row: &Row| {
        let meta = Path::new(std::ffi::OsStr::from_bytes(&row.path)).symlink_metadata().unwrap();
        let known = match meta.is_dir() {
            true => KnownPlace::Directory { inode: Some(meta.ino()), device: Some(meta.dev()) },
            false => KnownPlace::Other,
        };
        (row.path.clone(), known)
    };
    rows.iter().map(place).collect()
}

/// The entries that a look lists, and what it says is gone.
fn looked(
    options: &ScanOptions,
    paths: &[Vec<u8>],
    known: &HashMap<Vec<u8>, KnownPlace>,
) -> (Vec<Row>, LookReport) {
    let mut wanted = ChangedPaths::default();
    paths.iter().for_each(|path| wanted.push(path, false));
    wanted.sort();
    let known = |path: &[u8]| known.get(path).copied().unwrap_or(KnownPlace::Nothing);
    let found = Mutex::new(Vec::new());
    let send = |batch: EntryBatch| {
        found.lock().unwrap().extend(batch.iter().map(|entry| Row::of_entry(&entry)));
        true
    };
    let (report, looked) =
        super::look(options, Look::new(&wanted, &known, true), &AtomicBool::new(false), &send).unwrap();
    assert!(report.complete && report.unread.is_empty(), "{report:?}");
    let mut rows = found.into_inner().unwrap();
    rows.sort();
    (rows, looked)
}

#[test]
fn a_look_at_every_path_lists_what_a_scan_lists_with_any_number_of_threads() {
    let place = place();
    for directory in 0..5 {
        let files: Vec<String> =
            (0..400 * directory).map(|file| format!("d{directory}/e{}/f {file}", file % 3)).collect();
        place.add(&files.iter().map(String::as_str).collect::<Vec<_>>());
    }
    // Each name is as long as the system allows.
    let (mut at, name) = (place.at("deep"), "n".repeat(255));
    for _ in 0..12 {
        std::fs::create_dir_all(&at).unwrap();
        at = at.join(&name);
    }
    for threads in [1, 2, 4] {
        let options = options(&[&place.path], threads);
        let (rows, _) = rows(&options);
        assert!(rows.len() > 4000);
        let paths: Vec<Vec<u8>> = rows.iter().map(|row| row.path.clone()).collect();
        let (found, report) = looked(&options, &paths, &known_of(&rows));
        assert!(found == rows && report.trees.is_empty() && report.files.is_empty(), "{report:?}");
        // If nothing is known, everything below the first path is scanned.
        let (found, report) = looked(&options, &paths[7..8], &HashMap::new());
        assert!(found == rows);
        assert_eq!(report.trees, [place.path.as_os_str().as_bytes()]);
    }
}

#[test]
fn a_look_tells_what_is_gone_and_enters_no_directory_through_a_link() {
    let place = place();
    place.add(&["a/file", "a/other", "b/c/file", "b/kept", "real/x"]);
    let options = options(&[&place.path], 2);
    let known = known_of(&rows(&options).0);
    std::fs::remove_file(place.at("a/file")).unwrap();
    std::fs::remove_dir_all(place.at("b/c")).unwrap();
    std::fs::remove_dir_all(place.at("real")).unwrap();
    std::os::unix::fs::symlink("a", place.at("real")).unwrap();
    let path = |name: &str| place.at(name).as_os_str().as_bytes().to_vec();
    let wanted = ["a/file", "b/c/file", "b/c", "never/there", "real/other"].map(path);
    let (found, mut report) = looked(&options, &wanted, &known);
    assert_eq!(names(&found, &place.path), ["", "a", "b", "real"]);
    report.trees.sort();
    assert_eq!(report.trees, [path("b/c"), path("real")]);
    assert_eq!(report.files, [path("a/file")]);
}

//! Files that are not what their metadata says, dates that do not fit, and places that cannot be written.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::{Place, Ran, run, scanns, skipped};

#[test]
fn files_whose_size_is_zero_are_read_to_their_end() {
    let place = Place::with(&[("empty", "")]);
    let files = ["/proc/cpuinfo", "/proc/self/limits"];
    let zero = |path: &&str| std::fs::metadata(path).is_ok_and(|found| found.len() == 0);
    if !files.iter().all(zero) {
        return skipped("files_whose_size_is_zero_are_read_to_their_end", "there is no /proc");
    }
    let index = || {
        let ran = run(scanns(&["index", "--json", "-o"]).arg(place.index()).args(files).arg(place.files()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.json()["documents"].clone()
    };
    assert_eq!(index(), json!(3));
    assert_eq!(place.found(&["open AND files AND processes"]), ["limits"]);
    assert_eq!(place.found(&["processor"]), ["cpuinfo"]);
    // Longer than a block, where the names of symbols may be read.
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    if symbols.len() > 2 << 20 {
        let all = place.dir.path().join("symbols.scanns");
        let ran = run(scanns(&["index", "--json", "--analyzer", "whitespace", "-o"])
            .arg(all)
            .arg("/proc/kallsyms"));
        let (bytes, tokens) = (&ran.json()["bytes"], &ran.json()["tokens"]);
        let expected = (symbols.len(), symbols.split_whitespace().count());
        assert_eq!((bytes, tokens), (&json!(expected.0), &json!(expected.1)));
    }
    let lines = place.dir.path().join("lines.scanns");
    let ran = run(scanns(&["index", "--json", "--records", "lines", "-o"]).arg(lines).args(files));
    assert!(ran.json()["documents"].as_u64().unwrap() > 10, "{}", ran.stderr);
}

#[test]
fn dates_of_files_that_do_not_fit_are_left_out_and_named() {
    let place = Place::with(&[("good", "word"), ("late", "word")]);
    let late = std::fs::File::options().write(true).open(place.files().join("late")).unwrap();
    let year_2500 = SystemTime::UNIX_EPOCH + Duration::from_secs(16_725_225_600);
    if late.set_modified(year_2500).is_err() || late.metadata().unwrap().mtime() < 9_300_000_000 {
        return skipped("dates_of_files_that_do_not_fit_are_left_out_and_named", "files have no such dates");
    }
    let ran = place.index_with(&["--json"]);
    let conflict = &ran.json()["records"]["conflicts"][0];
    assert_eq!(
        (&conflict["field"], &conflict["left_out"], &conflict["values"]),
        (&json!("mtime"), &json!(1), &json!(2))
    );
    assert!(conflict["path"].as_str().unwrap().ends_with("/late"), "{conflict}");
    assert_eq!(ran.code, Some(1), "one of two dates is more than one percent");
    let ran = place.index_with(&["--reindex"]);
    assert!(
        ran.stderr.contains("field mtime: 1 of 2 values") && ran.stderr.contains("after 2262-04-11"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.found(&["mtime:*"]), ["good"]);
    assert_eq!(place.found(&["word"]), ["good", "late"]);
    for query in ["mtime:<1500-01-01", "mtime:>2300", "mtime:[1500 TO 2500]"] {
        let ran = place.search(&[query]);
        assert!(
            ran.code == Some(2) && ran.stderr.contains("from 1677-09-21 to 2262-04-11"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn an_output_that_cannot_be_written_is_named_once_with_what_to_do() {
    let place = Place::with(&[("a", "word")]);
    let binary = place.dir.path().join("scanns");
    std::fs::copy(env!("CARGO_BIN_EXE_scanns"), &binary).unwrap();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(place.dir.path(), 0o755);
    place.indexed(&[]);
    mode(&place.index(), 0o555);
    let user = ["--reuid=54321", "--regid=54321", "--clear-groups"];
    let new = place.dir.path().join("new.scanns");
    for output in [&place.index(), &new] {
        let mut command = Command::new("setpriv");
        command.args(user).arg(&binary).args(["index", "--reindex", "-o"]).arg(output).arg(place.files());
        let Ok(out) = command.stdin(Stdio::null()).output() else {
            return skipped("an_output_that_cannot_be_written_is_named_once_with_what_to_do", "no setpriv");
        };
        let ran = Ran::from(out);
        if ran.stderr.starts_with("setpriv") {
            return skipped("an_output_that_cannot_be_written_is_named_once_with_what_to_do", "not root");
        }
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("Permission denied").count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(output.to_str().unwrap()), "{}", ran.stderr);
        assert!(ran.stderr.contains("choose another place"), "{}", ran.stderr);
    }
    assert_eq!(place.count("word"), 1);
}

#[test]
fn an_output_that_vanishes_during_a_build_is_an_error() {
    let place = Place::with(&[("a", "word")]);
    place.indexed(&[]);
    let mut child = scanns(&["index", "--reindex", "--files-from", "-", "-o"])
        .arg(place.index())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The build holds the lock of the index before it reads its list.
    let lock = place.index().join("lock").canonicalize().unwrap();
    let holds_lock = |pid: u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|file| file == lock)
    };
    let began = std::time::Instant::now();
    while !holds_lock(child.id()) {
        assert!(began.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_dir_all(place.index()).unwrap();
    let path = place.files().join("a");
    child.stdin.take().unwrap().write_all(path.as_os_str().as_encoded_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("a.scanns") && ran.stderr.contains("removed meanwhile"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("No such file").count(), 1, "{}", ran.stderr);
}

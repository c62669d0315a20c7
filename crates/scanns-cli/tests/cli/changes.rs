//! `scanns index --changes`: lists of changes instead of a scan.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Place, Ran, run, scanns};

/// A place whose files were scanned.
fn scanned() -> Place {
    let place = Place::with(&[("a/one", "1"), ("a/two", "22"), ("b/c/three", "333"), ("last", "")]);
    place.indexed(&["--content", "none"]);
    place
}

/// Applies a list, which is standard input.
fn apply(place: &Place, list: &str, more: &[&str]) -> Ran {
    let mut command = scanns(&["index", "-o"]);
    command.arg(place.index()).args(more).arg("-").arg(place.files());
    let mut child = with_lfs(place, &mut command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

/// Lets a command find an `lfs` that takes inodes for the FIDs of the directory with the files.
fn with_lfs<'c>(place: &Place, command: &'c mut Command) -> &'c mut Command {
    let programs = place.dir.path().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let script = r#"#!/bin/sh
[ "$1 $2" = "fid2path -f" ] || exit 2
root=$3
shift 3
for fid; do
    inode=$(printf %d "$(echo "$fid" | cut -d [ -f 2 | cut -d : -f 1)")
    found=$(find "$root" -inum "$inode" -printf "$fid %p\n")
    if [ -n "$found" ]; then echo "$found"
    else echo "lfs fid2path: cannot find $root $fid: No such file or directory" >&2; fi
done
"#;
    fs::write(programs.join("lfs"), script).unwrap();
    fs::set_permissions(programs.join("lfs"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", programs.display()))
}

/// The paths in the index, below the directory with the files.
fn paths(place: &Place) -> Vec<String> {
    let hits = place.search(&["*", "--all", "--json"]).lines();
    let root = place.files().display().to_string();
    let mut paths: Vec<_> = hits.iter().map(|hit| hit["key"].as_str().unwrap().replace(&root, "")).collect();
    paths.sort();
    paths
}

/// What a scan of everything has to do after the lists.
fn left_to_do(place: &Place) -> (u64, u64) {
    let report = place.index_with(&["--content", "none", "--json"]).json();
    (report["documents"].as_u64().unwrap(), report["removed"].as_u64().unwrap())
}

#[test]
fn lists_of_paths_update_an_index_and_say_so() {
    let place = scanned();
    let root = place.files();
    fs::remove_dir_all(root.join("b")).unwrap();
    fs::write(root.join("a/new"), "new").unwrap();
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("d/below"), "").unwrap();
    let list = format!("{0}/b\n{0}/a/new\n{0}/a/new\n{0}/d\n", root.display());
    let ran = apply(&place, &list, &["--changes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.text());
    assert!(ran.text().contains("removed: 3 documents of 3 files"), "{}", ran.text());
    assert!(ran.text().contains("changes -: 4 rows, 3 paths looked at, format paths"), "{}", ran.text());
    assert_eq!(paths(&place), ["", "/a", "/a/new", "/a/one", "/a/two", "/d", "/d/below", "/last"]);
    let info = place.info(&["--completeness"]);
    assert_eq!(info.code, Some(0));
    assert!(info.text().contains("by 1 list of changes, the last of format paths"), "{}", info.text());
    let json = place.info(&["--completeness", "--json"]).json();
    assert_eq!(json["covered"][0]["updated"]["lists"], 1);
    assert_eq!(left_to_do(&place), (0, 0));
}

#[test]
fn what_a_list_lacks_is_counted_and_changes_the_exit_code() {
    let place = scanned();
    let list = format!("{}/a/one\n\n/elsewhere\n/cut", place.files().display());
    let ran = apply(&place, &list, &["--changes=paths", "--json"]);
    assert_eq!(ran.code, Some(1));
    let changes = &ran.json()["changes"];
    assert_eq!(
        (&changes["bad"], &changes["outside"], &changes["truncated"]),
        (&1.into(), &1.into(), &true.into())
    );
    let ran = apply(&place, &list, &["--changes=paths"]);
    for part in [
        "-: 1 row could not be read; the first at byte",
        "the path is empty",
        "the list is cut off",
        "1 path outside of the scanned directories, such as /elsewhere",
        "scan again, without --changes",
    ] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
    let info = place.info(&["--completeness"]);
    assert_eq!(info.code, Some(1));
    assert!(info.text().contains("4 rows of the lists could not be used"), "{}", info.text());
    for (list, more, part) in [
        ("what\n", "--changes", "the format is not certain: name it with --changes=paths"),
        ("", "--changes=rsync", "unknown format 'rsync'"),
    ] {
        let ran = apply(&place, list, &[more]);
        assert!(ran.code == Some(2) && ran.stderr.contains(part), "{}", ran.stderr);
    }
    let ran = run(scanns(&["index", "--changes", "-o"]).arg(place.index()).args(["/nonexistent/list"]));
    assert!(ran.code == Some(2) && ran.stderr.contains("/nonexistent/list"), "{}", ran.stderr);
    let new = place.dir.path().join("new.scanns");
    let ran = run(scanns(&["index", "--changes", "-o"]).arg(&new).arg("-").arg(place.files()));
    assert!(ran.code == Some(2) && ran.stderr.contains("scan with --content none first"), "{}", ran.stderr);
    assert!(!new.exists());
}

#[test]
fn zfs_and_storage_scale_are_recognised() {
    let place = scanned();
    let root = place.files();
    fs::rename(root.join("b"), root.join("moved here")).unwrap();
    let list = format!("1764160000.000000001\tR\t/\t{0}/b\t{0}/moved\\0040here\n", root.display());
    let ran = apply(&place, &list, &["--changes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.text().contains("format zfs-diff"), "{}", ran.text());
    let moved =
        ["", "/a", "/a/one", "/a/two", "/last", "/moved here", "/moved here/c", "/moved here/c/three"];
    assert_eq!(paths(&place), moved);
    fs::rename(root.join("moved here"), root.join("b")).unwrap();
    let event = |event: &str, name: &str| {
        let path = root.join(name).display().to_string();
        format!("{{\"WF_JSON\":\"0.0.2\",\"cookie\":\"9\",\"event\":\"{event}\",\"path\":\"{path}\"}}\n")
    };
    let list = event("IN_MOVED_FROM IN_ISDIR", "moved here") + &event("IN_MOVED_TO IN_ISDIR", "b");
    let ran = apply(&place, &list, &["--changes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.text().contains("format scale-watch"), "{}", ran.text());
    assert_eq!(paths(&place), ["", "/a", "/a/one", "/a/two", "/b", "/b/c", "/b/c/three", "/last"]);
    assert_eq!(left_to_do(&place), (0, 0));
}

/// What stands for a file or a directory in a changelog.
fn fid(path: &Path) -> String {
    format!("[{:#x}:0x1:0x0]", path.symlink_metadata().unwrap().ino())
}

fn record(number: u64, kind: &str, rest: &str) -> String {
    format!("{number} {kind} 08:14:59.250441873 2026.11.26 {rest}\n")
}

#[test]
fn changelogs_of_lustre_are_followed_by_their_identities_and_numbers() {
    let place = scanned();
    let root = place.files();
    let a: PathBuf = root.join("a");
    let (one, top) = (fid(&a.join("one")), fid(&root));
    // A file is made and removed, another is moved into a directory that moves later.
    fs::rename(root.join("b/c/three"), a.join("renamed s=[x")).unwrap();
    let three = fid(&a.join("renamed s=[x"));
    fs::rename(&a, root.join("z")).unwrap();
    let z = fid(&root.join("z"));
    fs::write(root.join("z/one"), "another size").unwrap();
    let none = "[0x0:0x0:0x0]";
    let list = [
        record(5, "01CREAT", &format!("0x0 t=[0x777:0x1:0x0] j=cp.0 p={top} short-lived")),
        record(6, "11CLOSE", "0x42 t=[0x777:0x1:0x0] j=cp.0"),
        record(7, "06UNLNK", &format!("0x1 t=[0x777:0x1:0x0] p={top} short-lived")),
        record(
            8,
            "08RENME",
            &format!("0x0 t={none} p={z} renamed s=[x s={three} sp={} three", fid(&root.join("b/c"))),
        ),
        record(9, "08RENME", &format!("0x0 t={none} p={top} z s={z} sp={top} a")),
        record(10, "11CLOSE", &format!("0x42 t={one}")),
    ]
    .concat();
    let ran = apply(&place, &list, &["--changes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.text().contains("6 rows, 6 paths looked at, format lustre, up to record 10"),
        "{}",
        ran.text()
    );
    assert!(ran.stderr.contains("its first record is older than the scan"), "{}", ran.stderr);
    assert_eq!(paths(&place), ["", "/b", "/b/c", "/last", "/z", "/z/one", "/z/renamed s=[x", "/z/two"]);
    let info = place.info(&["--completeness"]);
    assert!(info.text().contains("last record of MDT0000: 10"), "{}", info.text());

    // The same MDT goes on with the next record, and other MDTs have their own numbers.
    let gap = apply(&place, &record(12, "11CLOSE", &format!("0x0 t={one}")), &["--changes"]);
    let expected = "records 11 to 11 are missing after the last list that was applied: scan again";
    assert!(gap.code == Some(2) && gap.stderr.contains(expected), "{}", gap.stderr);
    let other = record(70, "11CLOSE", &format!("0x0 t={one}"));
    assert_eq!(apply(&place, &other, &["--changes", "--mdt", "fs-MDT0001"]).code, Some(0));
    let lost = record(11, "14SATTR", "0x0 t=[0x888:0x1:0x0]");
    let ran = apply(&place, &lost, &["--changes"]);
    let expected = "1 file of Lustre without a path, such as [0x888:0x1:0x0]: lfs fid2path: cannot find";
    assert!(ran.code == Some(1) && ran.stderr.contains(expected), "{}", ran.stderr);
    let json = place.info(&["--completeness", "--json"]).json();
    let updated = &json["covered"][0]["updated"];
    assert_eq!((&updated["lost"], &updated["records"]["MDT0000"]), (&1.into(), &11.into()));
    assert_eq!(updated["records"]["fs-MDT0001"], 70);
    assert_eq!(left_to_do(&place), (0, 0));
    // After a scan, any record may be the first.
    let later = record(99, "11CLOSE", &format!("0x0 t={one}"));
    assert_eq!(apply(&place, &later, &["--changes"]).code, Some(0));
    let mut without = scanns(&["index", "--changes=lustre", "-o"]);
    let list = place.dir.path().join("list");
    fs::write(&list, record(100, "11CLOSE", &format!("0x0 t={one}"))).unwrap();
    let ran = run(without.arg(place.index()).arg(&list).env("PATH", "/nonexistent"));
    assert!(ran.code == Some(2) && ran.stderr.contains("lfs cannot be run"), "{}", ran.stderr);
}

/// What find says of a tree, or `scanns find` of an index of it.
fn found(command: &mut Command) -> Vec<String> {
    let ran = run(command.args(["-printf", "%y %s %m %n %T@ %p\n"]));
    let mut lines: Vec<String> = ran.text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn an_index_follows_directories_until_it_is_interrupted() {
    let place = Place::with(&[("a/one", "1"), ("b/c/three", "333"), ("last", "")]);
    let (root, index) = (place.files(), place.files().join("own.scanns"));
    let mut watch = scanns(&["watch", "--every", "1s"]);
    let mut watch =
        watch.arg(&index).arg(&root).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("scanned: ") && first.ends_with("4 directories watched"), "{first}");
    let changes: [&dyn Fn(); 6] = [
        &|| fs::write(root.join("b/c/three"), "longer").unwrap(),
        &|| fs::create_dir_all(root.join("new/deep/er")).unwrap(),
        &|| {
            fs::write(root.join("new/deep/er/file"), "text").unwrap();
            fs::hard_link(root.join("last"), root.join("new/link")).unwrap();
        },
        &|| fs::rename(root.join("new"), root.join("b/moved")).unwrap(),
        &|| fs::write(root.join("b/moved/deep/er/file"), "other text").unwrap(),
        &|| fs::remove_dir_all(root.join("b")).unwrap(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        change();
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let expected =
                found(Command::new("find").arg(&root).args(["-path", "*own.scanns", "-prune", "-o"]));
            let expected: Vec<_> = expected.into_iter().filter(|line| !line.contains("own.scanns")).collect();
            let indexed = found(scanns(&["find"]).arg(&index));
            if indexed == expected {
                break;
            }
            assert!(Instant::now() < end, "change {number}: {indexed:#?} instead of {expected:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains(" changed, ") && line.contains(" removed in "), "{line}");
    let pid = watch.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = watch.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
}

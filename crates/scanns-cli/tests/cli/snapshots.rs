//! Named snapshots: `scanns index --snapshot`, what `scanns info` says of them, and that they stay as they
//! are.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{Place, Ran, run, scanns};

impl Place {
    /// Scans names and metadata of the files, with more options.
    fn scan(&self, more: &[&str]) -> Ran {
        let ran = self.index_with(&[&["--content", "none"], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    fn kept(&self, name: &str) -> PathBuf {
        self.index().join("snapshots").join(name)
    }

    /// Everything that find can print of the entries of a snapshot.
    fn found_in(&self, name: &str) -> Vec<u8> {
        let format = r"%p %y %s %b %m %U %G %T@ %A@ %C@ %i %n\n";
        let ran = run(scanns(&["find"]).arg(self.kept(name)).args(["-printf", format]));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    }
}

#[test]
fn a_snapshot_gives_the_same_answers_through_scans_deletes_and_merges() {
    let place = Place::with(&[("a/one", "1"), ("a/two", "22"), ("b/three", "333")]);
    let ran = place.scan(&["--snapshot", "jan"]);
    let kept = place.kept("jan");
    let line = format!("snapshot {}: commit 1, 6 documents", kept.display());
    assert_eq!(ran.text().lines().last(), Some(line.as_str()));
    let before = place.found_in("jan");
    assert_eq!(before.split(|&byte| byte == b'\n').count(), 7);
    for round in 0..4 {
        place.write(format!("c/new{round}"), b"4444");
        fs::write(place.files().join("a/one"), "1".repeat(round + 2)).unwrap();
        place.scan(&[]);
        let gone = place.files().join("b/three");
        let deleted = run(scanns(&["delete"]).arg(place.index()).arg(gone));
        assert_eq!(deleted.code, Some(0), "{}", deleted.stderr);
        assert_eq!(place.found_in("jan"), before, "round {round}, before the merge");
        assert_eq!(run(scanns(&["merge"]).arg(place.index())).code, Some(0));
        assert_eq!(place.found_in("jan"), before, "round {round}, after the merge");
    }
    let checked = run(scanns(&["check"]).arg(&kept));
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert_eq!(run(scanns(&["check"]).arg(place.index())).code, Some(0));
    let diff = run(scanns(&["diff", "--only", "added"]).arg(&kept).arg(place.index()));
    assert_eq!((diff.code, diff.text().lines().count()), (Some(1), 5), "{}", diff.stderr);
}

#[test]
fn commands_that_would_write_to_a_snapshot_are_refused() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    place.scan(&["--snapshot", "jan"]);
    fs::remove_file(place.files().join("b")).unwrap();
    let before = place.found_in("jan");
    let (kept, files) = (place.kept("jan"), place.files());
    let [kept, files] = [&kept, &files].map(|path| path.to_str().unwrap());
    let new = place.kept("feb");
    let new = new.to_str().unwrap();
    let deleted = format!("{files}/a");
    for words in [
        &["index", "-o", kept, "--content", "none", files][..],
        &["index", "-o", new, "--content", "none", files],
        &["index", "-o", kept, "--snapshot", "feb"],
        &["watch", kept, files],
        &["delete", kept, &deleted],
        &["update", kept, &deleted, "--set", "size=1"],
        &["merge", kept],
        &["check", "--salvage", kept],
    ] {
        let ran = run(scanns(words).current_dir(place.dir.path()));
        assert_eq!(ran.code, Some(2), "{words:?} {}", ran.stderr);
        let told =
            format!("a snapshot does not change: write to {} itself, or copy", place.index().display());
        assert!(ran.stderr.contains(&told), "{words:?} {}", ran.stderr);
    }
    assert_eq!(place.found_in("jan"), before);
    assert!(!place.kept("feb").exists());
}

#[test]
fn a_snapshot_that_does_not_exist_is_answered_with_those_that_do() {
    let place = Place::with(&[("a", "1")]);
    place.scan(&[]);
    let index = place.index();
    let index = index.display();
    let find = |name: &str| run(scanns(&["find"]).arg(place.kept(name))).stderr;
    let told = format!("({index} has no snapshots: scanns index -o {index} --snapshot jan makes one)");
    assert!(find("jan").contains(&told), "{}", find("jan"));
    place.scan(&["--snapshot", "jan"]);
    assert!(find("nix").contains(&format!("({index} has one snapshot: jan)")), "{}", find("nix"));
    place.scan(&["--snapshot", "feb 2"]);
    let all = format!("{index} has these snapshots: feb 2, jan");
    assert!(find("nix").contains(&all) && find("").contains(&all), "{} {}", find("nix"), find(""));
    let diff = |old: &Path, new: &Path| {
        let ran = run(scanns(&["diff"]).arg(old).arg(new).current_dir(place.dir.path()));
        (ran.code, ran.stderr)
    };
    for (old, new) in [(place.kept("nix"), place.index()), (place.index(), place.kept("nix"))] {
        let (code, told) = diff(&old, &new);
        assert!(code == Some(2) && told.contains(&format!("snapshots/nix: {all}")), "{told}");
    }
    for other in [place.index(), place.kept("feb 2")] {
        let (code, told) = diff(Path::new("jan"), &other);
        let expected = format!("there is no jan: {index} has a snapshot of this name: {index}/snapshots/jan");
        assert!(code == Some(2) && told.contains(&expected), "{told}");
    }
    assert!(diff(Path::new("nix"), &place.index()).1.contains("cannot read the dump nix"));
    // A path that is no place of a snapshot.
    let ran = run(scanns(&["find"]).arg(place.dir.path().join("snapshots/jan")));
    assert!(ran.stderr.contains("(scanns index builds an index)"), "{}", ran.stderr);
}

#[test]
fn the_option_about_other_snapshots_is_told_apart() {
    let place = Place::with(&[("a", "1")]);
    let ran = place.index_with(&["--content", "none", "--snapshots", "jan"]);
    assert!(ran.stderr.contains("but --snapshot jan keeps the index under a name"), "{}", ran.stderr);
    assert_eq!(ran.code, Some(1));
    let ran = place.index_with(&["--content", "none", "--snapshots"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let help = run(&mut scanns(&["index", "--help"]));
    let help = help.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("scanns info lists the snapshots of an index, and rm -r"), "{help}");
}

#[test]
fn a_snapshot_shares_the_space_of_what_does_not_change() {
    let place = Place::with(&[("a", "1")]);
    place.scan(&["--snapshot", "jan"]);
    let segment = |path: PathBuf| {
        let names = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|found| found == "seg")).max().unwrap()
    };
    let inode = |path: PathBuf| fs::metadata(segment(path)).unwrap().ino();
    assert_eq!(inode(place.kept("jan")), inode(place.index()));
    let own = |place: &Place| place.info(&["--json"]).json()["snapshots"][0]["own_bytes"].as_u64().unwrap();
    assert_eq!(own(&place), 0);
    place.write("b", b"2");
    place.scan(&[]);
    assert_eq!(run(scanns(&["merge"]).arg(place.index())).code, Some(0));
    place.scan(&["--reindex"]);
    assert!(own(&place) > 0);
    fs::remove_dir_all(place.kept("jan")).unwrap();
    let again = place.scan(&["--snapshot", "jan"]);
    assert!(again.text().ends_with(", 3 documents\n"), "{}", again.text());
}

#[test]
fn the_present_state_is_kept_without_a_scan_and_listed() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    place.scan(&[]);
    let alone = |more: &[&str]| run(scanns(&["index", "-o"]).arg(place.index()).args(more));
    let ran = alone(&["--snapshot", "b\tc"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.text().contains("snapshots/b'$'\\t''c'"), "{}", ran.text());
    assert!(ran.text().ends_with(": commit 1, 3 documents\n"), "{}", ran.text());
    let json = alone(&["--snapshot", "a", "--json"]).json();
    assert_eq!((&json["snapshot"]["name"], &json["snapshot"]["documents"]), (&"a".into(), &3.into()));
    let info = place.info(&[]);
    let listed: Vec<&str> = info.text().lines().skip_while(|line| !line.starts_with("snapshots")).collect();
    assert_eq!((listed.len(), listed[0]), (3, "snapshots  2"), "{}", info.text());
    assert!(listed[1].starts_with("  a  20") && listed[1].contains("Z, 3 documents, "), "{}", listed[1]);
    assert!(listed[1].ends_with(" KiB, 0 B of them in nothing else"), "{}", listed[1]);
    assert!(listed[2].starts_with("  'b'$'\\t''c'  20"), "{}", listed[2]);
    let json = place.info(&["--json"]).json();
    assert_eq!(json["snapshots"][1]["name"], "b\tc");
    for file in fs::read_dir(place.kept("a")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let info = place.info(&[]);
    assert_eq!(info.code, Some(1));
    assert!(info.text().contains("\n  a  cannot be read: "), "{}", info.text());
    assert!(place.info(&["--json"]).json()["snapshots"][0]["error"].is_string());
}

#[test]
fn a_name_that_cannot_be_used_is_refused_before_the_build() {
    let place = Place::with(&[("a", "1")]);
    for name in ["", ".a", "a/b", ".."] {
        let ran = place.index_with(&["--snapshot", name]);
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{name}");
        assert!(ran.stderr.contains("invalid name of a snapshot"), "{}", ran.stderr);
        assert!(!place.index().exists(), "something was built for {name:?}");
    }
    place.scan(&["--snapshot", "jan"]);
    place.write("b", b"2");
    let ran = place.index_with(&["--content", "none", "--snapshot", "jan"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("remove that directory with rm -r, or choose another name"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.info(&["--json"]).json()["generation"], 1, "it was built all the same");
    for more in [&["--dump", "--snapshot", "a"][..], &["--content", "none", "--snapshot", "a"]] {
        let ran = run(scanns(&["index", "-o"]).arg(place.index()).args(more));
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("need a PATH"), "{}", ran.stderr);
    }
    let none = run(scanns(&["index", "-o"]).arg(place.dir.path().join("none")).args(["--snapshot", "a"]));
    assert!(none.code == Some(2) && none.stderr.contains("is not a scanns index"), "{}", none.stderr);
}

#[test]
fn the_index_is_committed_if_its_snapshot_cannot_be_made() {
    let place = Place::with(&[("a", "1")]);
    place.scan(&[]);
    // The place in which links are made cannot be removed, since it is no directory that holds links.
    fs::create_dir(place.index().join("snapshots")).unwrap();
    fs::write(place.index().join("snapshots/.unfinished"), "").unwrap();
    place.write("b", b"2");
    let ran = place.index_with(&["--content", "none", "--snapshot", "jan"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("no snapshot was made: cannot create "), "{}", ran.stderr);
    assert!(ran.stderr.contains("a.scanns itself is committed"), "{}", ran.stderr);
    assert_eq!(place.info(&["--json"]).json()["documents"], 3);
    assert!(!place.kept("jan").exists());
}

#[test]
fn what_a_killed_process_left_of_a_snapshot_is_removed_by_the_next_build() {
    let place = Place::with(&[("a", "1")]);
    place.scan(&["--snapshot", "jan"]);
    let left = place.kept(".unfinished");
    let leave = || {
        fs::create_dir(&left).unwrap();
        for file in fs::read_dir(place.kept("jan")).unwrap().map(|entry| entry.unwrap()) {
            fs::hard_link(file.path(), left.join(file.file_name())).unwrap();
        }
    };
    leave();
    let found = run(scanns(&["find"]).arg(place.index()));
    assert_eq!((found.code, found.text().lines().count()), (Some(0), 2));
    assert_eq!(place.info(&["--json"]).json()["snapshots"].as_array().unwrap().len(), 1);
    place.scan(&[]);
    assert!(!left.exists(), "the build left it");
    leave();
    let ran = run(scanns(&["index", "-o"]).arg(place.index()).args(["--snapshot", "feb"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!left.exists() && place.found_in("feb") == place.found_in("jan"));
}

#[test]
fn a_stopped_build_makes_no_snapshot_and_says_so() {
    let files: Vec<String> = (0..20).map(|number| format!("{number}/file")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (name.as_str(), "")).collect();
    let place = Place::with(&files);
    let slowly = ["--content", "none", "--max-ops", "2", "--time-limit", "1s", "--snapshot", "jan"];
    let ran = place.index_with(&slowly);
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert!(ran.stderr.contains("no snapshot was made: the build was stopped; "), "{}", ran.stderr);
    assert!(!place.kept("jan").exists());
}

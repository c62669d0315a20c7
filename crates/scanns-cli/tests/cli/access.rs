//! Who may see what: `index --access`, `info` and `why`.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::{Value, json};

use crate::{Place, Ran, run, scanns};

/// Files in a directory that everybody may enter.
fn place() -> Place {
    let place =
        Place::with(&[("open/a.txt", "ocean"), ("search-only/b.txt", "ocean"), ("closed/c.txt", "ocean")]);
    for (name, mode) in
        [("..", 0o755), (".", 0o755), ("open", 0o755), ("search-only", 0o711), ("closed", 0o700)]
    {
        chmod(&place.files().join(name), mode);
    }
    place
}

fn chmod(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn why(place: &Place, path: &str, words: &[&str]) -> Ran {
    run(scanns(&["why"]).arg(place.index()).arg(place.files().join(path)).args(words))
}

/// The rights of a stranger: entry and content.
fn rights(place: &Place, path: &str) -> (bool, bool) {
    let found = why(place, path, &["--as", "52000:52001", "--json"]).json();
    (found["entry"] == true, found["content"] == true)
}

#[test]
fn rights_follow_from_all_directories_with_text_and_without() {
    for contents in [&["--access"][..], &["--access", "--content", "none"]] {
        let place = place();
        place.indexed(contents);
        assert_eq!(rights(&place, "open/a.txt"), (true, true));
        assert_eq!(rights(&place, "search-only/b.txt"), (false, true));
        assert_eq!(rights(&place, "closed/c.txt"), (false, false));
        assert_eq!(why(&place, "closed/c.txt", &["--as", "52000:52001"]).code, Some(1));
        chmod(&place.files().join("closed"), 0o755);
        chmod(&place.files().join("open"), 0o700);
        place.indexed(contents);
        assert_eq!(rights(&place, "open/a.txt"), (false, false), "{contents:?}");
        assert_eq!(rights(&place, "closed/c.txt"), (true, true));
        let owner = place.files().metadata().unwrap();
        let owner = format!("{}:{}", owner.uid(), owner.gid());
        let own = why(&place, "open/a.txt", &["--as", &owner, "--json"]).json();
        assert_eq!((&own["entry"], &own["content"]), (&json!(true), &json!(true)));
    }
}

#[test]
fn steps_name_the_directory_that_hides_a_file() {
    let place = place();
    place.indexed(&["--access", "--content", "none"]);
    let ran = why(&place, "search-only/b.txt", &["--as", "52000:52001"]);
    let text = ran.text();
    assert!(text.contains("search-only  ") && text.contains("0711"), "{text}");
    assert!(text.contains("to search: yes, as others\n    to list: no, as others"), "{text}");
    assert!(text.ends_with("entry no, content yes\n"), "{text}");
    let root = why(&place, "closed/c.txt", &["--as", "0"]);
    assert!(root.text().contains("to read: yes, as root") && root.code == Some(0), "{}", root.text());
    let gone = why(&place, "open/none", &["--as", "0"]);
    assert!(gone.code == Some(2) && gone.stderr.contains("not in the index"), "{}", gone.stderr);
}

#[test]
fn members_have_the_rights_of_their_archive() {
    let place = place();
    let tar = |name: &str| {
        let words = ["-cf", name, "open/a.txt"];
        let ran = std::process::Command::new("tar").current_dir(place.files()).args(words).status();
        assert!(ran.unwrap().success());
    };
    tar("open/x.tar");
    tar("closed/y.tar");
    chmod(&place.files().join("open/x.tar"), 0o640);
    place.indexed(&["--access"]);
    for (path, expected) in
        [("open/x.tar!/open/a.txt", (false, false)), ("closed/y.tar!/open/a.txt", (false, false))]
    {
        assert_eq!(rights(&place, path), expected, "{path}");
    }
    chmod(&place.files().join("open/x.tar"), 0o644);
    chmod(&place.files().join("closed"), 0o755);
    place.indexed(&["--access"]);
    assert_eq!(rights(&place, "open/x.tar!/open/a.txt"), (true, true));
    assert_eq!(rights(&place, "closed/y.tar!/open/a.txt"), (true, true));
}

#[test]
fn the_column_is_counted_and_not_shown() {
    let place = place();
    place.indexed(&["--access", "--content", "none"]);
    let info = place.info(&["--json"]).json();
    assert_eq!((&info["access"]["undecided"], &info["access"]["unclassed"]), (&json!(0), &json!(0)));
    assert!(info["access"]["classes"].as_u64().unwrap() >= 3, "{info}");
    let text = place.info(&[]);
    assert!(text.text().contains("\naccess     ") && !text.text().contains("_access"), "{}", text.text());
    let exported = run(scanns(&["export"]).arg(place.index()).args(["*", "--format", "jsonl"]));
    assert!(
        exported.text().contains("\"path\"") && !exported.text().contains("_access"),
        "{}",
        exported.text()
    );
    let plain = Place::with(&[("a.txt", "one")]);
    plain.indexed(&[]);
    assert_eq!(plain.info(&["--json"]).json()["access"], Value::Null);
}

#[test]
fn what_would_leave_rights_stale_is_refused() {
    let place = place();
    place.indexed(&["--access", "--content", "none"]);
    let watched = run(scanns(&["watch"]).arg(place.index()).arg(place.files()));
    assert!(watched.code == Some(2) && watched.stderr.contains("access classes"), "{}", watched.stderr);
    let list = place.dir.path().join("list");
    std::fs::write(&list, format!("{}\n", place.files().join("open").display())).unwrap();
    let words = ["index", "--content", "none", "--changes=paths", "-o"];
    let changed = run(scanns(&words).arg(place.index()).arg(&list).arg(place.files()));
    assert!(changed.code == Some(2) && changed.stderr.contains("a list of changes"), "{}", changed.stderr);
    let dump = run(scanns(&["index", "--dump=paths", "-o"]).arg(place.index()).arg(&list));
    assert!(dump.code == Some(2) && dump.stderr.contains("a dump"), "{}", dump.stderr);
}

#[test]
fn answers_as_a_user_are_those_of_what_he_sees() {
    let place = place();
    place.indexed(&["--access", "--content", "none", "-q"]);
    let (index, files) = (place.index(), place.files());
    let all = files.to_str().unwrap();
    let asked = |words: &[&str], rest: &[&str]| {
        run(scanns(words).args(["--as", "52000:52001"]).arg(&index).args(rest)).text().to_owned()
    };
    let count = asked(&["search", "--count"], &["type:file"]);
    assert_eq!(count.trim(), "1", "one of three files can be listed");
    let found = asked(&["find"], &[all, "-type", "f"]);
    assert!(found.lines().count() == 1 && found.ends_with("open/a.txt\n"), "{found}");
    let exported = asked(&["export", "--fields", "_key", "--format", "jsonl"], &["type:file"]);
    assert!(exported.lines().count() == 1 && exported.contains("open/a.txt"), "{exported}");
    let listed = run(scanns(&["ls", "--as", "52000:52001"]).arg(&index).arg(files.join("search-only")));
    assert_eq!(listed.text().trim(), "", "{}", listed.stderr);
    let own = run(scanns(&["ls"]).arg(&index).arg(files.join("search-only")));
    assert_eq!(own.text().trim(), "b.txt");
    let space = asked(&["du", "-a"], &[all]);
    assert_eq!(space.lines().filter(|line| line.ends_with(".txt")).count(), 1, "{space}");
    let stat = run(scanns(&["stat", "--as", "52000:52001"]).arg(&index).arg(files.join("closed/c.txt")));
    assert!(stat.code == Some(1) && !stat.text().contains("c.txt"), "{}", stat.text());
    let newer = run(scanns(&["find", "--as", "52000:52001"])
        .arg(&index)
        .args([all, "-newer"])
        .arg(files.join("closed/c.txt")));
    assert!(newer.code == Some(2) && newer.text().is_empty(), "what the command may read is not told");
    let empty = run(scanns(&["find", "--as", "52000:52001"]).arg(&index).args([all, "-type", "d", "-empty"]));
    assert!(empty.code == Some(1) && empty.text().is_empty(), "{}", empty.text());
    let root = run(scanns(&["search", "--count", "--as", "0"]).arg(&index).arg("type:file"));
    assert_eq!(root.text().trim(), "3");
    let plain = Place::with(&[("a.txt", "one")]);
    plain.indexed(&[]);
    let refused = run(scanns(&["search", "--as", "1:1"]).arg(plain.index()).arg("one"));
    assert!(
        refused.code == Some(2) && refused.stderr.contains("scanns index --access"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_text_that_a_user_cannot_read_neither_matches_nor_counts() {
    let place = place();
    let files = place.files();
    std::fs::write(files.join("open/secret.txt"), "ocean treasure").unwrap();
    chmod(&files.join("open/secret.txt"), 0o600);
    place.indexed(&["--access", "--store", "content", "--positions"]);
    let asked =
        |words: &[&str]| run(scanns(&["search", "--as", "52000:52001"]).arg(place.index()).args(words));
    assert_eq!(asked(&["--count", "treasure"]).text().trim(), "0");
    assert_eq!(asked(&["--count", "ocean"]).text().trim(), "1");
    assert_eq!(asked(&["--count", "name:secret.txt"]).text().trim(), "1", "its name may be seen");
    let shown = asked(&["--content", "--json", "name:secret.txt"]);
    assert!(!shown.text().contains("treasure"), "{}", shown.text());
    let terms = run(scanns(&["terms", "--all", "--as", "52000:52001"]).arg(place.index()));
    assert!(!terms.text().contains("treasure") && terms.text().contains("ocean"), "{}", terms.text());
    let traced = run(scanns(&["why"]).arg(place.index()).arg(files.join("closed/c.txt")).args([
        "ocean",
        "--as",
        "52000:52001",
    ]));
    assert!(traced.text().contains("no query finds it, since the user does not see it"), "{}", traced.text());
}

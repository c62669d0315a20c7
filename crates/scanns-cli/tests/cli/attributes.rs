//! Extended attributes and ACLs, compared with what getfattr and getfacl print.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::{Place, Ran, run, scanns, skipped};

/// True if a command of the system succeeds.
fn succeeds(program: &str, words: &[&str], path: &Path) -> bool {
    Command::new(program).args(words).arg(path).output().is_ok_and(|out| out.status.success())
}

/// Sets an attribute.
fn set(place: &Place, name: &str, attribute: &str, value: &str) {
    let words = ["-h", "-n", attribute, "-v", value];
    assert!(succeeds("setfattr", &words, &place.files().join(name)), "{name} {attribute} {value}");
}

/// Changes an ACL.
fn acl(place: &Place, name: &str, words: &[&str]) {
    assert!(succeeds("setfacl", words, &place.files().join(name)), "{name} {words:?}");
}

/// Files on a file system that takes attributes and ACLs; otherwise says why the test is skipped.
fn place(test: &str) -> Option<Place> {
    let place = Place::with(&[("a.txt", "one"), ("b.txt", "two"), ("sub/c.txt", "three")]);
    let probe = place.files().join("a.txt");
    for (program, words) in [
        ("setfattr", &["-n", "user.probe", "-v", "1"][..]),
        ("setfattr", &["-x", "user.probe"]),
        ("setfacl", &["-m", "u:1000:r"]),
        ("setfacl", &["-b"]),
        ("getfacl", &["-n"]),
    ] {
        if !succeeds(program, words, &probe) {
            skipped(test, &format!("{program} is not there, or the file system refuses it"));
            return None;
        }
    }
    Some(place)
}

fn ask(place: &Place, verb: &str, words: &[&str]) -> Ran {
    run(scanns(&[verb]).current_dir(place.files()).arg(place.index()).args(words))
}

/// The ACL as getfacl prints it with numbers, in one line.
fn expected_acl(place: &Place, name: &str) -> String {
    let out = Command::new("getfacl")
        .args(["--numeric", "--omit-header", "--absolute-names", "--no-effective"])
        .arg(place.files().join(name))
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(",")
}

/// A value of the JSON object of an entry.
fn stored(place: &Place, name: &str, member: &str) -> serde_json::Value {
    ask(place, "stat", &["--format", "json", name]).json()[member].clone()
}

#[test]
fn attributes_are_found_by_their_words_and_acls_are_as_getfacl_prints_them() {
    let Some(place) = place("attributes_are_found_by_their_words") else { return };
    set(&place, "a.txt", "user.project", "climate");
    set(&place, "a.txt", "user.note", "two words \u{fc}");
    set(&place, "b.txt", "user.bytes", "0x00ff0a5c41");
    set(&place, "sub", "user.project", "ocean");
    acl(&place, "b.txt", &["-m", "u:1000:rx,g:2000:-,g:4294967294:rw"]);
    acl(&place, "sub", &["-m", "u:7:rwx,d:u:1000:rwx,d:g::r"]);
    std::os::unix::fs::symlink("a.txt", place.files().join("link")).unwrap();
    let ran = place.indexed(&["--content", "none", "--xattrs", "--acl"]);
    assert_eq!(ran.stderr, "", "nothing is unread");
    for (query, names) in [
        ("xattrs:project", &["a.txt", "sub"][..]),
        ("xattrs:climate", &["a.txt"]),
        ("xattrs:\"user.project=climate\"", &["a.txt"]),
        ("xattrs:\"two words\"", &["a.txt"]),
        ("xattrs:clim*", &["a.txt"]),
        ("xattrs:missing", &[]),
        ("acl:*user:1000:*", &["b.txt", "sub"]),
        ("acl:*default:*", &["sub"]),
        ("xattrs:project acl:*user:7:*", &["sub"]),
    ] {
        assert_eq!(place.found(&[query]), names, "{query}");
    }
    assert_eq!(
        stored(&place, "a.txt", "xattrs"),
        json!(["user.note=two words \u{fc}", "user.project=climate"])
    );
    assert_eq!(stored(&place, "b.txt", "xattrs"), json!(["user.bytes=\\000\\377\\012\\134A"]));
    assert_eq!((stored(&place, "link", "xattrs"), stored(&place, "link", "acl")), (json!([]), json!(null)));
    assert_eq!(stored(&place, "a.txt", "acl"), json!(null), "an ACL says more than a mode");
    for name in ["b.txt", "sub"] {
        let expected = expected_acl(&place, name);
        assert!(expected.contains("user:"), "{expected}");
        assert_eq!(stored(&place, name, "acl"), json!(expected), "{name}");
        // What is stored can be restored.
        let copy = place.write("copy", b"");
        fs::remove_file(&copy).unwrap();
        if name == "sub" {
            fs::create_dir(&copy).unwrap()
        } else {
            fs::write(&copy, "").unwrap()
        }
        acl(&place, "copy", &["--set", &expected]);
        assert_eq!(expected_acl(&place, "copy"), expected);
        if name == "sub" { fs::remove_dir(&copy).unwrap() } else { fs::remove_file(&copy).unwrap() }
    }
    let shown = ask(&place, "stat", &["sub"]);
    let lines = [format!("   ACL: {}", expected_acl(&place, "sub")), " Xattr: user.project=ocean".into()];
    assert!(lines.iter().all(|line| shown.text().lines().any(|shown| shown == line)), "{}", shown.text());
    let found = ask(&place, "find", &["-content", "xattrs:ocean", "-printf", "%f\\n"]);
    assert_eq!(found.text(), "sub\n", "{}", found.stderr);
    let fields = ["--format", "csv", "--fields", "name,xattrs,acl", "xattrs:ocean"];
    let exported = ask(&place, "export", &fields);
    let row = format!("sub,user.project=ocean,\"{}\"", expected_acl(&place, "sub"));
    assert_eq!(exported.text().lines().nth(1), Some(row.as_str()), "{}", exported.stderr);
}

#[test]
fn a_later_scan_reads_what_changed_and_stores_what_the_first_one_stored() {
    let Some(place) = place("a_later_scan_reads_what_changed") else { return };
    place.indexed(&["--content", "none", "--xattrs", "--acl"]);
    assert_eq!(place.count("xattrs:*"), 0);
    set(&place, "a.txt", "user.state", "new");
    acl(&place, "sub/c.txt", &["-m", "u:1000:r"]);
    // The options are those of the index.
    let ran = place.indexed(&["--content", "none"]);
    assert!(ran.text().contains("unchanged: 3 files skipped"), "{}", ran.text());
    assert_eq!(
        (place.found(&["xattrs:new"]), place.found(&["acl:*1000*"])),
        (vec!["a.txt".into()], vec!["c.txt".into()])
    );
    set(&place, "a.txt", "user.state", "old");
    assert!(succeeds("setfacl", &["-b"], &place.files().join("sub/c.txt")));
    place.indexed(&["--content", "none", "--acl"]);
    assert_eq!((place.count("xattrs:new"), place.count("xattrs:old"), place.count("acl:*1000*")), (0, 1, 0));
    assert_eq!(stored(&place, "sub/c.txt", "acl"), json!(null));
    let list = place.files().join("list");
    fs::write(&list, format!("{}\n", place.files().join("b.txt").display())).unwrap();
    set(&place, "b.txt", "user.state", "listed");
    let words = ["index", "-q", "--changes=paths", "-o"];
    let changed = run(scanns(&words).arg(place.index()).arg(&list));
    assert_eq!(
        (changed.code, place.found(&["xattrs:listed"])),
        (Some(0), vec!["b.txt".into()]),
        "{}",
        changed.stderr
    );
}

#[test]
fn an_index_without_attributes_gets_none_later_and_one_with_them_takes_nothing_else() {
    let Some(place) = place("an_index_without_attributes_gets_none_later") else { return };
    place.indexed(&["--content", "none", "--acl"]);
    let refused = place.index_with(&["--content", "none", "--xattrs"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("make another index with this option"), "{}", refused.stderr);
    let dump = place.files().join("dump");
    fs::write(&dump, "f 1 1.5 /x\n").unwrap();
    let words = ["index", "--dump=find", "--dump-format", "%y %s %T@ %p\\n", "-o"];
    let refused = run(scanns(&words).arg(place.index()).arg(&dump));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("for an index with extended attributes or ACLs"), "{}", refused.stderr);
    let words = ["index", "--content", "none", "--files-from"];
    let refused = run(scanns(&words).arg(&dump).arg("-o").arg(place.index()));
    assert!(refused.code == Some(2) && refused.stderr.contains("use another index"), "{}", refused.stderr);
    let text = run(scanns(&["index", "--xattrs", "-o"]).arg(place.dir.path().join("t")).arg(place.files()));
    assert!(text.code == Some(2) && text.stderr.contains("--content none"), "{}", text.stderr);
}

#[test]
fn long_attributes_are_cut_and_told() {
    let test = "long_attributes_are_cut_and_told";
    let Some(place) = place(test) else { return };
    // The file system decides how long an attribute may be.
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return skipped(test, "there is no /dev/shm") };
    let (one, many) = (memory.path().join("one"), memory.path().join("many"));
    [&one, &many].iter().for_each(|path| fs::write(path, "x").unwrap());
    if !succeeds("setfattr", &["-n", "user.long", "-v", &"y".repeat(65_536)], &one) {
        return skipped(test, "the file system takes no attribute of 64 KiB");
    }
    for number in 0..20 {
        let (name, value) = (format!("user.n{number:02}"), format!("word{number} {}", "z".repeat(1990)));
        assert!(succeeds("setfattr", &["-n", &name, "-v", &value], &many));
    }
    let words = ["index", "--content", "none", "--xattrs", "-o"];
    let ran = run(scanns(&words).arg(place.index()).arg(memory.path()));
    let told = "long extended attributes or ACLs, of which a part was kept: 2 entries, such as";
    assert!(ran.code == Some(0) && ran.stderr.contains(told), "{}", ran.stderr);
    let kept = stored(&place, one.to_str().unwrap(), "xattrs")[0].as_str().unwrap().len();
    assert_eq!(kept, "user.long=".len() + 4096);
    let kept = stored(&place, many.to_str().unwrap(), "xattrs").as_array().unwrap().len();
    assert_eq!(kept, (32 << 10) / ("user.n00=word00 ".len() + 1990));
    assert_eq!((place.count("xattrs:word9"), place.count("xattrs:word19")), (1, 0));
}

#[test]
fn attributes_that_may_not_be_read_are_told_and_their_names_are_kept() {
    let test = "attributes_that_may_not_be_read_are_told";
    let Some(place) = place(test) else { return };
    set(&place, "b.txt", "user.secret", "hidden");
    set(&place, "a.txt", "user.open", "shown");
    acl(&place, "b.txt", &["-m", "u:1000:r"]);
    // Who may not read a file may list the names of its attributes and read its ACL.
    fs::set_permissions(place.files().join("b.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    if std::os::unix::fs::chown(place.files().join("b.txt"), Some(12_345), Some(12_345)).is_err() {
        return skipped(test, "this needs the superuser");
    }
    // The superuser can read everything, unless these two capabilities are dropped.
    let mut humbly = Command::new("setpriv");
    humbly.arg("--bounding-set=-dac_override,-dac_read_search").arg(env!("CARGO_BIN_EXE_scanns"));
    humbly
        .args(["index", "--content", "none", "--xattrs", "--acl", "-o"])
        .arg(place.index())
        .arg(place.files());
    let ran = match humbly.output() {
        Ok(out) if out.status.code() == Some(0) => Ran::from(out),
        _ => return skipped(test, "there is no setpriv"),
    };
    let told = "extended attributes or ACLs that could not be read: 1 entry, such as";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("b.txt"), "{}", ran.stderr);
    assert_eq!(stored(&place, "b.txt", "xattrs"), json!(["user.secret"]));
    assert_eq!(stored(&place, "a.txt", "xattrs"), json!(["user.open=shown"]));
    assert_eq!(stored(&place, "b.txt", "acl"), json!(expected_acl(&place, "b.txt")));
}

#[test]
fn a_comparison_shows_changes_of_attributes_and_acls_that_both_sides_store() {
    let Some(place) = place("a_comparison_shows_changes_of_attributes_and_acls") else { return };
    set(&place, "a.txt", "user.project", "climate");
    let index = |name: &str, options: &[&str]| {
        let path = place.dir.path().join(name);
        let words = [&["index", "-q", "--content", "none"][..], options, &["-o"]].concat();
        let ran = run(scanns(&words).arg(&path).arg(place.files()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        path
    };
    let (old, without) = (index("old", &["--xattrs", "--acl"]), index("without", &[]));
    set(&place, "a.txt", "user.project", "ocean");
    set(&place, "a.txt", "user.since", "2026");
    set(&place, "b.txt", "user.new", "1");
    acl(&place, "sub", &["-m", "d:u:7:rwx"]);
    let new = index("new", &["--xattrs", "--acl"]);
    let diff = |words: &[&str], old: &Path, new: &Path| {
        let ran = run(scanns(&["diff", "--ignore", "ctime"]).args(words).arg(old).arg(new));
        let root = format!("{}/", place.files().canonicalize().unwrap().display());
        (ran.code, ran.text().replace(&root, ""), ran.stderr)
    };
    let acl_of_sub = expected_acl(&place, "sub");
    let (code, text, _) = diff(&[], &old, &new);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((code, lines.len()), (Some(1), 3), "{text}");
    assert!(lines[0].starts_with("M a.txt  xattrs user.project=climate -> "), "{text}");
    assert!(lines[0].contains("user.project=ocean") && lines[0].contains("user.since=2026"), "{text}");
    assert!(lines[1] == "M b.txt  xattrs '' -> user.new=1", "{text}");
    let new_acl = lines[2].strip_prefix("M sub  acl '' -> ").unwrap().to_owned();
    assert!(new_acl.contains("default:user:7:rwx") && acl_of_sub.ends_with(&new_acl), "{text}");
    let (_, text, _) = diff(&["--ignore", "xattrs"], &old, &new);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(diff(&["--ignore", "xattrs,acl"], &old, &new).0, Some(0));
    let (_, csv, _) = diff(&["--format", "csv"], &old, &new);
    assert!(csv.contains(",xattrs\n") && csv.contains(",acl\n"), "{csv}");
    let (_, objects, _) = diff(&["--format", "json"], &old, &new);
    let values: Vec<serde_json::Value> =
        objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0]["fields"], json!(["xattrs"]));
    assert_eq!(values[0]["new"]["xattrs"], "user.project=ocean\nuser.since=2026");
    assert_eq!((&values[2]["old"]["acl"], &values[2]["new"]["acl"]), (&"".into(), &new_acl.into()));
    let (code, text, told) = diff(&[], &without, &new);
    assert_eq!((code, text.as_str()), (Some(0), ""), "{told}");
    assert!(told.contains("not compared, since one side does not know them: xattrs of "), "{told}");
    assert_eq!(diff(&[], &new, &new), (Some(0), String::new(), String::new()));
}

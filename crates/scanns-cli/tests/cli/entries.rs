//! `--content none`: every entry of a directory tree is a document, compared with what `find` prints of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{Place, run, scanns};

/// A tree with every kind of entry that needs no rights, and names that need care.
fn place() -> Place {
    let place = Place::with(&[("a.txt", "one"), ("sub/deep/b.c", "two"), ("sub/.hidden", "")]);
    place.write(OsStr::from_bytes(b"sub/odd \t\xff name"), b"three");
    let files = place.files();
    File::create(files.join("sparse")).unwrap().set_len(1 << 30).unwrap();
    fs::hard_link(files.join("a.txt"), files.join("sub/second name")).unwrap();
    fs::create_dir(files.join("empty")).unwrap();
    symlink("sub/deep", files.join("link")).unwrap();
    symlink("nowhere at all", files.join("broken")).unwrap();
    fs::hard_link(files.join("broken"), files.join("sub/broken")).unwrap();
    fs::set_permissions(files.join("sub/.hidden"), fs::Permissions::from_mode(0o4701)).unwrap();
    assert!(Command::new("mkfifo").arg(files.join("pipe")).status().unwrap().success());
    drop(UnixListener::bind(files.join("sub/socket")).unwrap());
    place
}

/// What `find` says of every entry: its numbers, type and link target, by path.
fn listed(place: &Place) -> BTreeMap<Vec<u8>, Vec<String>> {
    let format = "%p\\0%y\\0%s\\0%b\\0%m\\0%U\\0%G\\0%i\\0%n\\0%D\\0%l\\0";
    let out = Command::new("find").arg(place.files()).args(["-printf", format]).output().unwrap();
    let parts: Vec<_> = out.stdout.split(|&byte| byte == 0).collect();
    let text = |part: &&[u8]| String::from_utf8_lossy(part).into_owned();
    parts.chunks_exact(11).map(|row| (row[0].to_vec(), row[1..].iter().map(text).collect())).collect()
}

/// The same of the documents of the index.
fn indexed(place: &Place) -> BTreeMap<Vec<u8>, Vec<String>> {
    let fields = "type,size,blocks,mode,uid,gid,inode,links,device,target";
    let hits = place.search(&["*", "--all", "--json", "--fields", fields]).lines();
    let mut found = BTreeMap::new();
    for hit in hits {
        let key = match hit.get("key_bytes").and_then(Value::as_str) {
            Some(hex) => {
                let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                (0..hex.len()).step_by(2).map(digits).collect()
            }
            None => hit["key"].as_str().unwrap().as_bytes().to_vec(),
        };
        let value = |name: &str| match &hit["fields"][name][0] {
            Value::String(text) if name == "type" => {
                let letters =
                    [("directory", "d"), ("file", "f"), ("link", "l"), ("fifo", "p"), ("socket", "s")];
                letters.into_iter().find(|(name, _)| name == text).unwrap().1.to_owned()
            }
            Value::String(text) => text.clone(),
            Value::Number(mode) if name == "mode" => format!("{:o}", mode.as_u64().unwrap() & 0o7777),
            Value::Null => String::new(),
            number => number.to_string(),
        };
        found.insert(key, fields.split(',').map(value).collect());
    }
    found
}

#[test]
fn every_entry_has_the_values_that_find_prints() {
    let place = place();
    let ran = place.indexed(&["--content", "none"]);
    assert!(ran.text().starts_with("15 documents without text in "), "{}", ran.text());
    let (listed, indexed) = (listed(&place), indexed(&place));
    assert_eq!(listed.len(), 15);
    assert_eq!(indexed, listed);
    for (query, count) in [("type:directory", 4), ("type:link", 3), ("type:fifo OR type:socket", 2)] {
        assert_eq!(place.count(query), count, "{query}");
    }
    assert_eq!(place.count("target:sub* type:link"), 1);
    assert_eq!(place.count("one two three"), 0, "no file was read");
}

#[test]
fn a_tree_is_followed_without_reading_any_file() {
    let place = place();
    place.indexed(&["--content", "none"]);
    let again = |place: &Place| place.indexed(&["--json"]).json();
    let report = again(&place);
    assert_eq!((&report["unchanged"], &report["documents"]), (&15.into(), &0.into()), "{report}");

    // A change of rights alone touches neither size nor time of modification.
    let files = place.files();
    fs::set_permissions(files.join("sub/deep/b.c"), fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(again(&place)["replaced"], 1);
    assert_eq!(place.count("mode:0400"), 1);

    fs::rename(files.join("sub/deep"), files.join("empty/moved")).unwrap();
    fs::remove_file(files.join("pipe")).unwrap();
    again(&place);
    assert_eq!(indexed(&place), listed(&place));
}

#[test]
fn globs_and_single_files_choose_entries() {
    let place = place();
    let ran = place.indexed(&["--content", "none", "--exclude", "deep", "--include", "*.txt", "--json"]);
    // All entries but the four and the one below the excluded directory.
    assert_eq!(ran.json()["skipped"], 10);
    assert_eq!(place.found(&["*"]), ["files", "a.txt", "empty", "sub"]);
    let other = place.dir.path().join("other.scanns");
    let ran = run(scanns(&["index", "--content", "none", "-o"]).arg(&other).arg(place.files().join("pipe")));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = run(scanns(&["search", "--json", "*"]).arg(&other));
    assert_eq!(ran.code, Some(2), "the index comes first");
    let ran = run(scanns(&["search"]).arg(&other).args(["--json", "--fields", "type", "*"]));
    assert_eq!(ran.json()["fields"]["type"][0], "fifo");
}

#[test]
fn directories_of_included_files_can_be_listed_summed_up_and_searched() {
    let files = [("a/b/one.txt", "one"), ("a/b/two.c", "two"), ("c/three.c", "three"), ("top.txt", "four")];
    let place = Place::with(&files);
    fs::create_dir(place.files().join("d")).unwrap();
    place.indexed(&["--content", "none", "--include", "*.txt"]);
    let root = place.files();
    let ask = |verb: &[&str], more: &[&str]| {
        let ran = run(scanns(verb).arg(place.index()).arg(&root).args(more));
        let text = ran.text().replace(root.to_str().unwrap(), "R");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let listed = ask(&["ls", "-R"], &[]);
    let expected = "R: a c d top.txt  R/a: b  R/a/b: one.txt  R/c:  R/d:";
    assert_eq!(listed.join(" "), expected);
    assert_eq!(ask(&["find"], &[]), ["R", "R/a", "R/a/b", "R/a/b/one.txt", "R/c", "R/d", "R/top.txt"]);
    assert_eq!(ask(&["find"], &["-type", "d", "-name", "b"]), ["R/a/b"]);
    assert_eq!(ask(&["find"], &["-empty"]), ["R/d"], "files of c were left out");
    let mut inodes = ask(&["du", "--inodes"], &[]);
    inodes.sort();
    assert_eq!(inodes, ["1\tR/c", "1\tR/d", "2\tR/a/b", "3\tR/a", "7\tR"]);
    // A list of changes names a new directory alone.
    for (path, text) in [("e/f/x.txt", "x"), ("e/f/y.c", "y")] {
        place.write(path, text.as_bytes());
    }
    let list = place.dir.path().join("list");
    fs::write(&list, format!("{}\n", root.join("e").display())).unwrap();
    let mut command = scanns(&["index", "-q", "--include", "*.txt", "--changes=paths", "-o"]);
    let ran = run(command.arg(place.index()).arg(&list).arg(&root));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ask(&["find"], &["-path", "*/e*"]), ["R/e", "R/e/f", "R/e/f/x.txt"]);
    // The same entries, from a list of paths.
    fs::write(&list, format!("{}\n", root.display())).unwrap();
    let other = place.dir.path().join("other.scanns");
    let mut command = scanns(&["index", "--content", "none", "--include", "*.txt", "--files-from"]);
    let ran = run(command.arg(&list).arg("-o").arg(&other));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = |index: &Path| run(scanns(&["find"]).arg(index)).stdout;
    assert_eq!(found(&other), found(&place.index()));
}

#[test]
fn choices_that_contradict_each_other_are_refused() {
    let place = Place::with(&[("a.txt", "one")]);
    for (more, message) in [
        (&["--content", "none", "--no-metadata"][..], "neither content nor metadata"),
        (&["--content", "none", "--binary", "text"], "leave --extract, --binary"),
        (&["--content", "none", "--store", "content"], "storing text where no file is read"),
        (&["--content", "none", "--records", "lines"], "names alone where documents are not files"),
    ] {
        let ran = place.index_with(more);
        assert_eq!(ran.code, Some(2), "{more:?}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert!(!place.index().exists());
    }
    place.indexed(&["--content", "text"]);
    let ran = place.index_with(&["--content", "none"]);
    assert_eq!(ran.code, Some(2));
    let remedy = "the index has the text of files: leave --content none out, or build another index";
    assert!(ran.stderr.contains("another treatment of the content of files"), "{}", ran.stderr);
    assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
}

#[test]
fn owners_of_files_have_the_names_in_given_files() {
    let place = Place::with(&[("a.txt", "one"), ("b.txt", "two")]);
    let status = fs::metadata(place.files().join("a.txt")).unwrap();
    let beside = |name: &str, line: String| {
        let path = place.dir.path().join(name);
        fs::write(&path, line).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let users = beside("users", format!("alice:x:{}:1:Alice:/home/alice:/bin/sh\n", status.uid()));
    let groups = beside("groups", "others:x:4000000000:\n".into());
    place.indexed(&["--passwd", &users, "--group", &groups]);
    assert_eq!(place.count("owner:alice"), 2);
    assert_eq!(place.count(&format!("group:{}", status.gid())), 2, "numbers without a name stay");
    let ran = place.index_with(&["--passwd", "no such file"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no such file"), "{}", ran.stderr);
    let ran = Place::with(&[("a.txt", "one")]).index_with(&["--records", "lines", "--group", &groups]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--group is for the owners of files"), "{}", ran.stderr);
}

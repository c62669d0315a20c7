//! `scanns diff`, between indexes and dumps of a tree that changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Place, Ran, run, scanns, skipped};

/// The format string of find that loses nothing.
const FORMAT: &str = r"%y\t%s\t%b\t%m\t%U\t%u\t%G\t%g\t%T@\t%A@\t%C@\t%i\t%n\t%D\t%l\0%p\0\n";

/// Writes a dump of the tree; false without a find of GNU.
fn dump(root: &Path, to: &Path) -> bool {
    let Ok(out) = Command::new("find").arg(root).args(["-printf", FORMAT]).output() else { return false };
    fs::write(to, &out.stdout).unwrap();
    out.status.success()
}

/// An index of the tree beside it.
fn index(place: &Place, name: &str) -> PathBuf {
    let path = place.index().with_file_name(name);
    let built = run(scanns(&["index", "--content", "none", "-o"]).arg(&path).arg(place.files()));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    path
}

/// The difference of two trees.
fn diff(options: &[&str], old: &Path, new: &Path) -> Ran {
    run(scanns(&["diff"]).args(options).arg(old).arg(new))
}

/// A tree, and the same tree after some changes, as an index and a dump each.
struct Trees {
    place: Place,
    root: PathBuf,
    indexes: [PathBuf; 2],
    dumps: [PathBuf; 2],
}

impl Trees {
    /// The trees; `None` without a find of GNU.
    fn new(test: &str) -> Option<Self> {
        let files = [("a/b/f.txt", "one"), ("a/g.txt", "two"), ("c/h.h5", "three"), ("c/i\nj", "four")];
        let place = Place::with(&files);
        let root = place.files().canonicalize().unwrap();
        let at = |name: &str| place.index().with_file_name(name);
        let dumps = [at("old.dump"), at("new.dump")];
        let old = index(&place, "old.scanns");
        if !dump(&root, &dumps[0]) {
            skipped(test, "there is no find of GNU");
            return None;
        }
        fs::rename(root.join("a"), root.join("z")).unwrap();
        fs::write(root.join("z/g.txt"), "longer").unwrap();
        fs::set_permissions(root.join("z/g.txt"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::remove_file(root.join("c/i\nj")).unwrap();
        fs::write(root.join("c/new, \"x\""), "five!").unwrap();
        let new = index(&place, "new.scanns");
        assert!(dump(&root, &dumps[1]));
        Some(Trees { place, root, indexes: [old, new], dumps })
    }

    /// The lines of an answer, with paths relative to the tree.
    fn lines(&self, ran: &Ran) -> Vec<String> {
        let root = format!("{}/", self.root.display());
        ran.text().lines().map(|line| line.replace(&root, "")).collect()
    }
}

#[test]
fn a_moved_directory_is_one_line_and_other_changes_have_theirs() {
    let Some(trees) = Trees::new("a_moved_directory_is_one_line_and_other_changes_have_theirs") else {
        return;
    };
    let [old, new] = &trees.indexes;
    let ran = diff(&["--ignore", "mtime,ctime"], old, new);
    assert_eq!(
        trees.lines(&ran),
        [r"- 'c/i'$'\n''j'", "+ c/new, \"x\"", "> a -> z", "M z/g.txt  size 3 -> 6, mode 0644 -> 0600",]
    );
    assert_eq!(ran.code, Some(1));
    let expected = "1 added, 1 removed, 1 moved (2 along with directories), 1 changed, ";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    let only = diff(&["--only", "removed,moved"], old, new);
    assert_eq!(trees.lines(&only), [r"- 'c/i'$'\n''j'", "> a -> z"]);
    let below = format!("{}/c", trees.root.display());
    let below = diff(&["--ignore", "mtime,ctime", "--below", &below], old, new);
    assert_eq!(below.text().lines().count(), 2);
    let nul = diff(&["-0", "--only", "removed"], old, new);
    assert_eq!(nul.stdout, format!("- {}/c/i\nj\0", trees.root.display()).into_bytes());
}

#[test]
fn indexes_and_dumps_and_any_memory_give_the_same_answer() {
    let Some(trees) = Trees::new("indexes_and_dumps_and_any_memory_give_the_same_answer") else { return };
    let expected = diff(&[], &trees.indexes[0], &trees.indexes[1]);
    assert_eq!((expected.code, expected.text().lines().count()), (Some(1), 6));
    for old in [&trees.indexes[0], &trees.dumps[0]] {
        for new in [&trees.indexes[1], &trees.dumps[1]] {
            for memory in ["5k", "1g"] {
                let ran = diff(&["--memory", memory], old, new);
                assert_eq!((ran.code, ran.text()), (Some(1), expected.text()), "{}", ran.stderr);
            }
        }
    }
    for [one, other] in [[&trees.indexes[0], &trees.dumps[0]], [&trees.dumps[1], &trees.indexes[1]]] {
        let same = diff(&[], one, other);
        assert_eq!((same.code, same.text(), same.stderr.as_str()), (Some(0), "", ""));
    }
    let found = fs::read_dir(trees.place.index().parent().unwrap()).unwrap().count();
    assert_eq!(found, 5, "temporary files are left");
}

#[test]
fn answers_are_also_csv_json_and_sums() {
    let Some(trees) = Trees::new("answers_are_also_csv_json_and_sums") else { return };
    let [old, new] = &trees.dumps;
    let json = diff(&["--format", "json", "--only", "added,changed", "--ignore", "mtime,ctime"], old, new);
    let values: Vec<serde_json::Value> =
        json.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.len(), 2, "{}", json.text());
    assert_eq!(values[0]["path"], format!("{}/c/new, \"x\"", trees.root.display()));
    assert_eq!(values[1]["fields"], serde_json::json!(["size", "mode"]));
    assert_eq!((&values[1]["old"]["size"], &values[1]["new"]["mode"]), (&3.into(), &"0600".into()));
    let csv = diff(&["--format", "csv", "--only", "added"], old, new);
    let lines = trees.lines(&csv);
    assert_eq!(lines[0], "kind,path,old_path,type,old_size,size,old_mtime,mtime,fields");
    assert!(
        lines[1].ends_with(",") && lines[1].contains("\"c/new, \"\"x\"\"\",,file,,5,,20"),
        "{}",
        lines[1]
    );
    let sums = diff(&["--summary", "--depth", "99"], old, new);
    let lines = trees.lines(&sums);
    assert_eq!(lines[1], "total\t\t1\t1\t0\t8\t4\t4\t0\t0");
    assert!(lines.contains(&"ext\ttxt\t0\t0\t0\t3\t0\t3\t0\t0".to_owned()), "{lines:?}");
    assert!(lines.contains(&"directory\tc\t1\t1\t0\t5\t4\t1\t0\t0".to_owned()), "{lines:?}");
}

#[test]
fn a_copy_is_compared_by_relative_paths() {
    let Some(trees) = Trees::new("a_copy_is_compared_by_relative_paths") else { return };
    let copy = trees.place.index().with_file_name("copy");
    let status = Command::new("cp").arg("-a").arg(&trees.root).arg(&copy).status().unwrap();
    assert!(status.success());
    let dumped = trees.place.index().with_file_name("copy.dump");
    assert!(dump(&copy, &dumped));
    let roots = ["--old-root", trees.root.to_str().unwrap(), "--new-root", copy.to_str().unwrap()];
    let ignore = ["--ignore", "inode,ctime"];
    let ran = diff(&[&roots[..], &ignore[..]].concat(), &trees.indexes[1], &dumped);
    assert_eq!((ran.code, ran.text()), (Some(0), ""), "{}", ran.stderr);
    fs::write(copy.join("z/b/f.txt"), "other").unwrap();
    assert!(dump(&copy, &dumped));
    let ran = diff(&[&roots[..], &ignore[..]].concat(), &trees.indexes[1], &dumped);
    assert!(ran.text().starts_with("M z/b/f.txt  size 3 -> 5, mtime "), "{}", ran.text());
    let ran = diff(&ignore, &trees.indexes[1], &dumped);
    assert!(ran.stderr.contains("no path in common; --old-root"), "{}", ran.stderr);
}

#[test]
fn trouble_is_told_and_has_the_exit_code_of_diff() {
    let Some(trees) = Trees::new("trouble_is_told_and_has_the_exit_code_of_diff") else { return };
    let [old, new] = &trees.dumps;
    let cut = old.with_file_name("cut.dump");
    let bytes = fs::read(old).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 9]).unwrap();
    for (ran, expected) in [
        (diff(&[], &cut, new), "the differences are not complete"),
        (diff(&[], &old.with_file_name("none"), new), "No such file"),
        (diff(&["--ignore", "colour"], old, new), "unknown field 'colour': use type, size"),
        (diff(&["--old-root", "/a"], old, new), "--new-root"),
        (diff(&["--dump", "nothing"], old, new), "unknown format 'nothing': name one of find"),
        (diff(&["--memory", "1", "--temporary", "/nonexistent"], old, new), "create a temporary file"),
        (diff(&[], Path::new("-"), Path::new("-")), "only one of OLD and NEW"),
    ] {
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
}

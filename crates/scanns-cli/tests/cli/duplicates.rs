//! `scanns duplicates`, compared with jdupes and fdupes, and with what is in the files.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Place, Ran, run, scanns, skipped};

/// Groups of paths.
type Groups = BTreeSet<BTreeSet<Vec<u8>>>;

fn duplicates(place: &Place, options: &[&str]) -> Ran {
    run(scanns(&["duplicates"]).arg(place.index()).args(options))
}

/// The groups of an answer with NUL bytes.
fn groups(ran: &Ran) -> Groups {
    let mut groups: Groups = BTreeSet::new();
    let mut group = BTreeSet::new();
    for path in ran.stdout.split(|byte| *byte == 0) {
        if !path.is_empty() {
            group.insert(path.to_vec());
        } else if !group.is_empty() {
            groups.insert(std::mem::take(&mut group));
        }
    }
    groups
}

/// The groups of a tool that prints a path a line, and an empty line after each group; `None` without the
/// tool.
fn theirs(tool: &str, root: &Path) -> Option<Groups> {
    let out = Command::new(tool).args(["-r", "-q"]).arg(root).output().ok()?;
    let mut groups: Groups = BTreeSet::new();
    let mut group = BTreeSet::new();
    for line in out.stdout.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            group.insert(line.to_vec());
        } else if !group.is_empty() {
            groups.insert(std::mem::take(&mut group));
        }
    }
    Some(groups)
}

/// A tree of files of few contents, without hard links, which the tools treat in other ways.
fn random_tree(place: &Place, random: &mut fastrand::Rng) -> PathBuf {
    for at in 0..random.usize(50..200) {
        let size = *random.choice(&[1, 10, 4096, 9000, 70_000, 1_100_000]).unwrap();
        let mut bytes = vec![b'x'; size];
        let changed = *random.choice(&[0, size / 2, size - 1]).unwrap();
        bytes[changed] = random.u8(b'a'..b'd');
        place.write(format!("d{}/e {}/f{at}", random.u8(..3), random.u8(..3)), &bytes);
    }
    place.files().canonicalize().unwrap()
}

#[test]
fn groups_are_those_of_other_tools() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..3 {
        let place = Place::with(&[]);
        let root = random_tree(&place, &mut random);
        place.indexed(&["--content", "none"]);
        for tool in ["jdupes", "fdupes"] {
            let Some(theirs) = theirs(tool, &root) else {
                skipped("groups_are_those_of_other_tools", &format!("there is no {tool}"));
                continue;
            };
            for options in [&["-0"][..], &["-0", "--verify", "--memory", "3k"], &["-0", "--threads", "1"]] {
                let ran = duplicates(&place, options);
                assert_eq!(ran.code, Some(0), "{}", ran.stderr);
                assert_eq!(groups(&ran), theirs, "{tool} {options:?} seed {seed}");
            }
        }
    }
}

#[test]
fn the_greatest_waste_comes_first_and_hard_links_waste_nothing() {
    let place =
        Place::with(&[("a", "one"), ("b", "one"), ("c", "one"), ("e", "two"), ("empty", ""), ("f", "")]);
    let root = place.files().canonicalize().unwrap();
    for name in ["large 1", "large\n2"] {
        place.write(name, &[7; 100_000]);
    }
    fs::hard_link(root.join("e"), root.join("e2")).unwrap();
    fs::hard_link(root.join("b"), root.join("b2")).unwrap();
    place.indexed(&["--content", "none"]);
    let ran = duplicates(&place, &[]);
    let shown = ran.text().replace(&format!("{}/", root.display()), "");
    let large = "2 files of 97.7 KiB, 97.7 KiB wasted\n  'large'$'\\n''2'\n  large 1\n";
    assert!(shown.starts_with(large), "{shown}");
    assert!(shown.ends_with("\n\n3 files of 3 B, 6 B wasted\n  a\n  b\n  = b2\n  c\n\n"), "{shown}");
    assert!(ran.stderr.contains("2 groups of 5 files, 97.7 KiB wasted"), "{}", ran.stderr);
    let json = duplicates(&place, &["--format", "json", "--min-size", "4"]).json();
    assert_eq!((&json["size"], &json["wasted"]), (&100_000.into(), &100_000.into()));
    assert_eq!(json["files"].as_array().unwrap().len(), 2);
    let csv = duplicates(&place, &["--format", "csv"]);
    let csv = csv.text().replace(&format!("{}/", root.display()), "");
    assert!(csv.starts_with("group,size,file,path\n1,100000,1,"), "{csv}");
    assert!(csv.ends_with("2,3,1,a\n2,3,2,b\n2,3,2,b2\n2,3,3,c\n"), "{csv}");
    let some = run(scanns(&["duplicates", "-0"]).arg(place.index()).arg(root.join("a")).arg(root.join("c")));
    let expected: BTreeSet<_> = ["a", "c"].map(|name| root.join(name).as_os_str().as_bytes().to_vec()).into();
    assert_eq!(groups(&some), BTreeSet::from([expected]));
}

#[test]
fn files_that_changed_are_counted_and_the_first_is_named() {
    let place = Place::with(&[("a", "same"), ("b", "same"), ("c", "same"), ("d", "same")]);
    place.indexed(&["--content", "none"]);
    place.write("a", b"Same");
    fs::remove_file(place.files().join("b")).unwrap();
    let ran = duplicates(&place, &["-0"]);
    assert_eq!((ran.code, groups(&ran).len()), (Some(1), 1));
    assert!(ran.stderr.contains("2 files have changed since they were indexed, or are gone; the first is /"));
    let ran = run(scanns(&["duplicates"]).arg(place.index()).arg("nothing"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("nothing: not in the index"), "{}", ran.stderr);
}

#[test]
fn a_second_run_takes_hashes_from_the_first() {
    let place = Place::with(&[]);
    for name in ["a", "b", "c"] {
        place.write(name, &[1; 20_000]);
    }
    place.indexed(&["--content", "none"]);
    let hashes = place.index().with_file_name("kept.scanhash");
    let resume = ["--resume", hashes.to_str().unwrap()];
    let first = duplicates(&place, &resume);
    assert!(first.stderr.contains("compared 3 files, read 82.6 KiB"), "{}", first.stderr);
    // A file with another name is the same file.
    fs::rename(place.files().join("a"), place.files().join("z")).unwrap();
    place.indexed(&["--content", "none"]);
    let second = duplicates(&place, &resume);
    assert_eq!((second.code, second.text().lines().count()), (Some(0), 5));
    let is_known = second.stderr.contains("read 0 B") || second.stderr.contains("read 27.5 KiB");
    assert!(is_known, "{}", second.stderr);
    let bytes = fs::read(&hashes).unwrap();
    for (bytes, expected) in [
        (b"text".to_vec(), "it is not a file with hashes of scanns"),
        (bytes[..bytes.len() - 1].to_vec(), "it is damaged: "),
        ([&bytes[..8], &[9], &bytes[9..]].concat(), "it has version 9"),
    ] {
        fs::write(&hashes, &bytes).unwrap();
        let ran = duplicates(&place, &resume);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected) && ran.stdout.is_empty(), "{}", ran.stderr);
        assert_eq!(fs::read(&hashes).unwrap(), bytes, "a file of another program was changed");
    }
}

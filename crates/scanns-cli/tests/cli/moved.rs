//! Files in directories that were moved between two builds: their text is not read again, and the index is as
//! if it had been.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use fastrand::Rng;

use crate::{Place, Ran, run, scanns};

/// The number of files that a build moved.
fn moved(place: &Place, more: &[&str]) -> u64 {
    let ran = place.index_with(&[&["--json"], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json()["moved"].as_u64().unwrap()
}

/// The values of all documents, and the paths of those that have a word.
fn contents(index: &Path, words: &[&str]) -> BTreeMap<String, Vec<String>> {
    let fields = "path,name,ext,size,mtime,ctime,inode,mode";
    let ask = |query: &str| {
        run(scanns(&["search"]).arg(index).args([query, "--all", "--json", "--fields", fields]))
    };
    let mut all = BTreeMap::new();
    for query in [&["*"][..], words].concat() {
        let ran: Ran = ask(query);
        let mut hits: Vec<String> = ran.lines().iter().map(|hit| hit["fields"].to_string()).collect();
        hits.sort();
        all.insert(query.to_owned(), hits);
    }
    all
}

/// Builds a new index of the same files.
fn fresh(place: &Place, more: &[&str]) -> PathBuf {
    let index = place.dir.path().join("fresh.scanns");
    let _ = fs::remove_dir_all(&index);
    let ran = run(scanns(&["index", "-q", "-o"]).arg(&index).args(more).arg(place.files()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    index
}

/// Text of about 3 KB with few different words.
fn text(random: &mut Rng) -> String {
    (0..500).map(|_| format!("word{} ", random.u8(..40))).collect()
}

#[test]
fn an_index_after_moves_is_as_if_all_files_had_been_read() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for options in
        [&[][..], &["--positions", "--store", "content", "--vectors"], &["--offsets", "--store", "reference"]]
    {
        let place = Place::new();
        for number in 0..40 {
            place.write(
                format!("d{}/e{}/f{number}.txt", number % 4, number % 3),
                text(&mut random).as_bytes(),
            );
        }
        place.write("d0/empty", b"");
        place.write("d1/binary", &[0, 1, 2, 255].repeat(400));
        // Files of the same size that may have been made in one tick of the clock.
        let same = text(&mut random);
        place.write("x/same", same.as_bytes());
        place.write("y/same", same.replace("word1 ", "word7 ").as_bytes());
        place.indexed(options);
        let mut all = 0;
        for round in 0..4 {
            let root = place.files();
            fs::rename(root.join(format!("d{round}")), root.join(format!("moved {round}"))).unwrap();
            // Directories and files exchange their names, and a file takes the place of another one.
            for (from, to) in [("x", "z"), ("y", "x"), ("z", "y")] {
                fs::rename(root.join(from), root.join(to)).unwrap();
            }
            let names: Vec<PathBuf> = fs::read_dir(root.join(format!("moved {round}/e0")))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            fs::rename(&names[0], root.join("other")).unwrap();
            fs::rename(&names[1], &names[0]).unwrap();
            fs::rename(root.join("other"), &names[1]).unwrap();
            fs::rename(&names[2], root.join("at the top")).unwrap();
            fs::write(&names[1], text(&mut random)).unwrap();
            place.write(format!("new {round}"), text(&mut random).as_bytes());
            all += moved(&place, options);
            let fresh = fresh(&place, options);
            let words = ["word1", "word17", "word39 word2"];
            assert_eq!(
                contents(&place.index(), &words),
                contents(&fresh, &words),
                "seed {seed} round {round}"
            );
            let checked = run(scanns(&["check", "--level", "all"]).arg(place.index()));
            assert_eq!(checked.code, Some(0), "seed {seed} {}", checked.stderr);
        }
        assert!(all > 20, "seed {seed} {all}");
        if options.contains(&"--positions") {
            let phrase = ["\"word1 word2\""];
            assert_eq!(
                contents(&place.index(), &phrase),
                contents(&fresh(&place, options), &phrase),
                "seed {seed}"
            );
        }
        run(scanns(&["merge"]).arg(place.index()));
        assert_eq!(
            contents(&place.index(), &["word3"]),
            contents(&fresh(&place, options), &["word3"]),
            "seed {seed}"
        );
    }
}

#[test]
fn the_text_of_files_in_a_moved_directory_is_not_read() {
    let place = Place::with(&[("a/one.txt", "zebra with stripes"), ("a/two.txt", "a yellow giraffe")]);
    place.indexed(&["--store", "content"]);
    fs::rename(place.files().join("a"), place.files().join("b")).unwrap();
    let ran = place.indexed(&[]);
    assert!(ran.text().contains("moved: 2 files, whose text was not read again"), "{}", ran.text());
    assert!(!ran.text().contains("removed"), "{}", ran.text());
    assert_eq!((place.found(&["zebra"]), place.count("path:*/a/*")), (vec!["one.txt".into()], 0));
    fs::rename(place.files().join("b"), place.files().join("c")).unwrap();
    let report = place.index_with(&["--json"]).json();
    assert_eq!((&report["moved"], &report["bytes"]), (&2.into(), &0.into()), "{report}");
    // It is read on request.
    let report = place.index_with(&["--json", "--reindex"]).json();
    assert_eq!((&report["moved"], &report["documents"]), (&0.into(), &2.into()), "{report}");
}

#[test]
fn a_file_that_was_written_to_with_an_old_time_is_read() {
    let numbers: Vec<String> = (1..=9).map(|number| format!("a/{number}")).collect();
    let files: Vec<(&str, &str)> = numbers.iter().map(|name| (name.as_str(), "apfel\n")).collect();
    let place = Place::with(&files);
    let old = fs::FileTimes::new().set_modified(UNIX_EPOCH + Duration::from_secs(1_577_836_800));
    let set_old = |path: &Path| File::options().write(true).open(path).unwrap().set_times(old).unwrap();
    numbers.iter().for_each(|name| set_old(&place.files().join(name)));
    place.indexed(&[]);
    fs::rename(place.files().join("a"), place.files().join("c")).unwrap();
    let file = place.files().join("c/5");
    let before = fs::metadata(&file).unwrap();
    fs::write(&file, "birne\n").unwrap();
    set_old(&file);
    let after = fs::metadata(&file).unwrap();
    let state = |meta: &fs::Metadata| (meta.ino(), meta.len(), meta.mtime_nsec(), meta.mtime());
    assert_eq!(state(&before), state(&after));
    assert_eq!(moved(&place, &[]), 8);
    assert_eq!(
        (place.count("apfel"), place.count("birne"), place.found(&["birne"])),
        (8, 1, vec!["5".into()])
    );
}

#[test]
fn a_file_that_got_another_name_is_read() {
    let place = Place::with(&[("one.txt", "zebra"), ("two.txt", "giraffe")]);
    place.indexed(&[]);
    fs::rename(place.files().join("one.txt"), place.files().join("three.txt")).unwrap();
    assert_eq!((moved(&place, &[]), place.found(&["zebra"])), (0, vec!["three.txt".into()]));
}

#[test]
fn what_is_not_certainly_the_same_file_is_read() {
    let place = Place::with(&[("a/one.txt", "zebra"), ("a/two.txt", "giraffe"), ("a/three.txt", "lion")]);
    place.indexed(&[]);
    let root = place.files();
    fs::rename(root.join("a"), root.join("b")).unwrap();
    // One has another time, one was copied, one was kept.
    fs::write(root.join("b/one.txt"), "horse").unwrap();
    fs::rename(root.join("b/two.txt"), root.join("c.txt")).unwrap();
    assert!(
        Command::new("cp")
            .arg("-p")
            .arg(root.join("c.txt"))
            .arg(root.join("b/two.txt"))
            .status()
            .unwrap()
            .success()
    );
    fs::remove_file(root.join("c.txt")).unwrap();
    assert_eq!(moved(&place, &[]), 1, "three.txt");
    for (word, count) in [("zebra", 0), ("horse", 1), ("giraffe", 1), ("lion", 1)] {
        assert_eq!(place.count(word), count, "{word}");
    }
    // Documents that are to be kept do not move.
    fs::rename(root.join("b"), root.join("d")).unwrap();
    assert_eq!((moved(&place, &["--keep-removed"]), place.count("lion")), (0, 2));
    // A file among many that stay is read: this is faster than to copy its document.
    let place = Place::new();
    let mut random = Rng::with_seed(7);
    for number in 0..40 {
        let text: String = (0..10_000).map(|_| format!("{} ", random.u32(..))).collect();
        place.write(format!("d{number}/f"), text.as_bytes());
    }
    place.indexed(&[]);
    fs::rename(place.files().join("d7"), place.files().join("e7")).unwrap();
    assert_eq!((moved(&place, &[]), place.count("path:*/e7/f"), place.count("path:*/d7/f")), (0, 1, 0));
}

#[test]
fn files_that_only_their_inodes_tell_apart_are_not_taken_for_each_other() {
    for options in [&["--content", "text"][..], &["--content", "none"]] {
        let place = Place::new();
        let (x, y) = (place.files().join("x"), place.files().join("y"));
        for directory in [&x, &y] {
            fs::create_dir(directory).unwrap();
        }
        // Both are made in one tick of the clock, which takes a few attempts.
        let made = (0..1000).any(|_| {
            fs::write(x.join("f"), "zebra").unwrap();
            fs::write(y.join("f"), "horse").unwrap();
            let times = |path: &Path| {
                let meta = fs::metadata(path.join("f")).unwrap();
                (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec())
            };
            let same = times(&x) == times(&y);
            if !same {
                [&x, &y].into_iter().for_each(|path| fs::remove_file(path.join("f")).unwrap());
            }
            same
        });
        if !made {
            println!("skipped: this file system gives every file another time");
            return;
        }
        // The times are older than the clock's tick when the first scan begins.
        std::thread::sleep(Duration::from_millis(50));
        place.indexed(options);
        let z = place.files().join("z");
        for (from, to) in [(&x, &z), (&y, &x), (&z, &y)] {
            fs::rename(from, to).unwrap();
        }
        place.indexed(options);
        let inode = fs::metadata(x.join("f")).unwrap().ino();
        let found = run(scanns(&["find"]).arg(place.index()).args(["-inum", &inode.to_string()]));
        assert_eq!(found.text().trim_end(), x.join("f").to_str().unwrap(), "{options:?}");
        if options.contains(&"text") {
            assert_eq!(place.count("horse path:*/x/f"), 1, "{}", place.search(&["horse"]).text());
        }
    }
}

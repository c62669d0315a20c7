//! `scanns find --sort`: the orders are those of GNU find's values, sorted.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::{Place, Ran, run, scanns, skipped};

/// A value, the directive of find that prints it, and whether it is a number.
const VALUES: [(&str, &str, bool); 13] = [
    ("path", "%p", false),
    ("name", "%f", false),
    ("depth", "%d", true),
    ("size", "%s", true),
    ("blocks", "%b", true),
    ("mtime", "%T@", true),
    ("ctime", "%C@", true),
    ("owner", "%u", false),
    ("group", "%g", false),
    ("uid", "%U", true),
    ("gid", "%G", true),
    ("inode", "%i", true),
    ("links", "%n", true),
];

/// A tree with equal and different sizes, dates and numbers of links, and names that sort in odd ways.
fn random_tree(random: &mut fastrand::Rng) -> Place {
    let place = Place::new();
    let mut made: Vec<PathBuf> = Vec::new();
    for number in 0..random.usize(50..200) {
        let name = |random: &mut fastrand::Rng| {
            let text = random.choice(["a", "a-", "a.b", "B", "ä", "\n", " ", "0", "9"]).unwrap();
            format!("{text}{}", random.u8(..4))
        };
        let mut path = format!("{number}{}", name(random));
        for _ in 0..random.usize(..4) {
            path = format!("d{}/{path}", name(random));
        }
        let file = place.write(&path, &vec![0; random.usize(..5) * 1000]);
        let time = SystemTime::UNIX_EPOCH + Duration::new(1 << random.u32(20..30), random.u32(..3) * 500);
        fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        if random.u8(..5) == 0 {
            fs::hard_link(random.choice(&made).unwrap_or(&file), file.with_file_name(format!("l{number}")))
                .unwrap();
        }
        made.push(file);
    }
    place
}

/// The records that find prints, each `%p` and one more value.
fn theirs(place: &Place, words: &[&str], directive: &str) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let format = format!(r"{directive}\0%p\0");
    let found =
        Command::new("find").args(words).args(["-printf", &format]).current_dir(place.files()).output();
    let found = found.ok().filter(|found| found.status.success())?;
    let parts: Vec<&[u8]> = found.stdout.split(|&byte| byte == 0).collect();
    Some(parts.chunks_exact(2).map(|two| (two[0].to_vec(), two[1].to_vec())).collect())
}

/// A value as something that is compared: a number with its fraction, or bytes.
fn comparable(value: &[u8], is_number: bool) -> (i64, u64, Vec<u8>) {
    if !is_number {
        return (0, 0, value.to_vec());
    }
    let text = std::str::from_utf8(value).unwrap();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    (whole.parse().unwrap(), format!("{fraction:0<10}").parse().unwrap(), Vec::new())
}

fn ours(place: &Place, options: &[&str], words: &[&str]) -> Ran {
    let mut command = scanns(&["find"]);
    command.args(options).arg(place.index()).args(words).current_dir(place.files());
    run(&mut command)
}

fn scanned(place: &Place) {
    let built =
        run(scanns(&["index", "-q", "--content", "none", "-o"]).arg(place.index()).arg(place.files()));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
}

#[test]
fn entries_are_sorted_as_the_values_that_find_prints() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..2 {
        let place = random_tree(&mut random);
        scanned(&place);
        let root = place.files();
        let root = root.to_str().unwrap();
        let expressions: [&[&str]; 5] = [
            &[root],
            &[root, "-depth", "-type", "f"],
            &[root, "-name", "da*", "-prune", "-o", "-true"],
            &[root, "-mindepth", "2", "-maxdepth", "3"],
            &[root, "(", "-size", "+3k", "-o", "-type", "d", ")"],
        ];
        for (name, directive, is_number) in VALUES {
            let words = random.choice(expressions).unwrap();
            let Some(mut expected) = theirs(&place, words, directive) else {
                return skipped(
                    "entries_are_sorted_as_the_values_that_find_prints",
                    "there is no find of GNU",
                );
            };
            let key = |value: &[u8]| comparable(value, is_number);
            let is_descending = random.bool();
            if is_descending {
                expected.sort_by_cached_key(|(value, path)| (Reverse(key(value)), path.clone()));
            } else {
                expected.sort_by_cached_key(|(value, path)| (key(value), path.clone()));
            }
            let order = format!("{name}{}", if is_descending { ":desc" } else { "" });
            let limit = random.usize(..expected.len() + 5);
            let format = format!(r"{directive}\0%p\0");
            let words = [words, &["-printf", &format][..]].concat();
            for (limit, memory) in [(None, "1GiB"), (None, "1k"), (Some(limit), "1GiB"), (Some(limit), "1k")]
            {
                let number = limit.unwrap_or(usize::MAX);
                let mut options = vec!["--sort", &order, "--memory", memory];
                let text = number.to_string();
                if limit.is_some() {
                    options.extend(["--limit", &text]);
                }
                let ran = ours(&place, &options, &words);
                let printed: Vec<&[u8]> =
                    expected.iter().take(number).flat_map(|(value, path)| [&value[..], &path[..]]).collect();
                let found: Vec<&[u8]> = ran.stdout.split(|&byte| byte == 0).collect();
                assert_eq!(&found[..found.len() - 1], &printed[..], "{order} {limit:?} {memory} {words:?}");
                assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            }
        }
    }
}

#[test]
fn start_points_are_sorted_together_and_print_as_they_are_written() {
    let place = Place::with(&[("a/one", "1"), ("a/three", "333"), ("b/two", "22")]);
    scanned(&place);
    let sorted = ours(&place, &["--sort", "size"], &["b", "./a/", "a", "-type", "f"]);
    assert_eq!(sorted.text(), "./a/one\na/one\nb/two\n./a/three\na/three\n");
    let listed = ours(&place, &["--sort", "size:desc", "--limit", "2"], &["a", "b", "-type", "f", "-ls"]);
    let names: Vec<&str> = listed.text().lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(names, ["a/three", "b/two"]);
    let out = place.dir.path().join("out");
    let words =
        ["a", "-type", "f", "-fprintf", out.to_str().unwrap(), r"%s\n", ",", "-name", "one", "-print"];
    let both = ours(&place, &["--sort", "size:desc"], &words);
    assert_eq!((both.text(), fs::read(&out).unwrap().as_slice()), ("a/one\n", &b"3\n1\n"[..]));
    let whole =
        run(scanns(&["find", "--sort", "name:desc", "--limit", "3"]).arg(place.index()).arg("-print0"));
    let paths = whole.stdout.split(|&byte| byte == 0).map(|path| Path::new(OsStr::from_bytes(path)));
    let names: Vec<_> = paths.filter_map(Path::file_name).collect();
    assert_eq!(names, ["two", "three", "one"]);
}

#[test]
fn values_that_are_not_known_come_last_and_are_told() {
    let place = Place::new();
    let dump = place.dir.path().join("list.csv");
    fs::write(&dump, "path,size\n/d/b,5\n/d/a,\n/d/c,7\n/d/0,\n").unwrap();
    let built = run(scanns(&["index", "-q", "--dump=csv", "-o"]).arg(place.index()).arg(&dump));
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    for (order, expected) in [("size", "/d/b\n/d/c\n/d/0\n/d/a\n"), ("size:desc", "/d/c\n/d/b\n/d/0\n/d/a\n")]
    {
        let ran = ours(&place, &["--sort", order], &["-path", "/d/*"]);
        assert_eq!((ran.code, ran.text()), (Some(1), expected), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("--sort size: the index does not know this of 2 entries"),
            "{}",
            ran.stderr
        );
    }
    // A test that does not know is counted once, an action only for what is printed.
    let words = ["-path", "/d/*", "!", "-size", "+6c", "-printf", r"%p %u\n"];
    let ran = ours(&place, &["--sort", "name", "--limit", "1"], &words);
    assert_eq!(ran.text(), "/d/0 ?\n");
    assert!(ran.stderr.contains("-size: the index does not know this of 2 entries"), "{}", ran.stderr);
    assert!(ran.stderr.contains("-printf: the index does not know this of 1 entry;"), "{}", ran.stderr);
}

#[test]
fn orders_that_make_no_sense_are_refused() {
    let place = Place::with(&[("a", "1")]);
    scanned(&place);
    for (options, words, expected) in [
        (&["--sort", "colour"][..], &["-print"][..], "unknown value 'colour': use path, name, depth, size"),
        (&["--sort", "size:down"], &["-print"], "unknown order 'down': use asc or desc"),
        (&["--sort", "size"], &["-print", "-quit"], "-quit ends a walk at an entry"),
        (&["--memory", "1M"], &["-print"], "--sort"),
        (
            &["--sort", "size", "--memory", "1", "--temporary", "/nonexistent"],
            &["-print"],
            "temporary file in /non",
        ),
    ] {
        let ran = ours(&place, options, words);
        assert_eq!((ran.code, ran.text()), (Some(2), ""), "{options:?}");
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
}

//! `scanns ls`, compared with GNU ls at the same moment.

use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use crate::{Place, scanns, skipped};

/// A random generator whose seed is printed, so that a failure can be repeated with `SCANNS_SEED`.
pub fn seeded() -> fastrand::Rng {
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("SCANNS_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// True for the version of GNU that the answers are those of.
pub fn is_gnu(tool: &str) -> bool {
    let version = Command::new(tool).arg("--version").output().map(|out| out.stdout).unwrap_or_default();
    version.starts_with(format!("{tool} (GNU coreutils) 9").as_bytes())
}

/// True where `ls -v` takes the whole of a name such as `.Y` for an extension, which later versions do not.
fn has_old_versions() -> bool {
    let place = Place::with(&[(".9", ""), (".Y", "")]);
    answer(Command::new("ls").arg("-Av"), &place.files()).stdout.starts_with(b".Y")
}

/// A random tree with odd names, links, special files and old and new dates.
pub fn make_tree(random: &mut fastrand::Rng, root: &Path, count: usize) {
    let mut directories = vec![root.to_path_buf()];
    let mut files = Vec::new();
    for _ in 0..count {
        let letters = b"abcXYZ.-_ 0129~+\xc3\xa9\xff\n'";
        let name: Vec<u8> = (0..random.usize(1..7)).map(|_| *random.choice(letters).unwrap()).collect();
        let path = random.choice(&directories).unwrap().join(std::ffi::OsString::from_vec(name));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match random.u8(0..12) {
            0..3 => {
                fs::create_dir(&path).unwrap();
                directories.push(path);
                continue;
            }
            3 => {
                // Only ls could follow a link that leaves what is indexed.
                let parent = if path.parent() == Some(root) { "." } else { ".." };
                let targets = [
                    root.to_path_buf(),
                    "none".into(),
                    parent.into(),
                    files.first().cloned().unwrap_or_default(),
                ];
                let target = random.choice(&targets).unwrap();
                symlink(if target.as_os_str().is_empty() { Path::new("x") } else { target }, &path).unwrap();
                continue;
            }
            4 if !files.is_empty() => fs::hard_link(random.choice(&files).unwrap(), &path).unwrap(),
            5 => drop(Command::new("mkfifo").arg(&path).status()),
            6 => drop(UnixListener::bind(&path)),
            _ => {
                fs::write(&path, vec![b'x'; random.usize(0..20_000)]).unwrap();
                files.push(path.clone());
            }
        }
        if random.bool() && path.is_file() {
            let bits = random.u32(1..40);
            let age = Duration::from_millis(random.u64(0..1 << bits));
            let now = SystemTime::now();
            // Not so soon that the time is in the future for one of two commands, and not for the other.
            let soon = Duration::from_secs(3600);
            let time = if random.u8(..) < 20 { now + soon + age } else { now - age };
            let times = FileTimes::new().set_modified(time).set_accessed(time);
            File::open(&path).unwrap().set_times(times).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(random.u32(0..0o1000) | 0o400)).unwrap();
        }
    }
}

/// What a command gives in a fixed time zone and the C locale.
pub fn answer(command: &mut Command, directory: &Path) -> Output {
    command.env("TZ", "Asia/Kolkata").env("LC_ALL", "C").current_dir(directory).output().unwrap()
}

fn tree(count: usize) -> (Place, PathBuf, fastrand::Rng) {
    let mut random = seeded();
    let place = Place::new();
    let root = place.files().canonicalize().unwrap();
    make_tree(&mut random, &root, count);
    place.indexed(&["--content", "none"]);
    (place, root, random)
}

fn compare(place: &Place, root: &Path, options: &[&str], paths: &[PathBuf]) {
    let theirs = answer(Command::new("ls").args(options).arg("--").args(paths), root);
    let ours = answer(scanns(&["ls"]).args(options).arg(place.index()).arg("--").args(paths), root);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{options:?} {paths:?} {}", text(&ours.stderr));
    assert_eq!(ours.stdout, theirs.stdout);
    assert_eq!(ours.status.code(), theirs.status.code(), "{options:?} {paths:?} {}", text(&ours.stderr));
}

const OPTIONS: [&str; 49] = [
    "",
    "-a",
    "-A",
    "-l",
    "-la",
    "-lA",
    "-R",
    "-aR",
    "-lR",
    "-d",
    "-ld",
    "-i",
    "-s",
    "-n",
    "-lS",
    "-S",
    "-Sr",
    "-t",
    "-ltr",
    "-r",
    "-F",
    "-p",
    "-lF",
    "-lp",
    "-lh",
    "-sh",
    "-lis",
    "--zero",
    "-lRa --zero",
    "-l --time-style=full-iso",
    "-l --time-style=long-iso",
    "-l --time-style=iso",
    "-l --time-style=+%s.%N",
    "-1",
    "-FR",
    "-nA",
    "-lhsSi",
    "-iRs",
    "-dF",
    "-tRr",
    "-c",
    "-lc",
    "-ltc",
    "-X",
    "-lXr",
    "-v",
    "-Av",
    "-vr",
    "-Rv",
];

#[test]
fn lists_are_those_of_gnu_ls() {
    if !is_gnu("ls") {
        return skipped("lists_are_those_of_gnu_ls", "there is no ls of GNU coreutils 9");
    }
    let (place, root, mut random) = tree(150);
    let below = |root: &Path| -> Vec<PathBuf> {
        let out = Command::new("find").arg(root).arg("-mindepth").arg("1").arg("-print0").output().unwrap();
        let paths = out.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        paths.map(|path| std::ffi::OsString::from_vec(path.to_vec()).into()).collect()
    };
    let mut all = below(&root);
    all.sort();
    let has_old_versions = has_old_versions();
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
    for options in OPTIONS {
        let options: Vec<&str> = options.split_whitespace().collect();
        let is_above_hidden = !options
            .iter()
            .any(|option| option.starts_with('-') && option.contains('a') && !option.starts_with("--"));
        for _ in 0..4 {
            let mut paths: Vec<PathBuf> =
                (0..random.usize(1..4)).map(|_| random.choice(&all).unwrap().clone()).collect();
            match random.u8(0..4) {
                0 => paths.push(root.join("not there")),
                1 if is_above_hidden => paths = vec![root.clone()],
                _ => {}
            }
            if has_old_versions && options.iter().any(|option| option.contains('v')) {
                paths.retain(|path| !is_hidden(path));
                if options.contains(&"-Av") || paths.is_empty() {
                    continue;
                }
            }
            let named = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_path_buf();
            let relative: Vec<PathBuf> =
                paths.iter().map(named).filter(|path| !path.as_os_str().is_empty()).collect();
            compare(&place, &root, &options, &paths);
            if !relative.is_empty() {
                compare(&place, &root, &options, &relative);
            }
        }
    }
}

#[test]
fn dates_of_accesses_are_shown_and_sorted_by() {
    let place = Place::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    for (name, access) in [("a", 300), ("b", 100), ("c", 200)] {
        let now = SystemTime::now();
        let times = FileTimes::new().set_accessed(now - Duration::from_secs(access)).set_modified(now);
        File::open(place.files().join(name)).unwrap().set_times(times).unwrap();
    }
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    for options in ["-u", "-lu", "-ltu", "-cu", "-uc -1", "-utr"] {
        let options: Vec<&str> = options.split_whitespace().collect();
        compare(&place, &root, &options, std::slice::from_ref(&root));
    }
}

#[test]
fn unsorted_lists_have_the_same_names() {
    if !is_gnu("ls") {
        return skipped("unsorted_lists_have_the_same_names", "there is no ls of GNU coreutils 9");
    }
    let (place, root, _) = tree(60);
    let names = |out: Output| {
        let mut names: Vec<Vec<u8>> = out.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        names.sort();
        names
    };
    let theirs = names(answer(Command::new("ls").args(["-AU", "--zero"]).arg(&root), &root));
    let ours = names(answer(scanns(&["ls", "-AU", "--zero"]).arg(place.index()).arg(&root), &root));
    assert_eq!(ours, theirs);
}

#[test]
fn without_a_path_the_uppermost_directory_is_listed_and_a_link_is_followed() {
    let place = Place::with(&[("a/x", "one"), ("b", "two")]);
    symlink("a", place.files().join("link")).unwrap();
    place.indexed(&["--content", "none"]);
    let root = place.files().canonicalize().unwrap();
    let list = |words: &[&str]| {
        String::from_utf8(answer(scanns(&["ls"]).arg(place.index()).args(words), &root).stdout).unwrap()
    };
    assert_eq!(list(&[]), "a\nb\nlink\n");
    assert_eq!(list(&["link"]), "x\n");
    assert_eq!(list(&["link/x", "./link"]), "link/x\n\n./link:\nx\n");
}

#[test]
fn values_that_a_dump_lacks_are_question_marks_and_counted() {
    let place = Place::new();
    let dump = place.write("fs.dump", b"d /r\nf /r/a\nd /r/b\nl /r/c\n");
    let index = scanns(&["index", "-q", "--dump=find", "--dump-format", "%y %p\\n", "-o"])
        .arg(place.index())
        .arg(dump)
        .output()
        .unwrap();
    assert!(index.status.success(), "{}", String::from_utf8_lossy(&index.stderr));
    let out = answer(scanns(&["ls", "-lis"]).arg(place.index()).arg("/r"), Path::new("/"));
    let expected =
        "total 0\n? ? -????????? ? ? ? ? ? a\n? ? d????????? ? ? ? ? ? b\n? ? l????????? ? ? ? ? ? c -> ?\n";
    assert_eq!(String::from_utf8_lossy(&out.stdout), expected);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&out.stderr).contains("mtime: the index does not know this of 3 entries")
    );
}

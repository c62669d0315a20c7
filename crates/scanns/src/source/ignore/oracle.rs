//! Compares the rules with git over random trees with random patterns.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{IgnoreFaults, IgnoreRules, RuleFiles, RuleNames, UserRules};

/// Pieces of patterns. Names have few letters, so that patterns often match.
const PIECES: [&str; 44] = [
    "a",
    "b",
    "ab",
    "a",
    "b",
    "c",
    "*",
    "?",
    "**",
    "/",
    "/",
    "**/",
    "/**",
    "*/",
    "/*",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[]a]",
    "[!]b]",
    "\\",
    "\\a",
    "\\*",
    " ",
    "\\ ",
    "#",
    "!",
    ".",
    "*.",
    "a*",
    "*b",
    "[",
    "]",
    "[[:alpha:]]",
    "[[:x:]]",
    "-",
    "[a-",
    "[[:digit:]a]",
    "é",
    "\t",
    "[\\]]",
    "***",
    "\\/",
];
const NAMES: [&str; 20] = [
    "a", "b", "c", "ab", "ba", "aa", "bb", "a.b", ".a", "abc", "[", "]", "a b", "a ", "#a", "!a", "*", "é",
    "\\a", "-",
];

fn pattern(random: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    if random.u8(..4) == 0 {
        text.push('!');
    }
    for _ in 0..random.usize(1..=5) {
        let piece = match random.u8(..3) {
            0 => NAMES[random.usize(..NAMES.len())],
            1 => PIECES[random.usize(..14)],
            _ => PIECES[random.usize(..PIECES.len())],
        };
        text.push_str(piece);
    }
    if random.u8(..5) == 0 {
        text.push('/');
    }
    text
}

fn patterns(random: &mut fastrand::Rng) -> Vec<u8> {
    let mut text = Vec::new();
    if random.u8(..20) == 0 {
        text.extend_from_slice(b"\xef\xbb\xbf");
    }
    for _ in 0..random.usize(..7) {
        text.extend_from_slice(pattern(random).as_bytes());
        let end = ["\n", "\n", "\n", "\r\n", "  \n", "\n\n", "\0x\n"][random.usize(..7)];
        text.extend_from_slice(end.as_bytes());
    }
    if random.bool() {
        text.pop();
    }
    text
}

/// Makes files and directories, and returns the directories.
fn grow(directory: &Path, depth: usize, random: &mut fastrand::Rng) -> Vec<PathBuf> {
    let mut all = vec![directory.to_path_buf()];
    for _ in 0..random.usize(1..=6) {
        let path = directory.join(NAMES[random.usize(..NAMES.len())]);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match random.u8(..12) {
            0 => symlink("a", &path).unwrap(),
            1..=5 if depth > 0 => {
                fs::create_dir(&path).unwrap();
                all.append(&mut grow(&path, depth - 1, random));
            }
            _ => fs::write(&path, "").unwrap(),
        }
    }
    if random.bool() {
        fs::write(directory.join(".gitignore"), patterns(random)).unwrap();
    }
    all
}

/// The files that a walk finds.
fn walk(start: &Path, user: &UserRules) -> BTreeSet<Vec<u8>> {
    let mut faults = IgnoreFaults::default();
    let mut found = BTreeSet::new();
    let above = IgnoreRules::above(start, user, &mut faults);
    let mut waiting = vec![(start.to_path_buf(), above)];
    while let Some((directory, above)) = waiting.pop() {
        let files = RuleFiles::read(&directory, RuleNames::UNKNOWN, &mut faults);
        let rules = above.enter(&directory, files, &mut faults);
        for entry in fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let (path, is_dir) = (entry.path(), entry.file_type().unwrap().is_dir());
            if rules.is_ignored(path.as_os_str().as_bytes(), is_dir) {
                continue;
            }
            if is_dir {
                waiting.push((path, rules.clone()));
            } else {
                found.insert(path.strip_prefix(start).unwrap().as_os_str().as_bytes().to_vec());
            }
        }
    }
    assert_eq!(faults.unread, 0, "{faults:?}");
    found
}

/// The files that git does not ignore, below a directory.
fn git_files(directory: &Path, home: &Path) -> Option<BTreeSet<Vec<u8>>> {
    let mut command = Command::new("git");
    command.args(["ls-files", "-z", "--others", "--exclude-standard"]).current_dir(directory);
    command.env("HOME", home).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
    let out = command.output().ok()?;
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let names = out.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Some(names.map(<[u8]>::to_vec).collect())
}

fn repository(directory: &Path) {
    for part in ["objects", "refs", "info"] {
        fs::create_dir_all(directory.join(".git").join(part)).unwrap();
    }
    fs::write(directory.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

fn shown(found: &BTreeSet<Vec<u8>>) -> Vec<String> {
    found.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[test]
fn the_same_files_are_left_out_as_by_git() {
    let trees = number("IGNORE_TREES").unwrap_or(60);
    let seed = number("IGNORE_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let (mut directories_made, mut files, mut taken) = (0, 0, 0);
    for tree in 0..trees {
        let mut random = fastrand::Rng::with_seed(seed.wrapping_add(tree));
        let place = tempfile::tempdir().unwrap();
        let (home, top) = (place.path().join("home"), place.path().join("top"));
        fs::create_dir_all(home.join(".config/git")).unwrap();
        fs::create_dir(&top).unwrap();
        repository(&top);
        let directories = grow(&top, 4, &mut random);
        if random.u8(..3) == 0 {
            fs::write(home.join(".config/git/ignore"), patterns(&mut random)).unwrap();
        }
        if random.u8(..3) == 0 {
            fs::write(top.join(".git/info/exclude"), patterns(&mut random)).unwrap();
        }
        let user = UserRules::of_home(Some(home.clone()), None, &mut IgnoreFaults::default());
        let Some(expected) = git_files(&top, &home) else {
            println!("SKIPPED: there is no git");
            return;
        };
        let found = walk(&top, &user);
        assert_eq!(shown(&found), shown(&expected), "seed {}", seed.wrapping_add(tree));
        // A walk from a directory that git enters finds the same.
        let start = &directories[random.usize(..directories.len())];
        let below = start.strip_prefix(&top).unwrap().join("").as_os_str().as_bytes().to_vec();
        if expected.iter().any(|file| file.starts_with(&below)) {
            let found = walk(start, &user);
            let expected: BTreeSet<_> =
                expected.iter().filter_map(|file| file.strip_prefix(&*below)).map(<[u8]>::to_vec).collect();
            assert_eq!(
                shown(&found),
                shown(&expected),
                "from {}, seed {}",
                start.display(),
                seed.wrapping_add(tree)
            );
        }
        taken += expected.len();
        directories_made += directories.len();
        let entries = directories.iter().flat_map(|directory| fs::read_dir(directory).unwrap());
        files += entries.filter(|entry| !entry.as_ref().unwrap().file_type().unwrap().is_dir()).count();
    }
    println!(
        "{trees} trees: {directories_made} directories, {files} files, of which {taken} are not ignored"
    );
}

/// The paths among the given ones that git ignores. They need not exist.
fn git_ignored(top: &Path, paths: &[Vec<u8>]) -> Option<BTreeSet<Vec<u8>>> {
    let mut command = Command::new("git");
    command.args(["check-ignore", "--no-index", "--stdin", "-z"]).current_dir(top);
    command.env("HOME", top).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
    let mut git = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = git.stdin.take().unwrap();
    let out = std::thread::scope(|scope| {
        scope.spawn(move || {
            paths.iter().for_each(|path| stdin.write_all(&[path, &b"\0"[..]].concat()).unwrap())
        });
        git.wait_with_output().unwrap()
    });
    assert!(out.status.code().is_some_and(|code| code < 2), "{:?}", out.status);
    let names = out.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Some(names.map(<[u8]>::to_vec).collect())
}

#[test]
fn the_same_paths_are_ignored_as_by_git() {
    let lists = number("IGNORE_LISTS").unwrap_or(300);
    let seed = number("IGNORE_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let place = tempfile::tempdir().unwrap();
    let top = place.path().canonicalize().unwrap();
    repository(&top);
    let (mut paths, mut ignored) = (Vec::new(), BTreeSet::new());
    let mut faults = IgnoreFaults::default();
    let above = IgnoreRules::above(&top.join("x"), &UserRules::default(), &mut faults);
    for number in 0..lists {
        let name = format!("list{number}");
        let directory = top.join(&name);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(".gitignore"), patterns(&mut random)).unwrap();
        let files = RuleFiles::read(&directory, RuleNames::UNKNOWN, &mut faults);
        let rules = above.enter(&directory, files, &mut faults);
        for _ in 0..60 {
            let depth = random.usize(1..5);
            let mut names = vec![name.as_str()];
            names.extend((0..depth).map(|_| NAMES[random.usize(..NAMES.len())]));
            let path = |count: usize| names[..=count].join("/").into_bytes();
            let is_ignored = |count: &usize| {
                let path = [top.as_os_str().as_bytes(), b"/", &path(*count)].concat();
                rules.is_ignored(&path, *count < depth)
            };
            if (1..=depth).any(|count| is_ignored(&count)) {
                ignored.insert(path(depth));
            }
            paths.push(path(depth));
        }
    }
    let Some(expected) = git_ignored(&top, &paths) else {
        println!("SKIPPED: there is no git");
        return;
    };
    for path in ignored.symmetric_difference(&expected) {
        let list = path.split(|&byte| byte == b'/').next().unwrap();
        let text = fs::read(top.join(OsStr::from_bytes(list)).join(".gitignore")).unwrap();
        println!("{}, git ignores: {}, of", String::from_utf8_lossy(path), expected.contains(path));
        println!("{:?}", String::from_utf8_lossy(&text));
    }
    assert!(ignored == expected);
    println!("{lists} lists, {} damaged, {} paths, {} ignored", faults.damaged, paths.len(), ignored.len());
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

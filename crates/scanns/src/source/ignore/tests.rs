//! Rules in directories as they occur.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{IgnoreFaults, IgnoreRules, RuleFiles, RuleNames, UserRules};

/// A tree whose files are paths and texts, and its root without links.
fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (place, root)
}

/// The rules after a walk from `start` has entered it and the directories on the way to `below`.
fn rules(start: &Path, below: &str, user: &UserRules, faults: &mut IgnoreFaults) -> IgnoreRules {
    let mut directory = start.to_path_buf();
    let mut rules = IgnoreRules::above(start, user, faults);
    let enter = |rules: &IgnoreRules, directory: &Path, faults: &mut IgnoreFaults| {
        let files = RuleFiles::read(directory, RuleNames::UNKNOWN, faults);
        rules.enter(directory, files, faults)
    };
    rules = enter(&rules, &directory, faults);
    for name in Path::new(below) {
        directory.push(name);
        rules = enter(&rules, &directory, faults);
    }
    rules
}

fn ignores(rules: &IgnoreRules, path: &Path) -> bool {
    rules.is_ignored(path.as_os_str().as_bytes(), path.is_dir())
}

#[test]
fn rules_end_at_the_root_of_another_repository() {
    let (_place, root) = tree(&[
        (".gitignore", "*\n!*/\n"),
        ("plain/a", ""),
        ("own/.git/info/exclude", "private\n"),
        ("own/a", ""),
        ("own/deep/private", ""),
    ]);
    let mut faults = IgnoreFaults::default();
    let of = |start: &str, below: &str| {
        rules(&root.join(start), below, &UserRules::default(), &mut IgnoreFaults::default())
    };
    assert!(ignores(&of("", "plain"), &root.join("plain/a")));
    assert!(!ignores(&of("", "own"), &root.join("own/a")));
    assert!(ignores(&of("", "own/deep"), &root.join("own/deep/private")));
    assert!(ignores(&of("own/deep", ""), &root.join("own/deep/private")), "rules above the start apply");
    assert!(!ignores(&of("plain", ""), &root.join("plain/a")), "but not outside of a repository");
    assert!(ignores(&of("", "own"), &root.join("own/.git")));
    assert!(ignores(&rules(&root, "", &UserRules::default(), &mut faults), &root.join(".git")));
    assert_eq!(faults, IgnoreFaults::default());
}

#[test]
fn worktrees_share_the_excludes_of_their_repository() {
    let (_place, root) = tree(&[
        ("main/.git/info/exclude", "private\n"),
        ("main/.git/worktrees/other/commondir", "../..\n"),
        ("other/.git", "gitdir: ../main/.git/worktrees/other\n"),
        ("other/private", ""),
        ("odd/.git", "no directory"),
        ("odd/private", ""),
    ]);
    let mut faults = IgnoreFaults::default();
    let of =
        |start: &str, faults: &mut IgnoreFaults| rules(&root.join(start), "", &UserRules::default(), faults);
    assert!(ignores(&of("other", &mut faults), &root.join("other/private")));
    assert!(!ignores(&of("odd", &mut faults), &root.join("odd/private")));
    assert_eq!(faults, IgnoreFaults::default());
}

#[test]
fn the_users_patterns_come_last_and_apply_outside_of_repositories() {
    let (_place, root) = tree(&[
        ("home/.config/git/ignore", "*~\n/top\n[\n"),
        ("walked/a~", ""),
        ("walked/sub/b~", ""),
        ("walked/sub/top", ""),
        ("walked/sub/.gitignore", "!b~\n"),
        ("repository/.git/HEAD", ""),
        ("repository/top", ""),
    ]);
    let mut faults = IgnoreFaults::default();
    let user = UserRules::of_home(Some(root.join("home")), None, &mut faults);
    let walked = rules(&root.join("walked"), "sub", &user, &mut faults);
    assert!(ignores(&walked, &root.join("walked/sub/a~")) && !ignores(&walked, &root.join("walked/sub/b~")));
    assert!(!ignores(&walked, &root.join("walked/sub/top")));
    let inside = rules(&root, "repository", &user, &mut faults);
    assert!(ignores(&inside, &root.join("repository/top")));
    assert_eq!((faults.damaged, faults.first_damaged.unwrap().line), (1, 3));
}

#[test]
fn files_that_cannot_be_used_are_named_and_the_walk_goes_on() {
    let (_place, root) =
        tree(&[("a/x", ""), ("b/.gitignore/x", ""), ("c/.gitignore", "x\na[\nb\\\n"), ("rules", "x")]);
    symlink("../rules", root.join("a/.gitignore")).unwrap();
    let mut faults = IgnoreFaults::default();
    let mut of = |start: &str| rules(&root.join(start), "", &UserRules::default(), &mut faults);
    assert!(!ignores(&of("a"), &root.join("a/x")), "git follows no links here");
    assert!(!ignores(&of("b"), &root.join("b/x")));
    assert!(ignores(&of("c"), &root.join("c/x")));
    let unread = faults.first_unread.clone().unwrap();
    assert_eq!((faults.unread, unread.file), (1, root.join("a/.gitignore")));
    let damaged = faults.first_damaged.clone().unwrap();
    assert_eq!((faults.damaged, damaged.file, damaged.line), (2, root.join("c/.gitignore"), 2));
    fs::write(root.join("rules"), vec![b'a'; (1 << 20) + 1]).unwrap();
    fs::rename(root.join("rules"), root.join("c/.gitignore")).unwrap();
    let mut more = IgnoreFaults::default();
    rules(&root.join("c"), "", &UserRules::default(), &mut more);
    assert!(more.first_unread.as_ref().unwrap().reason.contains("1 MiB"));
    faults.append(more);
    assert_eq!((faults.unread, faults.damaged), (2, 2));
}

#[test]
fn a_start_that_is_a_link_has_the_rules_of_the_place_to_which_it_leads() {
    let (_place, root) = tree(&[
        ("r/.git/HEAD", ""),
        ("r/.gitignore", "/sub/deep/x\nsub/*/y\n"),
        ("r/sub/deep/x", ""),
        ("r/sub/deep/y", ""),
    ]);
    symlink("r/sub", root.join("link")).unwrap();
    let rules = rules(&root.join("link"), "deep", &UserRules::default(), &mut IgnoreFaults::default());
    assert!(ignores(&rules, &root.join("link/deep/x")) && ignores(&rules, &root.join("link/deep/y")));
    assert!(!ignores(&rules, &root.join("link/deep/z")));
}

#[test]
fn mutated_files_are_read_to_their_end() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let text = b"# c\n*.o\n!/a/**/b[a-z]\n\\#\nbuild/\n[[:alpha:]]?\n";
    for _ in 0..100_000 {
        let mut text = text.to_vec();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..text.len());
            text[at] = if random.bool() { random.u8(..) } else { b"*/[]\\!\n:"[random.usize(..8)] };
        }
        let list = super::list::IgnoreList::new(&text);
        assert!(list.damaged <= 6);
        list.ignores(&text[random.usize(..text.len())..], random.bool());
    }
}

#[test]
fn very_deep_chains_of_rules_are_dropped_one_by_one() {
    let mut faults = IgnoreFaults::default();
    let (_place, root) = tree(&[(".gitignore", "x\n")]);
    let mut rules = IgnoreRules::above(&root, &UserRules::default(), &mut faults);
    for _ in 0..50_000 {
        let files = RuleFiles::read(&root, RuleNames::UNKNOWN, &mut faults);
        rules = rules.enter(&root, files, &mut faults);
    }
    drop(rules);
}

//! Directory trees with every type of file, compared with the result of a plain recursion.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};

use super::*;

fn collect_all(options: &SourceOptions) -> Inputs {
    collect(options, &AtomicBool::new(false)).unwrap()
}

fn options(paths: &[&Path]) -> SourceOptions {
    let paths = paths.iter().map(|path| path.to_path_buf()).collect();
    SourceOptions { paths, threads: 3, ..SourceOptions::default() }
}

/// Paths relative to `root`, in reading order.
fn names(inputs: &Inputs, root: &Path) -> Vec<String> {
    let name = |input: &Input| input.path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    inputs.inputs.iter().map(name).collect()
}

fn tree(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    root
}

#[test]
fn files_come_directory_by_directory_in_path_order_with_their_sizes() {
    let root = tree(&["b/2", "b/1", "a", "b/c/x", "z"]);
    let found = collect_all(&options(&[root.path()]));
    assert_eq!(names(&found, root.path()), ["a", "z", "b/1", "b/2", "b/c/x"]);
    assert_eq!((found.bytes, found.skipped), (13, 0));
    assert!(found.inputs.iter().all(|input| fs::read(&input.path).unwrap().len() as u64 == input.bytes));
}

#[test]
fn large_files_come_first_and_the_largest_of_them_before_all() {
    let root = tree(&["a", "b", "c/d"]);
    for (name, bytes) in [("m", 4 << 20), ("c/l", 6 << 20), ("s", (4 << 20) - 1), ("n", 4 << 20)] {
        fs::File::create(root.path().join(name)).unwrap().set_len(bytes).unwrap();
    }
    let found = collect_all(&options(&[root.path()]));
    assert_eq!(names(&found, root.path()), ["c/l", "m", "n", "a", "b", "s", "c/d"]);
}

#[test]
fn a_wide_and_deep_tree_is_found_the_same_by_any_number_of_threads() {
    let root = tempfile::tempdir().unwrap();
    let mut want = Vec::new();
    for i in 0..40 {
        let dir = (0..i % 7).fold(root.path().join(format!("d{i}")), |dir, j| dir.join(format!("e{j}")));
        fs::create_dir_all(&dir).unwrap();
        for j in 0..i {
            fs::write(dir.join(format!("f{j}")), vec![0; j]).unwrap();
            want.push(Input { path: dir.join(format!("f{j}")), bytes: j as u64, ..Input::default() });
        }
    }
    let order = |input: &Input| (input.path.parent().unwrap().as_os_str().to_owned(), input.path.clone());
    want.sort_by_key(order);
    for threads in [1, 2, 5] {
        let mut found = collect_all(&SourceOptions { threads, ..options(&[root.path()]) });
        for input in &mut found.inputs {
            let modified = fs::metadata(&input.path).unwrap().modified().unwrap();
            let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
            assert_eq!(u128::try_from(std::mem::take(&mut input.modified)).unwrap(), since);
        }
        assert!(found.inputs == want, "{threads} threads");
    }
}

#[test]
fn special_files_and_links_in_a_tree_are_counted_and_never_opened() {
    let root = tree(&["file"]);
    let at = |name: &str| root.path().join(name);
    rustix::fs::mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    symlink(root.path(), at("loop")).unwrap();
    let found = collect_all(&options(&[root.path()]));
    assert_eq!(names(&found, root.path()), ["file"]);
    assert_eq!((found.skipped, found.failures.len()), (5, 0));
}

#[test]
fn what_is_named_but_cannot_be_taken_is_a_failure_with_its_reason() {
    let root = tree(&["file"]);
    let fifo = root.path().join("fifo");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let gone = root.path().join("gone");
    let found = collect_all(&options(&[&fifo, &gone, Path::new("/dev/null"), &root.path().join("file")]));
    assert_eq!(names(&found, root.path()), ["file"]);
    let reasons: Vec<_> = found.failures.iter().map(|failure| failure.reason.as_str()).collect();
    assert!(reasons[0].contains("device") && reasons[1].contains("named pipe"), "{reasons:?}");
    assert!(reasons[2].contains("No such file"), "{reasons:?}");
}

#[test]
fn a_link_that_is_named_is_followed_and_links_in_trees_only_on_request() {
    let root = tree(&["real/a", "real/deep/b", "other/c"]);
    let at = |name: &str| root.path().join(name);
    symlink(at("real"), at("link")).unwrap();
    symlink(at("real"), at("other/up")).unwrap();
    symlink(at("other"), at("real/deep/back")).unwrap();
    symlink(at("real/a"), at("other/a-again")).unwrap();
    let found = collect_all(&options(&[&at("link")]));
    assert_eq!(names(&found, &at("link")), ["a", "deep/b"]);

    let follow = SourceOptions { follow_symlinks: true, ..options(&[&at("other")]) };
    let found = collect_all(&follow);
    assert_eq!(names(&found, root.path()), ["other/a-again", "other/c", "other/up/deep/b"]);
    for threads in [1, 4] {
        assert_eq!(collect_all(&SourceOptions { threads, ..follow.clone() }).inputs, found.inputs);
    }
}

#[test]
fn a_file_reached_by_two_paths_is_taken_once_and_hard_links_stay_apart() {
    let root = tree(&["a/b/x", "a/y"]);
    let at = |name: &str| root.path().join(name);
    fs::hard_link(at("a/y"), at("a/z")).unwrap();
    let found = collect_all(&options(&[&at("a"), &at("a/b"), &at("a/./b/x"), &at("a/../a/y")]));
    assert_eq!(found.inputs.len(), 3);
    let mut real: Vec<_> = found.inputs.iter().map(|input| fs::canonicalize(&input.path).unwrap()).collect();
    real.sort();
    let base = fs::canonicalize(root.path()).unwrap();
    assert_eq!(real, ["a/b/x", "a/y", "a/z"].map(|name| base.join(name)));
}

#[test]
fn globs_choose_files_and_prune_directories_but_not_what_was_named() {
    let root = tree(&["a.c", "a.h", "build/x.c", ".git/y.c", "sub/.hidden.c", "sub/b.c"]);
    let base = options(&[root.path()]);
    let take = |include: &[&str], exclude: &[&str], skip_hidden| {
        let own = |globs: &[&str]| globs.iter().map(|glob| glob.to_string()).collect();
        let found = collect_all(&SourceOptions {
            include: own(include),
            exclude: own(exclude),
            skip_hidden,
            ..base.clone()
        });
        (names(&found, root.path()), found.skipped)
    };
    assert_eq!(take(&["*.h"], &[], false), (vec!["a.h".into()], 5));
    assert_eq!(take(&["*.c"], &["build"], true), (vec!["a.c".into(), "sub/b.c".into()], 4));
    assert_eq!(take(&["*.c"], &["**/sub/*", "*/.git"], false).0, ["a.c", "build/x.c"]);
    let file = root.path().join("a.c");
    let named = SourceOptions { exclude: vec!["*.c".into()], ..options(&[&file]) };
    assert_eq!(collect_all(&named).inputs.len(), 1);
    let bad = SourceOptions { include: vec!["a[".into()], ..base.clone() };
    assert!(collect(&bad, &AtomicBool::new(false)).unwrap_err().to_string().contains("a["));
}

#[test]
fn lists_name_files_and_directories_with_any_bytes_and_obey_the_globs() {
    let root = tree(&["d/a", "b", "c.o"]);
    let odd = root.path().join(OsStr::from_bytes(b"new\nline\xff"));
    fs::write(&odd, "odd").unwrap();
    let mut list = Vec::new();
    for path in [&root.path().join("d"), &root.path().join("b"), &root.path().join("c.o"), &odd] {
        list.extend_from_slice(path.as_os_str().as_bytes());
        list.push(0);
    }
    let at = root.path().join("list");
    fs::write(&at, list).unwrap();
    let files_from = Some(FileList { from: ListFrom::Path(at), separator: Separator::Auto });
    let found = collect_all(&SourceOptions { files_from, exclude: vec!["*.o".into()], ..options(&[]) });
    assert_eq!(names(&found, root.path()), ["b", "new\nline\u{fffd}", "d/a"]);
    assert_eq!((found.failures.len(), found.skipped), (0, 1));
}

#[test]
fn an_unreadable_directory_is_a_failure_and_the_rest_is_taken() {
    let root = tree(&["open/a", "closed/b"]);
    let closed = root.path().join("closed");
    let set = |mode| rustix::fs::chmod(&closed, Mode::from_raw_mode(mode)).unwrap();
    set(0);
    if fs::read_dir(&closed).is_ok() {
        return; // this user may read everything
    }
    let found = collect_all(&options(&[root.path()]));
    set(0o700);
    assert_eq!(names(&found, root.path()), ["open/a"]);
    assert_eq!(found.failures[0].path, closed);
}

#[test]
fn a_cancelled_walk_ends_with_that_error() {
    let root = tree(&["a"]);
    let error = collect(&options(&[root.path()]), &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
}

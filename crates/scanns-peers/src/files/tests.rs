//! All tools on a small tree with odd names.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::answer::Verdict;
use super::drive::Figures;
use super::*;

/// Names with line feeds, blanks, quotes, invalid UTF-8 and patterns; hidden, sparse, linked and empty files.
fn make_tree(tree: &Path) {
    let odd: [&[u8]; 7] = [
        b"line\nfeed.dat",
        b"two  blanks.dat",
        b"\xff\xfe.dat",
        b"quo\"te'.dat",
        b"*[a].dat",
        b".hidden.dat",
        b"back\\.dat",
    ];
    for directory in ["plain", "odd \n names", "deep/a/b/c", "empty", ".secret"] {
        fs::create_dir_all(tree.join(directory)).unwrap();
    }
    for (size, name) in (1..).zip(odd) {
        fs::write(tree.join("odd \n names").join(OsStr::from_bytes(name)), vec![b'x'; 3000 * size]).unwrap();
        fs::write(tree.join("deep/a/b/c").join(OsStr::from_bytes(name)), vec![b'x'; size]).unwrap();
    }
    for number in 0..100 {
        fs::write(tree.join(format!("plain/measured{number}.txt")), vec![b'x'; number * 500]).unwrap();
    }
    fs::write(tree.join("plain/Loud.DAT"), "x").unwrap();
    fs::write(tree.join(".secret/.gitignore"), "*").unwrap();
    File::create(tree.join("plain/sparse.dat")).unwrap().set_len(1 << 20).unwrap();
    fs::hard_link(tree.join("plain/measured9.txt"), tree.join("plain/linked.dat")).unwrap();
    fs::hard_link(tree.join("plain/measured8.txt"), tree.join("deep/a/linked.dat")).unwrap();
    symlink("../plain", tree.join("deep/to-plain")).unwrap();
    symlink("measured1.txt", tree.join("plain/symbolic.dat")).unwrap();
    symlink("nothing", tree.join("plain/dangling.dat")).unwrap();
}

/// The command beside the tests, if it was built.
fn scanns() -> Option<PathBuf> {
    let tests = std::env::current_exe().ok()?;
    Some(tests.parent()?.parent()?.join("scanns"))
}

fn verdicts(figures: &Figures, tool: Tool) -> Vec<(&str, &Verdict)> {
    let each =
        figures.asked.iter().flat_map(|asked| asked.each.iter().map(|one| (asked.label.as_str(), one)));
    each.filter(|(_, one)| one.tool == tool).map(|(label, one)| (label, &one.verdict)).collect()
}

#[test]
fn every_tool_answers_the_same_questions_about_a_tree_with_odd_names() {
    let dir = tempfile::tempdir().unwrap();
    let (tree, work) = (dir.path().join("tree"), dir.path().join("work"));
    make_tree(&tree);
    fs::create_dir(&work).unwrap();
    let tools = match tool::find_all(scanns().as_deref()) {
        Ok(tools) => tools,
        Err(error) => {
            println!("SKIPPED all: {error}");
            return;
        }
    };
    let (tree, work) = (tree.canonicalize().unwrap(), work.canonicalize().unwrap());
    let comparison = Comparison { tree, scanns: None, rounds: 2, work };
    let figures = drive::run(&comparison, &tools).unwrap();
    let notes: Vec<String> = figures.notes().collect();
    for tool in [Tool::Scanns, Tool::Plocate, Tool::Fd, Tool::Find, Tool::Du] {
        assert!(figures.is_right(tool), "{}: {:?}", tool.name(), verdicts(&figures, tool));
    }
    let labels: Vec<&str> = figures.asked.iter().map(|asked| asked.label.as_str()).collect();
    assert!(labels.contains(&"find -name '*.dat'") && labels.contains(&"du -s DIR"), "{labels:?}");
    assert!(figures.asked.iter().all(|asked| asked.result > 0), "{:?}", figures.asked);
    for (label, verdict) in verdicts(&figures, Tool::Duc) {
        assert!(label != "du -s DIR" || *verdict == Verdict::NotItself, "duc: {verdict:?}; {notes:?}");
    }
    for (label, verdict) in verdicts(&figures, Tool::Dua) {
        assert_eq!(*verdict, Verdict::NotItself, "dua, {label}: {notes:?}");
    }
    for built in &figures.builds {
        assert_eq!(
            (built.first.len(), built.again.len()),
            (2, if build::Room::updates(built.tool) { 2 } else { 0 })
        );
        assert!(built.entries.is_none_or(|entries| entries == figures.entries), "{notes:?}");
        assert_eq!(built.bytes.is_some(), !matches!(built.tool, Tool::Du | Tool::Dua), "{built:?}");
    }
}

#[test]
fn a_work_directory_in_the_tree_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("work");
    fs::create_dir(&work).unwrap();
    let comparison = Comparison { tree: dir.path().into(), scanns: None, rounds: 1, work };
    let error = compare(&comparison, &mut Results::begin(&[])).unwrap_err().to_string();
    assert!(error.contains("choose another directory with --work"), "{error}");
}

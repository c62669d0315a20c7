//! Random trees: the sorted files are those of a walk that keeps everything.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::source::{Inputs, collect};

fn go_on() -> AtomicBool {
    AtomicBool::new(false)
}

/// Files of a random tree, some of them large, hidden or links; returns its directories.
fn write_tree(root: &Path, random: &mut fastrand::Rng) -> Vec<PathBuf> {
    let mut directories = vec![root.to_path_buf()];
    let names = ["a", "b", "a b", "a-", "ab", ".h", "\u{e4}"];
    for number in 0..random.usize(1..150) {
        let parent = &directories[random.usize(..directories.len())];
        let place = parent.join(format!("{}{}", names[random.usize(..names.len())], random.u32(..50)));
        match random.u32(..10) {
            0..3 if fs::create_dir(&place).is_ok() => directories.push(place),
            3 if random.bool() => drop(symlink(root.join("first"), &place)),
            3 => drop(symlink(&directories[random.usize(..directories.len())], &place)),
            4 if number > 0 => drop(fs::hard_link(root.join("first"), &place)),
            _ if !place.exists() => {
                let large = random.u32(..8) == 0;
                let size = if large { (4 << 20) + random.u64(..3) } else { random.u64(..9) };
                fs::File::create(&place).unwrap().set_len(size).unwrap();
            }
            _ => {}
        }
        if number == 0 {
            fs::write(root.join("first"), "x").unwrap();
        }
    }
    directories
}

#[test]
fn sorted_files_are_those_of_a_walk_that_keeps_everything() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..60 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir(&root).unwrap();
        let directories = write_tree(&root, &mut random);
        let mut paths = vec![root.clone()];
        for _ in 0..random.usize(..4) {
            paths.push(directories[random.usize(..directories.len())].clone());
        }
        paths.push(root.join(["first", "none"][random.usize(..2)]));
        let link = place.path().join("link");
        symlink(&root, &link).unwrap();
        if random.bool() {
            paths.push(link);
        }
        random.shuffle(&mut paths);
        let options = SourceOptions {
            paths,
            follow_symlinks: random.bool(),
            exclude: [vec![], vec!["a1*".to_owned()]][random.usize(..2)].clone(),
            threads: random.usize(1..4),
            ..SourceOptions::default()
        };
        let Inputs { mut inputs, failures, skipped, bytes, .. } = collect(&options, &go_on()).unwrap();
        let left_out = root.join("a7");
        inputs.retain(|input| !input.path.starts_with(&left_out));
        let bytes = bytes.min(inputs.iter().map(|input| input.bytes).sum());
        for memory in [0, 500, 10_000, 1 << 20] {
            let what = format!("seed {seed} round {round} memory {memory}");
            let space = SortSpace { memory, directory: place.path().into() };
            let sorted = collect_sorted(&options, &left_out, &space, &go_on()).unwrap();
            for _ in 0..2 {
                let (mut found, mut cursor) = (Vec::new(), sorted.read().unwrap());
                while let Some(file) = cursor.next_file().unwrap() {
                    found.push(file.input());
                }
                assert_eq!(found, inputs, "{what}");
            }
            assert_eq!((sorted.count, sorted.bytes), (inputs.len() as u64, bytes), "{what}");
            assert_eq!((&sorted.failures, sorted.failed), (&failures, failures.len() as u64), "{what}");
            assert_eq!(sorted.skipped, skipped, "{what}");
        }
    }
}

#[test]
fn a_wide_directory_is_handed_over_some_files_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir(&root).unwrap();
    for number in 0..9_500 {
        fs::File::create(root.join(format!("{number}"))).unwrap();
    }
    let options = SourceOptions { paths: vec![root], ..SourceOptions::default() };
    let all = collect(&options, &go_on()).unwrap().inputs;
    let space = SortSpace { memory: 100_000, directory: place.path().into() };
    let sorted = collect_sorted(&options, Path::new("/none"), &space, &go_on()).unwrap();
    let mut cursor = sorted.read().unwrap();
    for input in &all {
        assert_eq!(&cursor.next_file().unwrap().unwrap().input(), input);
    }
    assert!(cursor.next_file().unwrap().is_none());
}

#[test]
fn a_temporary_file_that_cannot_be_written_ends_the_walk_with_an_error() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a"), "").unwrap();
    let options = SourceOptions { paths: vec![root.path().into()], ..SourceOptions::default() };
    let space = SortSpace { memory: 0, directory: "/nonexistent".into() };
    let error = collect_sorted(&options, Path::new("/none"), &space, &go_on()).unwrap_err().to_string();
    assert!(error.contains("create a temporary file in /nonexistent"), "{error}");
}

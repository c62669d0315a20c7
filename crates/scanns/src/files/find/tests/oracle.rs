//! Random commands: our answers are those of GNU find, byte by byte.

use std::path::Path;

use jiff::tz::TimeZone;

use super::super::Setting;
use super::generate::{FILES, Generator, in_order};
use super::live::{LiveTree, has_find, ours, theirs};
use super::tree;

/// What became of the commands of a run.
#[derive(Debug, Default)]
struct Tally {
    same: usize,
    refused: usize,
    lines: usize,
    /// Commands whose order of evaluation find 4.9 changes by mistake.
    reordered: usize,
    skipped: usize,
}

/// The time zones of commands.
const ZONES: [&str; 5] = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata", "Australia/Lord_Howe"];

/// Compares one command with GNU find.
fn compare(tree: &LiveTree, words: &[Vec<u8>], tally: &mut Tally) -> Result<(), String> {
    let files = FILES.map(|file| file.as_bytes().to_vec());
    let name = ZONES[words.len() % ZONES.len()];
    let zone = TimeZone::get(name).unwrap();
    for _ in 0..3 {
        let before = ours(tree, words, &Setting { zone: zone.clone(), ..Setting::current() });
        let expected = theirs(tree, words, &files, name);
        let after = ours(tree, words, &Setting { zone: zone.clone(), ..Setting::current() });
        match (before, after) {
            (Err(error), _) if error.to_string().contains("back references") => break,
            (Err(_), Err(_)) if !expected.is_success => {
                tally.refused += 1;
                return Ok(());
            }
            (Err(error), _) => return Err(format!("only we refuse: {error}")),
            (Ok((_, counts)), _) if !expected.is_success && counts.errors == 0 && !expected.only_loops() => {
                return Err(format!("exit status: {counts:?}, find says: {}", expected.errors));
            }
            (Ok((before, _)), Ok((after, _))) if before == after => {
                if before != expected.outputs {
                    return Err(first_difference(&before, &expected.outputs));
                }
                tally.same += 1;
                tally.lines += before.values().flatten().filter(|byte| **byte == b'\n').count();
                return Ok(());
            }
            _ => {}
        }
    }
    tally.skipped += 1;
    Ok(())
}

/// The first lines that differ.
fn first_difference(ours: &super::live::Outputs, theirs: &super::live::Outputs) -> String {
    for (name, theirs) in theirs {
        let ours = ours.get(name).map_or(&b"(no file)"[..], Vec::as_slice);
        let at = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
        if ours != theirs.as_slice() {
            let around = |bytes: &[u8]| {
                let end = bytes.len().min(at + 150);
                bytes[at.saturating_sub(100)..end].escape_ascii().to_string()
            };
            return format!("in {}\n  ours {}\ntheirs {}", name.escape_ascii(), around(ours), around(theirs));
        }
    }
    format!("outputs {:?} and {:?}", ours.keys(), theirs.keys())
}

/// Runs random commands and says which differ.
fn run(tree: &LiveTree, start_points: &[&[u8]], count: usize, mistakes: bool) {
    let seed =
        std::env::var("FIND_SEED").ok().map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("seed: FIND_SEED={seed}, {} entries", tree.entries.len());
    let mut generator = Generator { random: fastrand::Rng::with_seed(seed), tree, start_points, mistakes };
    let mut tally = Tally::default();
    let mut differences = 0;
    for number in 0..count {
        let words = generator.command();
        let mut difference = compare(tree, &words, &mut tally);
        if difference.is_err() && compare(tree, &in_order(&words), &mut tally).is_ok() {
            tally.reordered += 1;
            difference = Ok(());
        }
        if let Err(difference) = difference {
            differences += 1;
            let words: Vec<String> = words.iter().map(|word| format!("$'{}'", word.escape_ascii())).collect();
            let difference: String = difference.chars().take(2000).collect();
            println!("command {number}: find {}\n{difference}", words.join(" "));
        }
    }
    println!("{tally:?}, {differences} differences");
    assert_eq!(differences, 0, "seed {seed}");
    assert!(tally.same > count / 3 && tally.lines > count, "the commands test something: {tally:?}");
    assert!(tally.reordered < 3 + count / 50, "find reorders few commands: {tally:?}");
}

/// Builds the hostile tree, and runs commands over it.
fn run_hostile(count: usize) {
    if !has_find() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let root = directory.join("tree");
    tree::build(&root, 7);
    LiveTree::read(&root, &directory);
    let live = LiveTree::read(&root, &directory);
    let absolute = root.as_os_str().as_encoded_bytes().to_vec();
    let start_points: [&[u8]; 7] =
        [b"tree", b"tree", b"tree/", b"./tree", b"tree//", &absolute, b"tree/deep"];
    run(&live, &start_points, count, true);
}

#[test]
fn random_commands_over_a_hostile_tree_answer_as_gnu_find_does() {
    run_hostile(300);
}

#[test]
#[ignore = "takes a minute"]
fn many_random_commands_over_a_hostile_tree_answer_as_gnu_find_does() {
    run_hostile(5_000);
}

#[test]
fn random_commands_over_a_system_directory_answer_as_gnu_find_does() {
    let root = Path::new("/usr/share/doc");
    if !has_find() || !root.is_dir() {
        return println!("SKIPPED: no /usr/share/doc");
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    LiveTree::read(root, &directory);
    let live = LiveTree::read(root, &directory);
    let up = "../".repeat(directory.components().count() - 1);
    let [below, slash] =
        [format!("{up}usr/share/doc"), format!("{up}usr/share/doc/")].map(String::into_bytes);
    run(&live, &[b"/usr/share/doc", &below, &slash], 40, false);
}

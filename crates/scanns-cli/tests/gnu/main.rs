//! Campaigns against GNU find and GNU du: the command over an index of a tree, and the tool over the tree.
//!
//! There are three trees: one that is made up, with odd names, modes, dates, sparse files and hard links;
//! `/usr`; and `/etc` with `/var/lib`. `find.rs` compares thousands of generated expressions, with the
//! generator of the library's tests, and `du.rs` every directory with many sets of options. `scene.rs`
//! indexes a tree and knows what changed while the tests looked at it; only that may differ. A short version
//! runs in some seconds; `SCANNS_LONG=1` runs 5,000 expressions for each tree and all directories.
//! `SCANNS_SEED` is the seed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, outside of functions marked as one")]

mod du;
mod find;
#[path = "../../../scanns/src/files/find/tests/generate.rs"]
mod generate;
mod live;
mod scene;
#[path = "../../../scanns/src/files/find/tests/texts.rs"]
mod texts;
#[path = "../../../scanns/src/files/find/tests/tree.rs"]
mod tree;

/// What the generator needs of the library.
mod source {
    pub use scanns::sources::{Entry, EntryKind};
}

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use scene::Scene;

/// How much is compared.
struct Amount {
    /// Expressions of tests alone.
    expressions: usize,
    /// Whole commands, with options and actions.
    commands: usize,
    /// Sets of options of du.
    sums: usize,
}

fn is_long() -> bool {
    std::env::var_os("SCANNS_LONG").is_some_and(|value| value != "0")
}

fn amount(short: Amount) -> Amount {
    let long = Amount { expressions: 4_500, commands: 500, sums: du::OPTIONS.len() };
    if is_long() { long } else { short }
}

/// Reports on the real standard error, which the test harness does not capture, that a test was skipped.
fn skipped(test: &str, why: &str) {
    std::io::stderr().write_all(format!("SKIPPED {test}: {why}\n").as_bytes()).unwrap();
}

/// Whether a tool of GNU is there in a version that the command follows.
fn has_tool(tool: &str, versions: &[&str]) -> bool {
    let out = Command::new(tool).arg("--version").output().map(|out| out.stdout).unwrap_or_default();
    versions.iter().any(|version| out.starts_with(format!("{tool} ({version}").as_bytes()))
}

/// Compares find and du over trees.
fn campaign(test: &str, roots: &[&Path], amount: &Amount) {
    if !has_tool("find", &["GNU findutils) 4.9"]) {
        return skipped(test, "there is no GNU find 4.9");
    }
    let Some(scene) = Scene::of(roots) else {
        return skipped(test, "find cannot read the whole tree");
    };
    let seed = std::env::var("SCANNS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("{test}: SCANNS_SEED={seed}, {} entries", scene.tree.entries.len());
    let expressions = find::expressions(&scene, seed, amount.expressions);
    println!("expressions: {expressions:?}");
    let commands = find::commands(&scene, seed, amount.commands);
    println!("commands: {commands:?}");
    let mut differences = expressions.differences + commands.differences;
    if has_tool("du", &["GNU coreutils) 9.1", "GNU coreutils) 8."]) {
        let sums = du::directories(&scene, amount.sums);
        println!(
            "du: {} directories, {} sets of options: {} lines are the same, {} differ, {} changed meanwhile",
            sums.directories, sums.options, sums.lines, sums.differences, sums.changed
        );
        differences += sums.differences;
        assert!(sums.lines > 0, "nothing is compared: {sums:?}");
    } else {
        skipped(test, "there is no GNU du 8 or 9.1, whose apparent sizes include directories");
    }
    assert_eq!(differences, 0, "seed {seed}");
    assert!(expressions.same >= amount.expressions / 2, "much is not compared: {expressions:?}");
    assert!(commands.same >= amount.commands / 3, "much is not compared: {commands:?}");
}

#[test]
fn an_index_that_lacks_an_entry_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap().join("tree");
    tree::build(&root, 7);
    let test = "an_index_that_lacks_an_entry_is_noticed";
    let Some(mut scene) = Scene::of(&[&root]).filter(|_| has_tool("find", &["GNU findutils) 4.9"])) else {
        return skipped(test, "there is no GNU find 4.9, or it cannot read the whole tree");
    };
    std::fs::write(root.join("new"), "text").unwrap();
    assert_eq!(scene.changed().len(), 2, "the file and its directory");
    let seed = fastrand::u64(..);
    let tally = find::expressions(&scene, seed, 30);
    assert_eq!(tally.differences, 0, "seed {seed}: what changed may differ");
    scene.forget_changes();
    // Not every start is above the file, and not every expression finds it.
    assert!((0..40).any(|at| find::expressions(&scene, seed ^ at, 10).differences > 0), "seed {seed}");
    assert!((0..40).any(|at| find::commands(&scene, seed ^ at, 5).differences > 0), "seed {seed}");
    assert!(du::directories(&scene, 1).differences > 0 || !has_tool("du", &["GNU coreutils"]));
}

#[test]
fn answers_about_a_hostile_tree_are_those_of_gnu() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap().join("tree");
    tree::build(&root, 7);
    let amount = amount(Amount { expressions: 80, commands: 20, sums: 4 });
    campaign("answers_about_a_hostile_tree_are_those_of_gnu", &[&root], &amount);
}

#[test]
fn answers_about_configuration_and_state_are_those_of_gnu() {
    let test = "answers_about_configuration_and_state_are_those_of_gnu";
    let roots: &[&Path] =
        if is_long() { &[Path::new("/etc"), Path::new("/var/lib")] } else { &[Path::new("/etc")] };
    campaign(test, roots, &amount(Amount { expressions: 20, commands: 4, sums: 1 }));
}

#[test]
fn answers_about_installed_programs_are_those_of_gnu() {
    let test = "answers_about_installed_programs_are_those_of_gnu";
    let root = PathBuf::from(if is_long() { "/usr" } else { "/usr/include" });
    if !root.is_dir() {
        return skipped(test, "there is no /usr/include");
    }
    campaign(test, &[&root], &amount(Amount { expressions: 20, commands: 4, sums: 1 }));
}

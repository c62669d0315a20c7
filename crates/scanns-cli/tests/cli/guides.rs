//! Runs the commands of the guides, from top to bottom, and compares what they print.
//!
//! A guide is Markdown. Its blocks ```` ```console ```` have lines that begin with `$ `, which are run by
//! bash, the first in an empty directory and each other one where the one before it ended, each followed by
//! the lines that it prints, on standard output and standard error together. In these lines `…` stands for
//! any characters; a line that is `…` stands for any lines. Blocks of other languages are not run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a guide and the lines that it should print.
struct Step {
    /// The number of the line in the guide.
    at: usize,
    command: String,
    expected: Vec<String>,
}

/// The steps of a guide.
fn steps(guide: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut in_console = false;
    for (number, line) in guide.lines().enumerate() {
        if line.starts_with("```") {
            in_console = line == "```console";
        } else if in_console && let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { at: number + 1, command: command.to_owned(), expected: Vec::new() });
        } else if in_console && let Some(last) = steps.last_mut() {
            // The next lines of a command in several lines begin with a sign, as a shell prompts for them.
            match line.strip_prefix("> ").filter(|_| last.expected.is_empty()) {
                Some(more) => last.command.push_str(&format!("\n{more}")),
                None => last.expected.push(line.to_owned()),
            }
        }
    }
    for step in &mut steps {
        // An empty line may separate a command from the one before it.
        while step.expected.last().is_some_and(String::is_empty) {
            step.expected.pop();
        }
    }
    steps
}

/// Whether a line is as expected, where `…` stands for any characters.
fn fits(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether lines are as expected, where a line `…` stands for any lines.
fn all_fit(expected: &[String], lines: &[&str]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((first, expected)), _) if first == "…" => {
            (0..=lines.len()).any(|skipped| all_fit(expected, &lines[skipped..]))
        }
        (Some(_), None) => false,
        (Some((first, expected)), Some((line, lines))) => fits(first, line) && all_fit(expected, lines),
    }
}

/// The text of a guide.
fn guide(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../..", name].iter().collect();
    std::fs::read_to_string(&path).unwrap()
}

/// The section below a heading, behind empty lines, so that lines keep their numbers.
fn section(text: &str, heading: &str) -> String {
    let (before, section) = text.split_once(&format!("\n{heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    "\n".repeat(before.lines().count() + 1) + section
}

/// Runs the commands of a guide in an empty directory.
fn run_guide(name: &str) {
    run_steps(name, &guide(name));
}

fn run_steps(name: &str, text: &str) {
    let place = tempfile::tempdir().unwrap();
    let commands = Path::new(env!("CARGO_BIN_EXE_scanns")).parent().unwrap();
    let path = format!("{}:{}", commands.display(), std::env::var("PATH").unwrap());
    let steps = steps(text);
    assert!(!steps.is_empty(), "{name} has no commands");
    let ended = tempfile::NamedTempFile::new().unwrap();
    let (mut directory, note_end) =
        (place.path().to_owned(), format!("trap 'pwd > {}' EXIT", ended.path().display()));
    for Step { at, command, expected } in &steps {
        let out = Command::new("bash")
            .args(["-c", &format!("{note_end}\nexec 2>&1\n{command}")])
            .current_dir(&directory)
            .env("PATH", &path)
            .env("HOME", place.path())
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env_remove("SCANNS_TEST_DATA")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&out.stdout);
        let lines: Vec<&str> = printed.lines().collect();
        assert!(
            all_fit(expected, &lines),
            "{name}, line {at}: {command}\nprints\n{printed}\nand not\n{}",
            expected.join("\n")
        );
        // A shell stays where a command ended.
        directory = std::fs::read_to_string(ended.path()).unwrap().trim_end().into();
    }
}

#[test]
fn lines_are_compared_with_what_may_differ_left_out() {
    for (expected, line, fit) in [
        ("a b", "a b", true),
        ("a b", "a b c", false),
        ("a … c", "a b c", true),
        ("…c", "a b c", true),
        ("a…", "a b c", true),
        ("a…b…c", "a c b", false),
        ("a …", "b a c", false),
    ] {
        assert_eq!(fits(expected, line), fit, "{expected:?} {line:?}");
    }
    let expected = ["a", "…", "d"].map(str::to_owned);
    assert!(all_fit(&expected, &["a", "b", "c", "d"]) && all_fit(&expected, &["a", "d"]));
    assert!(!all_fit(&expected, &["a", "b"]) && !all_fit(&[], &["a"]));
}

#[test]
fn commands_are_found_in_their_blocks() {
    let guide = "text\n```sh\n$ not run\n```\n```console\n$ one\nprinted\n\n$ two \\\n> more\n```\n";
    let steps = steps(guide);
    let shown: Vec<_> =
        steps.iter().map(|step| (step.at, step.command.as_str(), &step.expected[..])).collect();
    assert_eq!(shown, [(6, "one", &["printed".to_owned()][..]), (9, "two \\\nmore", &[][..])]);
}

#[test]
fn the_guide_for_files_is_true() {
    run_guide("docs/search.md");
}

#[test]
fn the_guide_for_records_is_true() {
    run_guide("docs/records.md");
}

#[test]
fn the_guide_for_many_machines_is_true() {
    run_guide("docs/many-machines.md");
}

#[test]
fn the_guide_for_collections_is_true() {
    run_guide("docs/collections.md");
}

#[test]
fn the_guide_for_formats_is_true() {
    run_guide("docs/formats.md");
}

#[test]
fn the_section_about_near_duplicates_is_true() {
    run_steps("docs/QUERIES.md", &section(&guide("docs/QUERIES.md"), "## Near-duplicates: `--collapse`"));
}

#[test]
fn the_guide_for_access_is_true() {
    run_guide("docs/access.md");
}

#[test]
fn the_guide_for_administrators_is_true() {
    run_guide("docs/admin.md");
}

#[test]
fn the_first_five_minutes_are_true() {
    for guide in ["docs/start/admin.md", "docs/start/researcher.md", "docs/start/collections.md"] {
        run_guide(guide);
    }
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    run_guide("crates/scanns-cli/tests/mistakes.md");
}

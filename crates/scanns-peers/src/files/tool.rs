//! The tools: their programs, what they keep, and what they count.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};

/// A tool to compare, in the order of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The command scanns.
    Scanns,
    /// An index of names.
    Plocate,
    /// A parallel find.
    Fd,
    /// GNU find.
    Find,
    /// GNU du.
    Du,
    /// An index of sums by directory.
    Duc,
    /// A browser of sums that can write what it found.
    Ncdu,
    /// A parallel ncdu.
    Gdu,
    /// A parallel du.
    Dua,
}

/// What is known of a tool.
struct About {
    name: &'static str,
    /// The possible names of the program that answers, and of the one that builds.
    programs: [&'static [&'static str]; 2],
    /// How to get it.
    install: &'static str,
    /// What it writes about each entry.
    keeps: &'static str,
    /// What its sums count.
    counts: &'static str,
}

impl Tool {
    /// All tools.
    pub const EACH: [Tool; 9] = [
        Tool::Scanns,
        Tool::Plocate,
        Tool::Fd,
        Tool::Find,
        Tool::Du,
        Tool::Duc,
        Tool::Ncdu,
        Tool::Gdu,
        Tool::Dua,
    ];

    fn about(self) -> About {
        let about = |name, programs, install, [keeps, counts]: [&'static str; 2]| About {
            name,
            programs,
            install,
            keeps,
            counts,
        };
        // A file with several names counts once.
        let (once, inside) = ("all in DIR, and DIR", "all in DIR");
        match self {
            Tool::Scanns => about(
                "scanns",
                [&["scanns"]; 2],
                "cargo build --release -p scanns-cli",
                ["all, synced", once],
            ),
            Tool::Plocate => about(
                "plocate",
                [&["plocate"], &["updatedb.plocate", "updatedb"]],
                "apt install plocate",
                ["paths", ""],
            ),
            Tool::Fd => about("fd", [&["fdfind", "fd"]; 2], "apt install fd-find", ["", ""]),
            Tool::Find => about("find", [&["find"]; 2], "apt install findutils", ["all, as text", ""]),
            Tool::Du => about("du", [&["du"]; 2], "apt install coreutils", ["nothing", once]),
            Tool::Duc => about(
                "duc",
                [&["duc"]; 2],
                "apt install duc-nox",
                ["names, sizes", "all in DIR, once in the index"],
            ),
            Tool::Ncdu => about("ncdu", [&["ncdu"]; 2], "apt install ncdu", ["names, sizes", ""]),
            Tool::Gdu => about("gdu", [&["gdu"]; 2], "apt install gdu", ["names, sizes", once]),
            Tool::Dua => about("dua", [&["dua"]; 2], "cargo install dua-cli", ["nothing", inside]),
        }
    }

    /// The name of the tool.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// What it writes about each entry; all is names, types, sizes, blocks, modes, owners, times and links.
    pub fn keeps(self) -> &'static str {
        self.about().keeps
    }

    /// What its sums count. A file with several names counts once.
    pub fn counts(self) -> &'static str {
        self.about().counts
    }
}

/// A tool that is installed.
#[derive(Clone, Debug)]
pub struct Found {
    /// The tool.
    pub tool: Tool,
    /// The program that answers.
    pub asks: PathBuf,
    /// The program that builds.
    pub builds: PathBuf,
}

impl Found {
    /// The first line that has a number of what the program says about its version.
    pub fn version(&self) -> String {
        let output = Command::new(&self.asks).arg("--version").stdin(Stdio::null()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let text = text.unwrap_or_default();
        let line = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
        line.unwrap_or("unknown version").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The first program of these names in the directories of `PATH`, or where administrators' programs are.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).collect();
    let places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// Finds a tool; scanns is the given one.
fn find(tool: Tool, scanns: Option<&Path>) -> Option<Found> {
    if tool == Tool::Scanns {
        let path = scanns.filter(|path| path.is_file())?.to_path_buf();
        return Some(Found { tool, asks: path.clone(), builds: path });
    }
    let [asks, builds] = tool.about().programs;
    Some(Found { tool, asks: program(asks)?, builds: program(builds)? })
}

/// Finds all tools, and prints a line for each that is missing.
///
/// # Errors
/// If there is no find or du, with whose answers the others are compared.
pub fn find_all(scanns: Option<&Path>) -> Result<Vec<Found>> {
    let mut tools = Vec::new();
    for tool in Tool::EACH {
        match find(tool, scanns) {
            Some(found) => tools.push(found),
            None => println!("SKIPPED {}: {}", tool.name(), tool.about().install),
        }
    }
    for needed in [Tool::Find, Tool::Du] {
        let is_here = tools.iter().any(|found| found.tool == needed);
        ensure!(is_here, "{} is missing: {}", needed.name(), needed.about().install);
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_is_a_program_is_taken() {
        let found = program(&["no-such-program", "find"]).unwrap();
        assert!(found.ends_with("find"), "{}", found.display());
        assert_eq!(program(&["no-such-program"]), None);
    }

    #[test]
    fn the_order_of_the_tools_is_the_order_of_the_columns() {
        assert!(Tool::EACH.is_sorted() && Tool::EACH[0] == Tool::Scanns);
        assert!(Tool::EACH.iter().all(|tool| !tool.name().is_empty() && !tool.about().install.is_empty()));
    }
}

//! Figures over time: the command appends the figures of runs to a file of JSON lines and draws one page with
//! a line for each figure.
//!
//! `runs.rs` has the records and takes them from results, `moves.rs` finds the noise of a figure and the
//! commits that moved it beyond, and `page.rs` writes the page.

mod moves;
mod page;
mod runs;

pub use moves::{Level, levels, noise};
pub use page::html;
pub use runs::{Figure, append, figures, read};

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::results::Results;

/// What to append, and where.
#[derive(Debug, clap::Args)]
pub struct HistoryArgs {
    /// Results of scanns-peers or scanns-bench (results.json); without any, only the page is drawn
    pub results: Vec<PathBuf>,
    /// The commit that was measured [default: the current commit of the working directory]
    #[arg(long, value_name = "NAME")]
    pub commit: Option<String>,
    /// The file to append to, JSON lines
    #[arg(long, value_name = "FILE", default_value = "crates/scanns-bench/history/runs.jsonl")]
    pub runs: PathBuf,
    /// The page to draw
    #[arg(long, value_name = "FILE", default_value = "target/bench/history.html")]
    pub page: PathBuf,
}

/// What git prints for some arguments. Times are in UTC.
fn git(arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").env("TZ", "UTC").args(arguments).output();
    let output = output.context("cannot start git; name the commit with --commit")?;
    ensure!(output.status.success(), "git knows no such commit here; name it with --commit");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// When a commit was made, in UTC; none if git does not know it.
fn made(commit: &str) -> Option<String> {
    git(&["show", "-s", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd", commit]).ok()
}

/// The current commit, with a mark if files differ from it.
fn current_commit() -> Result<String> {
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Ok(git(&["rev-parse", "--short=10", "HEAD"])? + if changed { "+" } else { "" })
}

/// Appends the figures of the results and draws the page.
///
/// # Errors
/// If a file cannot be read or written, or results have no figures.
pub fn run(args: &HistoryArgs) -> Result<()> {
    let mut found = Vec::new();
    if !args.results.is_empty() {
        let commit = args.commit.clone().map_or_else(current_commit, Ok)?;
        for path in &args.results {
            let mut of_file = figures(&Results::load(path)?, &commit);
            for figure in of_file.iter_mut().filter(|figure| figure.commit != commit) {
                figure.committed = made(&figure.commit);
            }
            ensure!(!of_file.is_empty(), "{} has no figures of scanns; measure again", path.display());
            found.extend(of_file);
        }
    }
    let (added, known) = append(&args.runs, &found)?;
    let history = read(&args.runs)?;
    if let Some(directory) = args.page.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(&args.page, html(&history)?)
        .with_context(|| format!("cannot write {}", args.page.display()))?;
    println!("{added} figures appended to {}, {known} were there already", args.runs.display());
    println!("page: {}", args.page.display());
    Ok(())
}

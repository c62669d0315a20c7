//! Compares scanns with the tools that answer questions about names and sizes of a file system: plocate, fd,
//! find, du, duc, ncdu, gdu and dua.
//!
//! Each job is a whole process, as a user starts it, with the tree in the page cache. First all tools that
//! keep something build it from the tree (`build.rs`), then build it again although nothing has changed. The
//! list that GNU find writes (`listing.rs`) gives the questions (`question.rs`). Each answer is compared with
//! GNU find's or GNU du's (`answer.rs`) before the questions are timed in turns (`drive.rs`). `tool.rs` knows
//! the tools and finds them, and `lines.rs` makes the tables.
//!
//! The tools keep and count different things, so the tables say what. Only scanns must answer as find and du
//! do; other differences are shown.

pub mod answer;
pub mod build;
pub mod drive;
pub mod lines;
pub mod listing;
pub mod question;
pub mod tool;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use scanns_bench::results::Results;

use crate::table;
use drive::Comparison;
use tool::Tool;

/// Measures all tools that are installed, and prints tables. Returns true if the answers of scanns are those
/// of find and du.
///
/// # Errors
/// If a tool cannot be run, or its files cannot be read.
pub fn compare(comparison: &Comparison, results: &mut Results) -> Result<bool> {
    let absolute = |path: &PathBuf| {
        fs::canonicalize(path).with_context(|| format!("there is no directory {}", path.display()))
    };
    let comparison = Comparison {
        tree: absolute(&comparison.tree)?,
        work: absolute(&comparison.work)?,
        ..comparison.clone()
    };
    ensure!(
        !comparison.work.starts_with(&comparison.tree),
        "{} is in {}, which would change: choose another directory with --work",
        comparison.work.display(),
        comparison.tree.display()
    );
    let tools = tool::find_all(comparison.scanns.as_deref())?;
    let measured = drive::run(&comparison, &tools)?;
    let subject = format!("{}, {} entries", comparison.tree.display(), measured.entries);
    println!("\n{subject}; {} rounds; × is the ratio to the first column", comparison.rounds);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for lines::Table { title, columns, lines } in lines::tables(&measured) {
        println!("\n{title}\n{}", table::render(&columns, &lines));
        table::record(&subject, threads, &columns, &lines, results);
    }
    for tool in &tools {
        results.note(format!("{}: {}", tool.tool.name(), tool.version()));
    }
    measured.notes().for_each(|note| results.note(note));
    Ok(measured.is_right(Tool::Scanns))
}

#[cfg(test)]
mod tests;

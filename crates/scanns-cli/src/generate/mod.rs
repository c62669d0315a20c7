//! `scanns generate`: man pages and a reference, from the definitions of the command line.
//!
//! `help_text.rs` finds the parts of the text below the options, `man.rs` writes them as roff, and
//! `markdown.rs` as Markdown, each as a list of pages (`written_page.rs`).

mod help_text;
mod man;
mod markdown;
mod written_page;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::args::{self, GenerateArgs, GeneratedArg};
use crate::report::Outcome;
use written_page::WrittenPage;

/// Runs the verb.
pub fn run(args: &GenerateArgs) -> Result<Outcome> {
    let mut command = args::definitions().disable_help_subcommand(true);
    command.build();
    let pages = match args.what {
        GeneratedArg::Man => man::pages(&command)?,
        GeneratedArg::Markdown => markdown::pages(&command),
    };
    write(&args.directory, &pages)?;
    Ok(Outcome::Done)
}

fn write(directory: &Path, pages: &[WrittenPage]) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    for page in pages {
        let path = directory.join(&page.name);
        fs::write(&path, &page.bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

//! The arguments of `scanns generate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `scanns generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// What to write
    #[arg(value_name = "WHAT", value_enum)]
    pub what: GeneratedArg,
    /// The directory, which is made if it does not exist; files with the same names are replaced
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// What is made from the definitions of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GeneratedArg {
    /// Man pages: scanns.1 and one for each command. They have the date of SOURCE_DATE_EPOCH, or today's
    Man,
    /// A reference in Markdown: README.md and one page for each command
    Markdown,
}

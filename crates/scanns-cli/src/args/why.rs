//! Arguments of `scanns why`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::access::AsUserArgs;
use super::search::OperatorArg;

/// Examples for the help of `scanns why`.
pub const WHY_EXAMPLES: &str = "\
Examples:
  scanns why docs.scanns /data/notes/run.txt 'license warranty size:>1MiB'
      shows which words and conditions of a query a document fails, and its place if it is found
  scanns index -o fs.scanns --content none --access /data
  scanns why fs.scanns /data/climate/run1.h5 --as anna
      shows who may search and list each directory on the way to a file, and who may read it
  scanns why fs.scanns /data/climate/run1.h5 --as 1000:100,4711
      does so for a user that this machine does not know: user 1000 in the groups 100 and 4711

A user finds the entry of a file if a walk as this user does, from the uppermost directory that was scanned:
directories above it must be searchable, and those from it on searchable and readable. The content needs
search permission on all directories, and read permission on the file. The exit code is 1 if the user sees
nothing of it, or the query does not find it.

Everybody who can read the files of an index can read all that is in it. --as shows what others see; it
protects nothing.";

/// Arguments of `scanns why`.
#[derive(Debug, Args)]
pub struct WhyArgs {
    /// The index
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// The key of a document, as search prints it: a file, a directory, or a member of an archive
    #[arg(value_name = "PATH")]
    pub path: OsString,
    /// A query that should find the document, as in scanns search; several arguments form one query
    #[arg(value_name = "QUERY", required_unless_present = "user")]
    pub query: Vec<String>,
    #[command(flatten)]
    pub user: AsUserArgs,
    /// The fields that words search, as in scanns search
    #[arg(long, value_name = "NAME,NAME", requires = "query")]
    pub field: Option<String>,
    /// How to combine words without an operator between them
    #[arg(long, value_name = "OP", value_enum, default_value = "or", hide_possible_values = true)]
    pub default_operator: OperatorArg,
    /// Print one JSON object for what the user may see, and one for the query
    #[arg(long)]
    pub json: bool,
}

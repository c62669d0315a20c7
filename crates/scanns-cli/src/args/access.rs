//! Options about users and what they may see, and the arguments of `scanns why`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Examples for the help of `scanns why`.
pub const WHY_EXAMPLES: &str = "\
Examples:
  scanns index -o fs.scanns --content none --access /data
  scanns why fs.scanns /data/climate/run1.h5 --as anna
      shows who may search and list each directory on the way to a file, and who may read it
  scanns why fs.scanns /data/climate/run1.h5 --as 1000:100,4711
      does so for a user that this machine does not know: user 1000 in the groups 100 and 4711

A user finds the entry of a file if a walk as this user does, from the uppermost directory that was scanned:
directories above it must be searchable, and those from it on searchable and readable. The content needs
search permission on all directories, and read permission on the file. The exit code is 1 if the user sees
nothing of it.

Everybody who can read the files of an index can read all that is in it. --as shows what others see; it
protects nothing.";

/// As which user to see an index.
#[derive(Clone, Debug, Args)]
pub struct AsUserArgs {
    /// See what this user sees: a name or a number, with the groups that the name service of this machine
    /// knows (getent, id); or a number with its groups, the primary one first: 1000:100,4711. The index must
    /// have been built with --access
    #[arg(long = "as", value_name = "USER")]
    pub user: Option<String>,
    /// The groups of the user, by number and the primary one first, instead of those of the name service
    #[arg(long, value_name = "GID,…", requires = "user")]
    pub as_groups: Option<String>,
}

/// Arguments of `scanns why`.
#[derive(Debug, Args)]
#[command(mut_arg("user", |user| user.required(true)))]
pub struct WhyArgs {
    /// The index, from scanns index --access
    #[arg(value_name = "INDEX")]
    pub index: PathBuf,
    /// A file, a directory, or a member of an archive in the index
    #[arg(value_name = "PATH")]
    pub path: OsString,
    #[command(flatten)]
    pub user: AsUserArgs,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

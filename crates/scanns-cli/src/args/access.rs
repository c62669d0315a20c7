//! Options about users and what they may see.

use clap::Args;

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

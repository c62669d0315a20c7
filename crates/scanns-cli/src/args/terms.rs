//! Arguments of `scanns terms`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::access::AsUserArgs;
use super::values::positive;

pub const TERMS_EXAMPLES: &str = "\
Examples:
  scanns terms docs.scanns
      lists the twenty terms that occur in the most documents
  scanns terms docs.scanns lic -n 5
      lists the five most frequent terms that begin with lic, as for a search box
  scanns terms docs.scanns --all > terms.tsv
      lists every term, in the order of their bytes

Deleted documents are counted until scanns merge frees their space.";

/// Arguments of `scanns terms`.
#[derive(Debug, Args)]
pub struct TermsArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// List only terms that begin with PREFIX, as the index spells them
    #[arg(value_name = "PREFIX")]
    pub prefix: Option<OsString>,
    #[command(flatten)]
    pub as_user: AsUserArgs,
    /// Maximum number of terms to list, the most frequent first
    #[arg(short = 'n', value_name = "N", default_value = "20", value_parser = positive)]
    pub most: usize,
    /// List all terms, in the order of their bytes
    #[arg(long, conflicts_with = "most")]
    pub all: bool,
    /// The field, if documents have several [default: text, or the first field]
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Never start a pager, which is $PAGER or less
    #[arg(long)]
    pub no_pager: bool,
}

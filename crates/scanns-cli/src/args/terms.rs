//! What can be typed to terms.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::values::positive;

pub const TERMS_EXAMPLES: &str = "\
Examples:
  scanns terms docs.scanns
      the twenty terms that are in the most documents
  scanns terms docs.scanns lic -n 5
      those that begin with lic, as a search box suggests them
  scanns terms docs.scanns --all > terms.tsv
      every term, in the order of their bytes

Documents that are deleted count until their space is freed, which scanns merge does.";

/// Arguments of `scanns terms`.
#[derive(Debug, Args)]
pub struct TermsArgs {
    /// The index
    #[arg(value_name = "NAME.scanns")]
    pub index: PathBuf,
    /// Only terms that begin so, as the index spells them
    #[arg(value_name = "PREFIX")]
    pub prefix: Option<OsString>,
    /// How many terms to list, the most frequent first
    #[arg(short = 'n', value_name = "N", default_value = "20", value_parser = positive)]
    pub most: usize,
    /// List all terms, in the order of their bytes
    #[arg(long, conflicts_with = "most")]
    pub all: bool,
    /// The field, where documents have several [default: text, or the first]
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

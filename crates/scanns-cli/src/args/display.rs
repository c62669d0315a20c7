//! Options about how results look on a terminal.

use clap::{Args, ValueEnum};

/// Colours, links and pages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Display")]
pub struct DisplayArgs {
    /// When to use colours [default: auto]
    ///
    /// auto means on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub color: WhenArg,
    /// When to make paths links that a terminal can open [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    #[arg(hide_short_help = true)]
    pub hyperlink: WhenArg,
    /// Never start a pager
    ///
    /// On a terminal, output that is longer than a page goes through $PAGER, or less if PAGER is not set
    #[arg(long, hide_short_help = true)]
    pub no_pager: bool,
}

/// When to do something that depends on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhenArg {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

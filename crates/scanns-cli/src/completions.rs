//! `scanns completions`: scripts that complete commands, options and their values in a shell.

use std::io::Write;

use anyhow::Result;
use clap::Command;
use clap_complete::Shell;

use crate::args::{self, CompletionsArgs, ShellArg};
use crate::output::Output;
use crate::report::Outcome;

/// Runs the verb.
pub fn run(args: &CompletionsArgs) -> Result<Outcome> {
    let shell = match args.shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
    };
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut without_hidden(&args::definitions()), "scanns", &mut script);
    let mut out = Output::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Outcome::Done)
}

/// The command without verbs that its help does not list; the generators would list them.
fn without_hidden(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    let about = command.get_about().cloned().unwrap_or_default();
    Command::new("scanns").version(env!("CARGO_PKG_VERSION")).about(about).subcommands(shown)
}

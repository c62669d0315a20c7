//! The arguments of `scanns completions`.

use clap::{Args, ValueEnum};

/// Arguments of `scanns completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: ShellArg,
}

/// A shell that can complete commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShellArg {
    /// GNU bash, with or without the package bash-completion
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}

/// Examples for the help.
pub const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  scanns completions bash > ~/.local/share/bash-completion/completions/scanns
      for new shells with the package bash-completion
  echo 'source <(scanns completions bash)' >> ~/.bashrc
      for new shells without it
  scanns completions zsh > ~/.zfunc/_scanns
      where ~/.zshrc has fpath+=~/.zfunc before compinit
  scanns completions fish > ~/.config/fish/completions/scanns.fish

Packages for Debian and of RPM put them in place already.";

//! `help`, `completions` and `man`: what can be typed, told to people and to shells.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Explain a command
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate help
  callgate help plugin install"
)]
pub struct Help {
    /// The command's words
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Let a shell complete commands and options
///
/// Prints a script for the shell to read.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate completions bash > ~/.local/share/bash-completion/completions/callgate
  callgate completions zsh > ~/.zfunc/_callgate
  callgate completions fish > ~/.config/fish/completions/callgate.fish"
)]
pub struct Completions {
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Write the manual pages
///
/// One for each command, as man(1) reads them.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate man ~/.local/share/man/man1 && man callgate-plugin-install"
)]
pub struct Manual {
    /// Where to; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

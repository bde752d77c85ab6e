//! What can be typed after `callgate plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Plugins: Python functions that the AI, your programs and other plugins can call
#[derive(Debug, Args)]
#[command(after_help = "\
Begin with `callgate plugin new NAME`, or install one that was written for
Nekro Agent or AstrBot: it runs as it is.")]
pub struct Plugin {
    #[command(subcommand)]
    pub command: PluginCommand,
}

#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// The installed plugins
    List,
    Check(CheckPlugin),
    Test(TestPlugin),
    New(NewPlugin),
    Install(InstallPlugin),
    /// Remove a plugin; what it stored stays
    Remove {
        name: String,
    },
    /// Load a plugin that was disabled
    Enable {
        name: String,
    },
    /// Keep a plugin installed, but do not load it
    Disable {
        name: String,
    },
    /// Load plugins again from their files, all modules fresh
    Reload {
        /// All of them if left out
        name: Option<String>,
    },
    /// What the server installs now, and has installed since it began
    Jobs,
    /// End an installation that is under way; nothing has changed then
    Cancel {
        /// As `callgate plugin jobs` shows it
        id: String,
    },
    Config(ConfigPlugin),
}

/// Load plugins without a chat and say what they offer, and what to improve
///
/// Needs no server, key or data directory. Exit code 1 if one does not load. With
/// --json: [{"path", "flavour", "ok", "error", "warnings", "methods", "commands",
/// "hooks", "config"}]
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate plugin check ./weather
  callgate plugin check plugins/*/ --json"
)]
pub struct CheckPlugin {
    /// Folders, or .py files
    #[arg(required = true, value_name = "DIR")]
    pub paths: Vec<PathBuf>,
    /// Install no packages; what is missing is reported
    #[arg(long)]
    pub no_install: bool,
}

/// Drive a plugin step by step, and compare what comes with what should
///
/// With --json: {"plugin", "steps": [{"ok", "difference"}], "passed", "failed"}
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  callgate plugin test ./weather ./weather/scenario.json
  callgate plugin test ./weather ./weather/scenario.json --record")]
pub struct TestPlugin {
    /// A folder, or a .py file
    #[arg(value_name = "DIR")]
    pub path: PathBuf,
    /// The steps, and what must come of each
    pub scenario: PathBuf,
    /// Write what comes into the scenario instead of comparing
    #[arg(long)]
    pub record: bool,
    /// Install no packages; what is missing is reported
    #[arg(long)]
    pub no_install: bool,
}

/// Make a plugin that runs, with a scenario that tests it
#[derive(Debug, Args)]
pub struct NewPlugin {
    /// Becomes the folder's name
    pub name: String,
}

/// Install a plugin: a folder, a .zip file, or a git repository at a commit
///
/// Reads requirements.txt, metadata.yaml and pyproject.toml. Requirements that do
/// not go together with those of other plugins give it an environment of its own.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate plugin install ./weather
  callgate plugin install weather-main.zip
  callgate plugin install https://github.com/someone/weather@0a1b2c3
  callgate plugin install ./weather --with beautifulsoup4 --replace
  callgate plugin install --base"
)]
pub struct InstallPlugin {
    /// A folder, a .py or .zip file, or URL[@COMMIT]
    #[arg(required_unless_present = "base")]
    pub source: Option<String>,
    /// The name to install it under
    #[arg(long)]
    pub name: Option<String>,
    /// Put it in the place of the one that is there
    #[arg(long)]
    pub replace: bool,
    /// A package that the plugin needs and does not declare
    #[arg(long, value_name = "PACKAGE")]
    pub with: Vec<String>,
    /// Only install what plugins for Nekro Agent and AstrBot take for granted
    #[arg(long)]
    pub base: bool,
}

/// Show a plugin's settings, or change some
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  callgate plugin config weather
  callgate plugin config weather city=Rome limit=5")]
pub struct ConfigPlugin {
    pub name: String,
    /// NAME=VALUE; the value is JSON, or else a text
    #[arg(value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

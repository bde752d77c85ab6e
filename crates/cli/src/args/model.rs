//! `callgate model`: what can be typed about models. A key is never typed: whoever lists processes
//! would read it.

use clap::{Args, Subcommand};

/// The models at hand: list them, add one, try them
#[derive(Debug, Args)]
pub struct Model {
    #[command(subcommand)]
    pub command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Id, wire and name there, what it accepts besides text, its price, where it comes from
    List,
    Add(AddModel),
    Test(TestModel),
}

/// Try a model and write it into callgate.toml
///
/// The model is asked a word at once: one that cannot answer is not written down.
/// What the file holds, comments included, stays as it is. With --json:
/// {"id", "file", "wire", "name", "checked", "millis"}.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate model add anthropic
  callgate model add claude --provider anthropic --model claude-haiku-4-5 --key-env MY_KEY
  callgate model add mine --base-url https://api.example.com/v1 --key-stdin < key.txt
  callgate model add local --base-url http://127.0.0.1:11434 --model qwen3:8b"
)]
pub struct AddModel {
    /// What /model and --model will call it
    pub id: String,
    /// A provider known by name, such as openai, anthropic, gemini [default: one named ID]
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The server's address [default: the provider's]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The protocol it speaks [default: told by the address]
    #[arg(long, value_name = "WIRE", value_parser = ["openai", "responses", "anthropic", "gemini", "ollama"])]
    pub wire: Option<String>,
    /// The model's name there [default: the provider's usual one, else ID]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The variable that holds its key [default: the provider's, where it is set]
    #[arg(long, value_name = "VARIABLE", conflicts_with = "key_stdin")]
    pub key_env: Option<String>,
    /// Read the key from standard input and keep it in the file, which nobody else may read then
    #[arg(long)]
    pub key_stdin: bool,
    /// Models to ask in this order when it fails before its first word
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub fallback: Vec<String>,
    /// It sees images
    #[arg(long)]
    pub image: bool,
    /// It hears sounds
    #[arg(long)]
    pub audio: bool,
    /// Write it down without asking it
    #[arg(long)]
    pub no_check: bool,
}

/// Ask models a word and say what came of it
///
/// Exit code 0 only if all of them answer. With --json: a list of
/// {"id", "ok", "millis", "text", "usage", "error", "hint"}.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct TestModel {
    /// Which [default: all]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
}

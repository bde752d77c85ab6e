//! Measures the sandbox and the gate against what people use instead, and soaks them. Every figure
//! is taken while it runs; nothing printed here was written down before.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for a terminal, whose peers are processes"
)]

mod astrbot;
mod calls;
mod durable;
mod flood;
mod goals;
mod load;
mod messages;
mod openai;
mod peer;
mod plugins;
mod process;
mod remote;
mod round;
mod scene;
mod soak;
mod starts;
mod stats;
mod table;
mod ten;
mod turns;
mod wire;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures Callgate against its peers, in one alternating run")]
struct Arguments {
    /// A short run, to see that everything works; its figures mean little.
    #[arg(long)]
    quick: bool,
    /// One JSON document instead of the table.
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Only what concerns turns, messages and the process.
    Turns,
    /// Many runs of all sorts at once: every result must be right and nothing may be left over.
    Soak(soak::Soak),
    /// Connections that hold back and calls that always fail: memory and disk must stay flat.
    Flood,
    /// Only what concerns plugins.
    Plugins,
    /// Only AstrBot's plugins, beside AstrBot itself.
    Astrbot,
    /// Only the calls of remote clients, beside npm's server.
    Remote,
    /// Our server of the part above, in a process of its own; ends with its standard input.
    #[command(hide = true)]
    RemoteServer,
    /// Only chat completions over OpenAI's API, beside LiteLLM's proxy.
    Openai,
    /// Our server of the part above, as that one.
    #[command(hide = true)]
    OpenaiServer,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Runtime::new()?;
    let quick = arguments.quick;
    let table = match arguments.command {
        Some(Command::Soak(soak)) => return soak::soak(&runtime, &soak),
        Some(Command::Flood) => return flood::flood(),
        Some(Command::RemoteServer) => return runtime.block_on(remote::serve()),
        Some(Command::OpenaiServer) => return runtime.block_on(openai::serve()),
        Some(Command::Openai) => runtime.block_on(round::openai(quick))?,
        Some(Command::Remote) => runtime.block_on(round::remote(quick))?,
        Some(Command::Astrbot) => runtime.block_on(round::astrbot(quick))?,
        Some(Command::Plugins) => runtime.block_on(round::plugins(quick))?,
        Some(Command::Turns) => runtime.block_on(round::turns(quick))?,
        None => runtime.block_on(round::measure(quick))?,
    };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&table.to_json())?)
    } else {
        print!("{table}")
    }
    Ok(())
}

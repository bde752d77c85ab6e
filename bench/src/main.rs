//! Measures the sandbox and the gate against what people use instead, and soaks them. Every figure
//! is taken while it runs; nothing printed here was written down before.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for a terminal, whose peers are processes"
)]

mod calls;
mod goals;
mod load;
mod peer;
mod round;
mod scene;
mod soak;
mod starts;
mod stats;
mod table;
mod turns;

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
    /// Many runs of all sorts at once: every result must be right and nothing may be left over.
    Soak(soak::Soak),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Runtime::new()?;
    match arguments.command {
        Some(Command::Soak(soak)) => soak::soak(&runtime, &soak),
        None => {
            let table = runtime.block_on(round::measure(arguments.quick))?;
            match arguments.json {
                true => println!("{}", serde_json::to_string_pretty(&table.to_json())?),
                false => print!("{table}"),
            }
            Ok(())
        }
    }
}

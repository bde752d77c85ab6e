//! The binary `callgate`: parses, wires the crates together, prints. Whatever a command does to
//! the world it does through the gate.

mod args;
mod commands;
mod connect;
mod failure;
mod logs;
mod plugins;
mod running;
mod show;

use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};

use crate::{
    args::{Arguments, Command},
    failure::Failure,
};

/// As programs do when they were called wrongly.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    let keeps = matches!(arguments.command, Command::Serve(_));
    logs::begin(keeps, arguments.common.log);
    let as_json = arguments.common.json;
    match perform(arguments) {
        Ok(code) => code,
        Err(failure) => {
            show::failure(&failure, as_json);
            ExitCode::FAILURE
        }
    }
}

fn perform(arguments: Arguments) -> Result<ExitCode, Failure> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // A run may wait in a call while another answers it.
        .worker_threads(cores.max(2))
        .enable_all()
        .build()
        .map_err(|error| {
            let hint = "free some memory, or raise the limit on threads (ulimit -u)";
            Failure::new(format!("cannot start: {error}"), hint)
        })?;
    let result = runtime.block_on(logs::traced(commands::perform(arguments)));
    // Nothing that matters is left running; what is left must not keep us.
    runtime.shutdown_background();
    result
}

/// Help and version are answers; the rest is a failure like any other.
fn refused(error: &clap::Error) -> ExitCode {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    match error.kind() {
        DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand => {
            // Nobody to tell if this fails.
            let _ = error.print();
            ExitCode::from(u8::from(error.use_stderr()) * USAGE)
        }
        _ => {
            let text = error.render().to_string();
            let what = text.split("\n\n").next().unwrap_or_default();
            let what = what.strip_prefix("error: ").unwrap_or(what);
            // Of a word that is no option here nobody wants to know how it is given as a value.
            let tip = text
                .lines()
                .find_map(|line| line.trim().strip_prefix("tip: "))
                .filter(|tip| !tip.starts_with("to pass"));
            let as_json = std::env::args_os().any(|argument| argument == "--json");
            let hint = tip.unwrap_or("add --help to see what can be given");
            show::failure(&Failure::new(what, hint), as_json);
            ExitCode::from(USAGE)
        }
    }
}

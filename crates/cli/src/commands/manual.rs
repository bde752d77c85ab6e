//! `callgate help`, `completions` and `man`: all made from what can be typed, so that none can be out of date.

use std::{iter, process::ExitCode};

use clap::{CommandFactory, Parser, error::ErrorKind};
use clap_complete::Shell;

use crate::{
    args::{Arguments, Help, Manual},
    failure::Failure,
    show,
};

/// As `callgate COMMAND --help`.
pub fn help(asked: &Help) -> Result<ExitCode, Failure> {
    let words = asked.command.iter().map(String::as_str);
    let line = iter::once("callgate").chain(words).chain(["--help"]);
    match Arguments::try_parse_from(line) {
        Err(help) if help.kind() == ErrorKind::DisplayHelp => {
            // Nobody to tell if this fails.
            let _ = help.print();
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            let words = asked.command.join(" ");
            let what = format!("there is no command '{words}'");
            Err(Failure::new(what, "`callgate help` lists what there is"))
        }
    }
}

pub fn completions(shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "callgate", &mut script);
    show::data(&String::from_utf8_lossy(&script));
    ExitCode::SUCCESS
}

pub fn manual(asked: &Manual) -> Result<ExitCode, Failure> {
    let folder = &asked.folder;
    let failed = |error: std::io::Error| {
        let hint = "choose a folder that you may write to";
        Failure::new(
            format!("cannot write to {}: {error}", folder.display()),
            hint,
        )
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(failed)?;
    let begin = folder.join("callgate.1");
    show::note(&format!("read them with: man {}", begin.display()));
    Ok(ExitCode::SUCCESS)
}

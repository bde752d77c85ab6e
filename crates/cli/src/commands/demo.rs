//! `callgate demo`: a tour. Nothing in it is played: each piece of code runs in the sandbox, and
//! what is shown of the gate is the run's own report.

mod steps;

use std::{path::Path, process::ExitCode};

use callgate_agent::{CallReport, RunReport};
use callgate_contract::SessionKey;
use serde_json::{Value as Json, json};

use self::steps::DemoStep;
use super::run::observed;
use callgate_server::control::Client;
use callgate_service::operations::RunCode;

use crate::{
    args::Common,
    connect::{self, Purpose},
    failure::Failure,
    show::{self, Colour, paint},
};

const OPENING: &str = "\
Callgate: write a function once; let AI call it safely.

Each piece of Python below, as an AI might write it, runs now in the sandbox of
this machine. It can touch nothing outside; it can only call methods, and every
call passes one gate. The lines with > and < are what crossed it.";

/// Characters of a value or a list of arguments that fit a line.
const WIDTH: usize = 46;

pub async fn perform(common: &Common) -> Result<ExitCode, Failure> {
    let broken = |error: std::io::Error| {
        let hint = "set TMPDIR to a directory that can be written, or give --data DIR";
        Failure::new(format!("no temporary directory: {error}"), hint)
    };
    let temporary = tempfile::Builder::new()
        .prefix("callgate-demo-")
        .tempdir()
        .map_err(broken)?;
    let mut common = common.clone();
    common
        .data
        .get_or_insert_with(|| temporary.path().join("data"));
    let bait = temporary.path().join("secret.txt");
    std::fs::write(&bait, "the operator's secret\n").map_err(broken)?;

    let mut client = connect::open(&common.settings()?, Purpose::Work).await?;
    let toured = tour(&mut client, &common, &bait).await;
    client.close().await;
    toured
}

async fn tour(client: &mut Client, common: &Common, bait: &Path) -> Result<ExitCode, Failure> {
    if !common.json {
        show::line(OPENING);
    }
    let session: Result<SessionKey, _> = "cli:FriendMessage:demo".parse();
    let session =
        session.map_err(|error| Failure::new(error.to_string(), "report this as a fault"))?;
    let mut told = Vec::new();
    let mut as_promised = true;
    for (number, step) in steps::all(&bait.display().to_string()).iter().enumerate() {
        let code = RunCode {
            run: None,
            code: step.code.clone(),
            session: Some(session.clone()),
            user: Some("demo".to_owned()),
            timeout_seconds: None,
        };
        let report = client.call(code).await?;
        as_promised &= report.stop == step.stop;
        if common.json {
            told.push(json!({
                "title": step.title,
                "code": step.code,
                "report": report,
            }))
        } else {
            show_step(number + 1, step, &report)
        }
    }
    if common.json {
        show::json(&json!({ "steps": told }))
    } else {
        show_next()
    }
    if !as_promised {
        return Err(Failure::new(
            "a step of the tour did not end as it should",
            "run `callgate doctor`",
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn show_step(number: usize, step: &DemoStep, report: &RunReport) {
    let title = format!("{number}. {}", step.title);
    show::line(&format!(
        "\n{}\n{}\n",
        paint(Colour::Bold, &title),
        step.about
    ));
    for line in step.code.lines() {
        show::line(&format!("    {}", paint(Colour::Cyan, line)));
    }
    show::line("");
    for call in &report.calls {
        show_call(call);
    }
    for line in report.stdout.lines() {
        show::line(&format!("  {line}"));
    }
    let refused = report.calls.iter().any(|call| call.error.is_some());
    if let (false, Some(error)) = (refused, &report.error) {
        let last = error.trim_end().lines().last().unwrap_or_default();
        show::line(&format!("  {}", paint(Colour::Red, last)));
    }
    if let Some(observation) = &report.observation {
        show::line("  -- to the AI, which answers at once:");
        show::line(&observed(observation));
    }
    let (stop, ms) = (report.stop, report.wall_ms);
    let end = format!("  = {stop}, {ms:.1} ms");
    show::line(&paint(Colour::Dim, &end));
}

fn show_call(call: &CallReport) {
    let given = call.arguments.as_object().into_iter().flatten();
    let given: Vec<String> = given
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let given = show::shortened(&given.join(", "), WIDTH - call.method.len().min(WIDTH));
    show::line(&format!("  > {}({given})", call.method));
    let kind = call.kind.map_or(Json::Null, |kind| json!(kind));
    let kind = kind.as_str().unwrap_or("no method");
    let about = match &call.error {
        Some(_) => String::new(),
        None => format!("  ({kind}, {:.2} ms)", call.micros as f64 / 1e3),
    };
    let what = match (&call.value, &call.error) {
        (_, Some(error)) => show::shortened(&format!("refused: {error}"), WIDTH + 28),
        (Some(value), None) => show::shortened(&value.to_string(), WIDTH),
        (None, None) => "None".to_owned(),
    };
    show::line(&format!("  < {what}{}", paint(Colour::Dim, &about)));
}

fn show_next() {
    show::line(&format!("\n{}", paint(Colour::Bold, "What to try next")));
    show_commands(&[
        ("callgate chat", "talk to it"),
        ("callgate methods", "what code can call here"),
        (
            "callgate methods send_message",
            "one of them, as the AI sees it",
        ),
        (
            "callgate call now --args '[\"Asia/Tokyo\"]'",
            "call one yourself",
        ),
        ("callgate run FILE.py", "run your own code"),
        ("callgate sandbox install numpy pandas", "give it packages"),
        ("callgate doctor", "check this machine"),
    ]);
}

/// Lines to copy, each with what it does.
pub fn show_commands(commands: &[(&str, &str)]) {
    if let Some(program) = not_in_path() {
        show::line(&format!("  alias callgate={program}"));
    }
    for (command, what) in commands {
        let what = paint(Colour::Dim, &format!("# {what}"));
        show::line(&format!("  {command:<42} {what}"));
    }
}

/// Where we are, if the shell would not find us by name: the lines above are there to be copied.
fn not_in_path() -> Option<String> {
    let ourselves = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("callgate").is_file());
    (!found).then(|| ourselves.display().to_string())
}

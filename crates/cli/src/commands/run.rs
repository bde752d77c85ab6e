//! `callgate run`: code in the sandbox. What it prints comes out as it is printed; how it ended
//! is told on standard error.

use std::{
    io::{IsTerminal, Read},
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use callgate_agent::{Observation, RunReport};
use callgate_contract::{Cancel, JournalId, Part, Stop};
use tokio::signal::unix::{SignalKind, signal};

use callgate_server::control::call_running;
use callgate_service::{
    Observer, Settings,
    operations::{CancelRun, RunCode},
};

use crate::{
    args::{Common, RunArguments},
    connect::{self, Purpose},
    failure::Failure,
    show::{self, Colour, paint_note},
};

/// As shells report a program that Ctrl-C ended.
pub const INTERRUPTED: i32 = 130;
/// Lines of an observation that are shown.
const SHOWN_LINES: usize = 12;

pub async fn perform(common: &Common, run: RunArguments) -> Result<ExitCode, Failure> {
    let id = JournalId::fresh();
    let request = RunCode {
        run: Some(id),
        code: read_code(&run.file)?,
        session: Some(run.on_behalf.session()?),
        user: Some(run.on_behalf.user.clone()),
        timeout_seconds: run.timeout,
    };
    let settings = common.settings()?;
    let mut client = connect::open(&settings, Purpose::Work).await?;
    let streamed = Arc::new(AtomicUsize::new(0));
    let observer = Observer {
        output: (!common.json).then(|| stream(streamed.clone())),
        asked: Some(tell_asked),
        ..Observer::default()
    };
    let watching = tokio::spawn(on_interrupt(
        observer.cancel.clone(),
        client.is_outside().then_some((settings, id)),
    ));
    let performed = client.run_code(request, observer).await;
    watching.abort();
    let shown = performed.map(|report| {
        let streamed = streamed.load(Ordering::Relaxed);
        common.show(&report, |report| show_report(report, streamed));
        exit_code(report.stop)
    });
    client.close().await;
    Ok(shown?)
}

fn read_code(file: &Path) -> Result<String, Failure> {
    let (name, read) = match file.to_str() {
        Some("-") => {
            let mut code = String::new();
            let read = std::io::stdin().read_to_string(&mut code);
            ("standard input".to_owned(), read.map(|_| code))
        }
        _ => (file.display().to_string(), std::fs::read_to_string(file)),
    };
    read.map_err(|error| {
        let hint = "give a file of Python code, or - for standard input";
        Failure::new(format!("cannot read {name}: {error}"), hint)
    })
}

/// Prints as it comes, and counts, since what was printed is not printed again at the end.
fn stream(streamed: Arc<AtomicUsize>) -> callgate_contract::OutputListener {
    Box::new(move |text| {
        streamed.fetch_add(text.len(), Ordering::Relaxed);
        show::data(text);
    })
}

pub fn tell_asked(id: i64, method: &str) {
    show::note(&format!(
        "{} {method} waits for `callgate approval allow {id}`, or deny",
        paint_note(Colour::Yellow, "asked:")
    ));
}

/// The first signal cancels the run, wherever it is executed; the second ends us as we are.
async fn on_interrupt(cancel: Cancel, elsewhere: Option<(Settings, JournalId)>) {
    if !interrupted().await {
        return;
    }
    show::note("stopping the run; once more to leave at once");
    cancel.cancel();
    if let Some((settings, run)) = elsewhere {
        // If it cannot be told, the second signal still works.
        let _ = call_running(&settings.data, &CancelRun { run }).await;
    }
    if interrupted().await {
        // The jailed processes die with us.
        std::process::exit(INTERRUPTED);
    }
}

/// Waits for a signal that wants us to end; false if signals cannot be heard.
pub async fn interrupted() -> bool {
    let listen = |kind| signal(kind).ok();
    let (Some(mut interrupt), Some(mut terminate), Some(mut hangup)) = (
        listen(SignalKind::interrupt()),
        listen(SignalKind::terminate()),
        listen(SignalKind::hangup()),
    ) else {
        return false;
    };
    tokio::select! {
        _ = interrupt.recv() => true,
        _ = terminate.recv() => true,
        _ = hangup.recv() => true,
    }
}

fn exit_code(stop: Stop) -> ExitCode {
    if is_good(stop) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn is_good(stop: Stop) -> bool {
    matches!(
        stop,
        Stop::Finished | Stop::Agent | Stop::Multimodal | Stop::Inspect
    )
}

/// Data not yet streamed, then how it ended.
pub fn show_report(report: &RunReport, streamed: usize) {
    let rest = report.stdout.get(streamed..).unwrap_or_default();
    show::data(rest);
    let unended = !report.stdout.is_empty() && !report.stdout.ends_with('\n');
    if unended && std::io::stdout().is_terminal() {
        show::note("");
    }
    if let Some(error) = &report.error {
        show::note(&paint_note(Colour::Red, error.trim_end()));
    }
    if let Some(observation) = &report.observation {
        let text = observed(observation);
        show::note(&format!("goes into the next round:\n{text}"));
    }
    let colour = if is_good(report.stop) {
        Colour::Green
    } else {
        Colour::Red
    };
    show::note(&format!(
        "{} {}",
        paint_note(colour, &format!("{}:", report.stop)),
        summary(report)
    ));
    if let Some(hint) = hint(report) {
        show::note(&format!("{} {hint}", paint_note(Colour::Cyan, "hint:")));
    }
}

fn summary(report: &RunReport) -> String {
    let calls = match report.calls.len() {
        0 => "no calls".to_owned(),
        calls => show::count(calls as u64, "call"),
    };
    let time = match report.wall_ms {
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    };
    format!("{calls}, {time}")
}

pub fn observed(observation: &Observation) -> String {
    let text = match observation {
        Observation::Text(text) => text.clone(),
        Observation::Parts(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    };
    let mut lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    let left_out = lines.len().saturating_sub(SHOWN_LINES);
    if left_out > 0 {
        lines.truncate(SHOWN_LINES);
        lines.push(format!("  [{left_out} more lines]"));
    }
    lines.join("\n")
}

pub fn part(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Image { url } => format!("[image] {}", show::shortened(url, 60)),
        Part::Audio { url } => format!("[audio] {}", show::shortened(url, 60)),
        Part::Video { url } => format!("[video] {}", show::shortened(url, 60)),
        Part::File { name, .. } => format!("[file] {name}"),
        part => part.words().unwrap_or_default().into_owned(),
    }
}

fn hint(report: &RunReport) -> Option<&'static str> {
    if report
        .error
        .as_deref()
        .is_some_and(|it| it.contains("ModuleNotFoundError"))
    {
        return Some("`callgate sandbox install PACKAGE` lets code import it");
    }
    Some(match report.stop {
        Stop::Approval => "see `callgate approval list`; the run goes on when you answer",
        Stop::Timeout => "give it more time with --timeout SECONDS",
        Stop::Memory => "raise sandbox.memory_mb, or let the code hold less at once",
        Stop::Disk => "raise sandbox.disk_mb, or let the code delete files in /app/shared",
        Stop::Output => "let the code print less, or raise sandbox.output_mb",
        Stop::Calls => "let the code call less often, or raise sandbox.calls",
        _ => return None,
    })
}

//! `callgate plugin check`: loads plugins and says what they offer, what they lack, and what their
//! authors could do better.

use std::{path::PathBuf, process::ExitCode};

use callgate_plugins::check::CheckReport;
use serde_json::Value as Json;

use super::workshop::Workshop;
use callgate_service::{Service, plugins::GivenPlugin};

use crate::{
    args::{CheckPlugin, Common},
    failure::Failure,
    plugins::prepare,
    show::{self, Colour, paint},
};

/// Plugins that are loaded side by side, each in a worker of its own.
const AT_ONCE: usize = 4;

pub async fn perform(common: &Common, check: CheckPlugin) -> Result<ExitCode, Failure> {
    let reports = reports(common, &check.paths, !check.no_install).await?;
    common.show(&reports, |reports| show_reports(reports));
    Ok(exit_code(&reports))
}

async fn reports(
    common: &Common,
    paths: &[PathBuf],
    install: bool,
) -> Result<Vec<CheckReport>, Failure> {
    let workshop = Workshop::open(common)?;
    let mut ready = prepare(&workshop.environments, paths, install)
        .await?
        .into_iter();
    let mut reports = Vec::new();
    loop {
        let batch: Vec<_> = ready.by_ref().take(AT_ONCE).collect();
        if batch.is_empty() {
            return Ok(reports);
        }
        reports.extend(load(&workshop, batch).await?);
    }
}

/// Each alone, so that none can spoil another.
async fn load(
    workshop: &Workshop,
    batch: Vec<Result<GivenPlugin, Box<CheckReport>>>,
) -> Result<Vec<CheckReport>, Failure> {
    let mut settings = workshop.settings.clone();
    let mut reports: Vec<Option<CheckReport>> = Vec::new();
    for (index, given) in batch.into_iter().enumerate() {
        match given {
            Ok(mut given) => {
                if given.source.worker == given.source.flavour {
                    given.source.worker = format!("{}-check{index}", given.source.flavour);
                }
                settings.given.push(given);
                reports.push(None);
            }
            Err(report) => reports.push(Some(*report)),
        }
    }
    let service = Service::open(&settings).await?;
    let mut loaded = service.load_given().await.into_iter();
    service.plugins().shutdown().await;
    let filled = reports
        .into_iter()
        .map(|report| report.or_else(|| loaded.next()));
    Ok(filled.flatten().collect())
}

pub fn exit_code(reports: &[CheckReport]) -> ExitCode {
    if reports.iter().all(|report| report.ok) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

pub fn show_reports(reports: &[CheckReport]) {
    reports.iter().for_each(show_report);
}

fn show_report(report: &CheckReport) {
    let (mark, colour) = if report.ok {
        ("ok", Colour::Green)
    } else {
        ("fails", Colour::Red)
    };
    let head = format!("{} {}", report.name, report.version);
    show::line(&format!(
        "{} {} ({}) {}",
        paint(colour, mark),
        paint(Colour::Bold, head.trim()),
        report.flavour.as_deref().unwrap_or("no plugin"),
        paint(Colour::Dim, &report.path),
    ));
    if let Some(error) = &report.error {
        show::line(&format!("  {} {error}", paint(Colour::Red, "error:")));
    }
    for line in report.traceback.iter().flat_map(|it| it.trim_end().lines()) {
        show::line(&format!("    {line}"));
    }
    if let Some(hint) = &report.hint {
        show::line(&format!("  {} {hint}", paint(Colour::Cyan, "hint:")));
    }
    let method = |method: &Json| {
        let text = |field: &str| method[field].as_str().unwrap_or_default().to_owned();
        vec![format!("  {}", text("name")), text("kind"), text("title")]
    };
    let rows: Vec<Vec<String>> = report.methods.iter().map(method).collect();
    show::data(&show::table(&rows));
    let commands = report.commands.iter().filter_map(|it| it["name"].as_str());
    show_names("commands", commands.collect());
    show_names("hooks", report.hooks.iter().map(String::as_str).collect());
    for warning in report.shadows.iter().chain(&report.warnings) {
        show::line(&format!(
            "  {} {warning}",
            paint(Colour::Yellow, "warning:")
        ));
    }
}

fn show_names(what: &str, names: Vec<&str>) {
    if !names.is_empty() {
        show::line(&format!("  {what}: {}", names.join(", ")));
    }
}

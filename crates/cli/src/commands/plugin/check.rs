//! `callgate plugin check`: loads plugins and says what they offer, what they lack, and what their
//! authors could do better.

use std::{path::PathBuf, process::ExitCode};

use callgate_plugins::check::CheckReport;
use serde_json::{Value as Json, json};

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
    let reports = json!(reports);
    if common.json {
        show::json(&reports)
    } else {
        show_reports(&reports)
    }
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

pub fn exit_code(reports: &Json) -> ExitCode {
    let mut all = reports.as_array().into_iter().flatten();
    if all.all(|report| report["ok"] == true) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

pub fn show_reports(reports: &Json) {
    for report in reports.as_array().into_iter().flatten() {
        show_report(report);
    }
}

fn show_report(report: &Json) {
    let text = |field: &str| report[field].as_str().unwrap_or_default();
    let (mark, colour) = if report["ok"] == true {
        ("ok", Colour::Green)
    } else {
        ("fails", Colour::Red)
    };
    let head = format!("{} {}", text("name"), text("version"));
    show::line(&format!(
        "{} {} ({}) {}",
        paint(colour, mark),
        paint(Colour::Bold, head.trim()),
        report["flavour"].as_str().unwrap_or("no plugin"),
        paint(Colour::Dim, text("path")),
    ));
    if let Some(error) = report["error"].as_str() {
        show::line(&format!("  {} {error}", paint(Colour::Red, "error:")));
    }
    if let Some(traceback) = report["traceback"].as_str() {
        for line in traceback.trim_end().lines() {
            show::line(&format!("    {line}"));
        }
    }
    if let Some(hint) = report["hint"].as_str() {
        show::line(&format!("  {} {hint}", paint(Colour::Cyan, "hint:")));
    }
    let rows: Vec<Vec<String>> = list(report, "methods")
        .map(|method| {
            let text = |field: &str| method[field].as_str().unwrap_or_default().to_owned();
            vec![format!("  {}", text("name")), text("kind"), text("title")]
        })
        .collect();
    show::data(&show::table(&rows));
    for (word, field) in [("commands", "commands"), ("hooks", "hooks")] {
        let names: Vec<&str> = list(report, field)
            .filter_map(|it| it.as_str().or_else(|| it["name"].as_str()))
            .collect();
        if !names.is_empty() {
            show::line(&format!("  {word}: {}", names.join(", ")));
        }
    }
    for warning in list(report, "warnings").filter_map(Json::as_str) {
        show::line(&format!(
            "  {} {warning}",
            paint(Colour::Yellow, "warning:")
        ));
    }
}

fn list<'a>(report: &'a Json, field: &str) -> impl Iterator<Item = &'a Json> {
    report[field].as_array().into_iter().flatten()
}

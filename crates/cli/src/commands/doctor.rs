//! `callgate doctor`: what the service finds on this machine, a line for each check.

use std::process::ExitCode;

use callgate_service::{
    examine,
    operations::{CheckStatus, DoctorReport},
};

use crate::{
    args::Common,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let report = examine(&settings.data, &settings.config).await;
    common.show(&report, show_report);
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn show_report(report: &DoctorReport) {
    for check in &report.checks {
        let (word, colour) = match check.status {
            CheckStatus::Ok => ("ok  ", Colour::Green),
            CheckStatus::Warn => ("warn", Colour::Yellow),
            CheckStatus::Fail => ("fail", Colour::Red),
        };
        let word = paint(colour, word);
        show::line(&format!("{word}  {:<16} {}", check.name, check.detail));
        if let Some(hint) = &check.hint {
            show::line(&format!("      hint: {hint}"));
        }
    }
    show::line(if report.ok {
        "\nThis machine can run the sandbox."
    } else {
        "\nThe sandbox cannot run here until what failed is fixed."
    });
}

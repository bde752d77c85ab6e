//! `callgate doctor`: what the service finds on this machine, a line for each check.

use std::process::ExitCode;

use callgate_service::{
    examine,
    operations::{Check, CheckStatus},
};
use serde_json::json;

use crate::{
    args::Common,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let checks = examine(&settings.data, &settings.config).await;
    let ok = checks.iter().all(|check| check.status != CheckStatus::Fail);
    match common.json {
        true => show::json(&json!({ "ok": ok, "checks": checks })),
        false => show_checks(&checks, ok),
    }
    Ok(if ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn show_checks(checks: &[Check], ok: bool) {
    for check in checks {
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
    show::line(if ok {
        "\nThis machine can run the sandbox."
    } else {
        "\nThe sandbox cannot run here until what failed is fixed."
    });
}

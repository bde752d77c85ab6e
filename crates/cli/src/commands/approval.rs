//! `callgate approval`: the operator's answers, and those that stand.

use std::process::ExitCode;

use callgate_agent::RunReport;
use serde_json::Value as Json;

use super::{call::readable, run::show_report, send::show_message};
use callgate_service::request::{Request, Verdict};

use crate::{
    args::{Approval, ApprovalCommand, Common},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint, paint_note},
};

pub async fn perform(common: &Common, approval: Approval) -> Result<ExitCode, Failure> {
    let (answer, verdict) = match approval.command {
        ApprovalCommand::List { all } => {
            let answer = super::ask(common, Purpose::Look, Request::Approvals { all }).await?;
            if common.json {
                show::json(&answer)
            } else {
                show_list(&answer)
            }
            return Ok(ExitCode::SUCCESS);
        }
        ApprovalCommand::Rules => {
            let rules = super::ask(common, Purpose::Look, Request::ApprovalRules).await?;
            if common.json {
                show::json(&rules)
            } else {
                show_rules(&rules)
            }
            return Ok(ExitCode::SUCCESS);
        }
        ApprovalCommand::Revoke { id } => {
            let revoked = super::ask(common, Purpose::Look, Request::RevokeRule { id }).await?;
            if common.json {
                show::json(&revoked)
            } else {
                show_revoked(&revoked)
            }
            return Ok(ExitCode::SUCCESS);
        }
        ApprovalCommand::Allow(answer) => (answer, Verdict::Allow),
        ApprovalCommand::Deny(answer) => (answer, Verdict::Deny),
    };
    let request = Request::Answer {
        id: answer.id,
        answer: verdict,
        always: answer.always,
    };
    let settled = super::ask(common, Purpose::Talk, request).await?;
    if common.json {
        show::json(&settled)
    } else {
        show_settled(&settled)
    }
    Ok(ExitCode::SUCCESS)
}

fn show_list(approvals: &Json) {
    let approvals = approvals.as_array().map(Vec::as_slice).unwrap_or_default();
    for approval in approvals {
        let text = |field: &str| approval[field].as_str().unwrap_or_default();
        let state = match (text("state"), text("answered_by")) {
            ("pending", _) => String::new(),
            (state, "") => format!("  {state}"),
            (state, by) => format!("  {state} by {by}"),
        };
        show::line(&format!(
            "{}  {}{state}\n   {}\n   {}, {}, asked {}",
            paint(Colour::Bold, &approval["id"].to_string()),
            paint(Colour::Bold, text("method")),
            show::shortened(&approval["arguments"].to_string(), 70),
            text("session"),
            text("user"),
            text("asked_at"),
        ));
    }
    match approvals {
        [] => show::note("nothing waits for your approval"),
        [first, ..] => {
            let id = &first["id"];
            show::note(&format!(
                "answer with `callgate approval allow {id}` or `deny {id}`"
            ));
        }
    }
}

fn show_rules(rules: &Json) {
    let rules = rules.as_array().map(Vec::as_slice).unwrap_or_default();
    for rule in rules {
        let text = |field: &str| rule[field].as_str().unwrap_or_default();
        let by = match text("made_by") {
            "" => String::new(),
            by => format!(" by {by}"),
        };
        show::line(&format!(
            "{}  {} {}\n   {}, made {}{by}",
            paint(Colour::Bold, &rule["id"].to_string()),
            text("decision"),
            paint(Colour::Bold, text("method")),
            text("session"),
            text("made_at"),
        ));
    }
    match rules {
        [] => show::note("there are no standing answers"),
        [first, ..] => {
            let id = &first["id"];
            show::note(&format!(
                "take one back with `callgate approval revoke {id}`"
            ));
        }
    }
}

fn show_revoked(rule: &Json) {
    let text = |field: &str| rule[field].as_str().unwrap_or_default();
    show::note(&format!(
        "{} {} is asked about again in {}",
        paint_note(Colour::Bold, "revoked:"),
        text("method"),
        text("session"),
    ));
}

fn show_settled(settled: &Json) {
    let approval = &settled["approval"];
    let text = |field: &str| approval[field].as_str().unwrap_or_default();
    show::note(&format!(
        "{} {}",
        paint_note(Colour::Bold, &format!("{}:", text("state"))),
        text("method")
    ));
    let report = &settled["report"];
    if settled["continues"] == true {
        show::note("it goes on where it waits");
    } else if let Some(messages) = report["messages"].as_array() {
        for message in messages {
            show_message(&message["parts"]);
        }
        let stop = report["stop"].as_str().unwrap_or_default();
        show::note(&format!("the turn went on: {stop}"));
    } else if report["stop"].is_string() {
        match super::read::<RunReport>(report.clone()) {
            Ok(report) => show_report(&report, 0),
            Err(failure) => show::failure(&failure, false),
        }
    } else if report["kind"].is_string() {
        show::line(&readable(&report["value"]));
    } else if let Some(error) = report["error"].as_str() {
        show::note(&format!("{} {error}", paint_note(Colour::Red, "error:")));
    }
}

//! `callgate approval`: the operator's answers, and those that stand.

use std::process::ExitCode;

use callgate_service::operations::{
    AnswerApproval, AnsweredApproval, ApprovalView, ContinuedReport, ListApprovalRules,
    ListApprovals, RevokeApprovalRule, RuleView,
};
use serde_json::json;

use super::{call::readable, run::show_report, send::show_message};
use crate::{
    args::{ApprovalArguments, ApprovalCommand, Common},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint, paint_note},
};

pub async fn perform(common: &Common, approval: ApprovalArguments) -> Result<ExitCode, Failure> {
    let (answer, allow) = match approval.command {
        ApprovalCommand::List { all } => {
            let every = |page| ListApprovals {
                all,
                session: None,
                page,
            };
            let approvals = super::list(common, Purpose::Look, every).await?;
            // The oldest first, as one answers them.
            let approvals: Vec<ApprovalView> = approvals.into_iter().rev().collect();
            common.show(&approvals, |approvals| show_list(approvals));
            return Ok(ExitCode::SUCCESS);
        }
        ApprovalCommand::Rules => {
            let every = |page| ListApprovalRules { page };
            let rules = super::list(common, Purpose::Look, every).await?;
            let rules: Vec<RuleView> = rules.into_iter().rev().collect();
            common.show(&rules, |rules| show_rules(rules));
            return Ok(ExitCode::SUCCESS);
        }
        ApprovalCommand::Revoke { id } => {
            let revoked = super::call(common, Purpose::Look, RevokeApprovalRule { id }).await?;
            common.show(&revoked, show_revoked);
            return Ok(ExitCode::SUCCESS);
        }
        ApprovalCommand::Allow(answer) => (answer, true),
        ApprovalCommand::Deny(answer) => (answer, false),
    };
    let answer = AnswerApproval {
        id: answer.id,
        allow,
        always: answer.always,
        everyone: answer.everyone,
        same_arguments: answer.same_arguments,
    };
    let answered = super::call(common, Purpose::Talk, answer).await?;
    common.show(&answered, show_answered);
    Ok(ExitCode::SUCCESS)
}

fn show_list(approvals: &[ApprovalView]) {
    for approval in approvals {
        let state = match (show::word(&approval.state), &approval.answered_by) {
            (state, _) if state == "pending" => String::new(),
            (state, None) => format!("  {state}"),
            (state, Some(by)) => format!("  {state} by {by}"),
        };
        let why = approval.reason.as_ref();
        let why = why.map_or_else(String::new, |why| format!("\n   {why}"));
        show::line(&format!(
            "{}  {}{state}\n   {}{why}\n   {}, {}, asked {}",
            paint(Colour::Bold, &approval.id.to_string()),
            paint(Colour::Bold, &approval.method),
            show::shortened(&approval.arguments.to_string(), 70),
            approval.session,
            approval.user,
            approval.asked_at,
        ));
    }
    match approvals {
        [] => show::note("nothing waits for your approval"),
        [first, ..] => {
            let id = first.id;
            show::note(&format!(
                "answer with `callgate approval allow {id}` or `deny {id}`"
            ));
        }
    }
}

fn show_rules(rules: &[RuleView]) {
    for rule in rules {
        let by = match &rule.made_by {
            None => String::new(),
            Some(by) => format!(" by {by}"),
        };
        show::line(&format!(
            "{}  {} {}\n   {}, {}, made {}{by}",
            paint(Colour::Bold, &rule.id.to_string()),
            rule.decision,
            paint(Colour::Bold, &rule.method),
            rule.session,
            rule.person.as_deref().unwrap_or("everybody"),
            rule.made_at,
        ));
    }
    match rules {
        [] => show::note("there are no standing answers"),
        [first, ..] => {
            let id = first.id;
            show::note(&format!(
                "take one back with `callgate approval revoke {id}`"
            ));
        }
    }
}

fn show_revoked(rule: &RuleView) {
    show::note(&format!(
        "{} {} is asked about again in {}",
        paint_note(Colour::Bold, "revoked:"),
        rule.method,
        rule.session,
    ));
}

fn show_answered(answered: &AnsweredApproval) {
    let approval = &answered.approval;
    show::note(&format!(
        "{} {}",
        paint_note(Colour::Bold, &format!("{}:", show::word(&approval.state))),
        approval.method
    ));
    if answered.continues {
        show::note("it goes on where it waits");
    }
    match &answered.report {
        None => {}
        Some(ContinuedReport::Turn(turn)) => {
            for message in &turn.messages {
                show_message(&json!(message.parts));
            }
            show::note(&format!("the turn went on: {}", turn.stop));
        }
        Some(ContinuedReport::Run(report)) => show_report(report, 0),
        Some(ContinuedReport::Call(result)) => show::line(&readable(&result.value)),
        Some(ContinuedReport::Failed(failure)) => {
            let error = &failure.error;
            show::note(&format!("{} {error}", paint_note(Colour::Red, "error:")));
        }
    }
}

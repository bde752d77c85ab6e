//! `callgate rule`: who may call what.

use std::process::ExitCode;

use callgate_service::operations::{AddRule, ListRules, PolicyRuleView, RemoveRule, RuleSource};

use crate::{
    args::{Common, RuleArguments, RuleCommand},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint, paint_note},
};

pub async fn perform(common: &Common, rule: RuleArguments) -> Result<ExitCode, Failure> {
    match rule.command {
        RuleCommand::List => {
            let rules = super::list(common, Purpose::Look, |page| ListRules { page }).await?;
            common.show(&rules, |rules| show_rules(rules));
        }
        RuleCommand::Add(new) => {
            let added = super::call(common, Purpose::Look, AddRule { rule: new.rule() }).await?;
            common.show(&added, |added| show_one("added", added));
        }
        RuleCommand::Remove { id } => {
            let removed = super::call(common, Purpose::Look, RemoveRule { id }).await?;
            common.show(&removed, |removed| show_one("removed", removed));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show_rules(rules: &[PolicyRuleView]) {
    for view in rules {
        let id = view.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let source = match (view.source, view.made_at, &view.made_by) {
            (RuleSource::Configuration, ..) => "callgate.toml".to_owned(),
            (_, Some(at), Some(by)) => format!("made {at} by {by}"),
            (_, Some(at), None) => format!("made {at}"),
            (_, None, _) => String::new(),
        };
        let answer = match (view.source, &view.arguments) {
            (RuleSource::Answer, Some(arguments)) => {
                let arguments = show::shortened(&arguments.to_string(), 70);
                format!(", where it would be asked, with {arguments}")
            }
            (RuleSource::Answer, None) => ", where it would be asked".to_owned(),
            _ => String::new(),
        };
        show::line(&format!(
            "{}  {}{answer}\n   {source}",
            paint(Colour::Bold, &id),
            view.rule,
        ));
    }
    if rules.is_empty() {
        show::note("no rules: everybody may call what they are offered");
    }
}

fn show_one(done: &str, view: &PolicyRuleView) {
    let id = view.id.unwrap_or_default();
    let done = paint_note(Colour::Bold, &format!("{done}:"));
    show::note(&format!("{done} rule {id}, {}", view.rule));
}

//! `/why`: for whom the last answer of a chat was given, what was called for it, what came of that, and whether a
//! rule decided. Whoever administers is also told by which rule or whose answer, with which arguments, by which
//! model, at which cost and with which rights.

use std::collections::HashMap;

use callgate_contract::Principal;
use callgate_gate::recorded_arguments;
use callgate_store::{CallIntent, DecidedBy, Scope, StoredRule, Turn, TurnStart};

use crate::{
    Agent, TurnError, amount,
    language::Language,
    report::by_name,
    texts::{self, CalledMethod, Decider, Explanation, Inner},
    turn::TurnPlan,
};

/// Newest turns among which the last answer is looked for; commands are among them.
const NEWEST: u32 = 20;
/// Characters of a call's arguments that are shown.
const SHOWN: usize = 120;

impl Agent {
    pub(super) async fn why(
        &self,
        start: &TurnStart,
        language: Language,
    ) -> Result<String, TurnError> {
        let turns = self.store().turns().list(&start.session, NEWEST).await?;
        let is_answer = |turn: &&Turn| !turn.start.model.is_empty() && turn.finish.is_some();
        let Some(turn) = turns.iter().rev().find(is_answer) else {
            return Ok(texts::nothing_to_explain(language).to_owned());
        };
        let sees_all = start.role.administers();
        let asked = &turn.start;
        let spent = self.store().turns().spent(Scope::Turn(asked.id)).await?;
        // Who is no account of this platform is named by what they are.
        let name = |principal: &Principal| match principal {
            Principal::Person { platform, account } if platform == start.session.platform() => {
                account.clone()
            }
            other if sees_all => other.to_string(),
            other => texts::role(language, self.role_of(other)).to_owned(),
        };
        let money = spent.money.map(amount);
        let explanation = Explanation {
            asked_by: name(&asked.principal),
            others: TurnPlan::of(asked).others.iter().map(name).collect(),
            calls: self.calls_of(turn, sees_all).await?,
            inner: sees_all.then(|| Inner {
                principal: asked.principal.to_string(),
                role: asked.role,
                model: asked.model.clone(),
                tokens: spent.tokens_in + spent.tokens_out,
                money,
            }),
        };
        Ok(texts::why(language, &explanation))
    }

    /// In tool mode they stand under the turn, in code mode under its runs.
    async fn calls_of(&self, turn: &Turn, sees_all: bool) -> Result<Vec<CalledMethod>, TurnError> {
        let mut journals = vec![turn.start.id];
        let runs = self.store().turns().runs(turn.start.id).await?;
        journals.extend(runs.iter().map(|run| run.start.id));
        let rules = if sees_all {
            self.store().rules().list().await?
        } else {
            Vec::new()
        };
        let rules: HashMap<i64, &StoredRule> = rules.iter().map(|one| (one.id, one)).collect();
        let mut calls = Vec::new();
        for journal in journals {
            for call in self.store().journal().recorded(journal).await? {
                let error = match call.outcome.map(|outcome| outcome.result) {
                    Some(Ok(_)) => None,
                    Some(Err(error)) if sees_all => Some(error),
                    Some(Err(_)) | None => Some(String::new()),
                };
                let decider = match (&call.intent.decided_by, sees_all) {
                    (None, _) => Decider::Default,
                    (Some(_), false) => Decider::Some,
                    (Some(by), true) => self.decider(by, &rules).await?,
                };
                calls.push(CalledMethod {
                    arguments: sees_all.then(|| arguments_of(&call.intent)),
                    name: call.intent.method,
                    error,
                    decider,
                });
            }
        }
        Ok(calls)
    }

    async fn decider(
        &self,
        by: &DecidedBy,
        rules: &HashMap<i64, &StoredRule>,
    ) -> Result<Decider, TurnError> {
        Ok(match by {
            DecidedBy::Configured(rule) => Decider::Configured(rule.clone()),
            DecidedBy::Approval(id) => {
                let approval = self.store().approvals().get(*id).await?;
                let by = approval.answered_by;
                Decider::Approval { id: *id, by }
            }
            DecidedBy::Rule(id) => match rules.get(id) {
                None => Decider::Removed(*id),
                Some(stored) => Decider::Rule {
                    id: *id,
                    rule: stored.rule.to_string(),
                    is_answer: stored.answer.is_some(),
                    by: stored.made_by.clone(),
                },
            },
        })
    }
}

fn arguments_of(call: &CallIntent) -> String {
    let arguments = recorded_arguments(&call.arguments).unwrap_or_default();
    let text = by_name(&arguments, None).to_string();
    match text.char_indices().nth(SHOWN) {
        Some(_) => text.chars().take(SHOWN).chain(['…']).collect(),
        None => text,
    }
}

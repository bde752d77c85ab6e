//! `/why`: for whom the last answer of a chat was given, what was called for it and what came of that. Whoever
//! administers is also told by which model, at which cost and with which rights.

use callgate_store::{Scope, Turn, TurnStart};

use crate::{
    Agent, TurnError, amount,
    language::Language,
    texts::{self, CalledMethod, Explanation, Inner},
    turn::TurnPlan,
};

/// Newest turns among which the last answer is looked for; commands are among them.
const NEWEST: u32 = 20;

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
        let others = TurnPlan::of(asked).others;
        let money = spent.money.map(amount);
        let explanation = Explanation {
            asked_by: asked.principal.user().into_owned(),
            others: others.iter().map(|one| one.user().into_owned()).collect(),
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
        let mut calls = Vec::new();
        for journal in journals {
            for call in self.store().journal().recorded(journal).await? {
                let error = match call.outcome.map(|outcome| outcome.result) {
                    Some(Ok(_)) => None,
                    Some(Err(error)) if sees_all => Some(error),
                    Some(Err(_)) | None => Some(String::new()),
                };
                calls.push(CalledMethod {
                    name: call.intent.method,
                    error,
                });
            }
        }
        Ok(calls)
    }
}

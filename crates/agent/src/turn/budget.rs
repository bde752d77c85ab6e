//! What a turn may still spend, asked before each round: a budget is never found out to be over
//! after the fact.

use callgate_store::{Scope, Spent};
use jiff::{Timestamp, tz::TimeZone};

use super::Turn;
use crate::{TurnError, settings::Allowance};

impl Turn {
    /// Why this turn must not go on, if so, in words for the user.
    pub(crate) async fn over_budget(&self) -> Result<Option<String>, TurnError> {
        let budgets = self.agent.settings().budgets.clone();
        let since = midnight();
        let mut scopes = vec![
            ("this turn", Scope::Turn(self.facts.turn), budgets.turn),
            (
                "you today",
                Scope::User {
                    user: &self.facts.user,
                    since,
                },
                budgets.user_day,
            ),
            ("everybody today", Scope::Everyone { since }, budgets.day),
        ];
        if let Some(conversation) = self.facts.conversation {
            let scope = Scope::Conversation(conversation);
            scopes.push(("this conversation", scope, budgets.conversation));
        }
        for (whose, scope, allowance) in scopes {
            if allowance == Allowance::default() {
                continue;
            }
            let spent = self.agent.store().turns().spent(scope).await?;
            if let Some(what) = allowance.exceeded_by(spent) {
                return Ok(Some(format!(
                    "The budget of {what} for {whose} is used up."
                )));
            }
        }
        Ok(None)
    }
}

impl Allowance {
    fn exceeded_by(self, spent: Spent) -> Option<&'static str> {
        let over = |limit: Option<u64>, spent: u64| limit.is_some_and(|limit| spent >= limit);
        if over(self.tokens, spent.tokens_in + spent.tokens_out) {
            return Some("tokens");
        }
        if over(self.calls, spent.calls) {
            return Some("calls");
        }
        over(self.seconds, spent.millis / 1_000).then_some("time")
    }
}

fn midnight() -> Timestamp {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let midnight = today.to_zoned(TimeZone::UTC);
    midnight.map_or(Timestamp::UNIX_EPOCH, |midnight| midnight.timestamp())
}

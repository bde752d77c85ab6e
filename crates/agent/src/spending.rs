//! Money and tokens: whether somebody may spend more, asked before each request to a model, and the
//! record of what was spent.

use std::fmt::Write;

use callgate_contract::{Caller, ConversationId, Models, Payer, SessionKey, Usage};
use callgate_store::{Charge, Expense, Scope, Spent};
use jiff::{Timestamp, tz::TimeZone};

use crate::{
    Agent, TurnError,
    settings::{Allowance, Budgets},
};

/// For whom a model is asked.
#[derive(Clone, Debug)]
pub(crate) struct Spender {
    pub(crate) session: SessionKey,
    pub(crate) user: String,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) payer: Payer,
}

impl Spender {
    pub(crate) fn of(caller: &Caller) -> Self {
        Spender {
            session: caller.session.clone(),
            user: caller.user.clone(),
            conversation: None,
            payer: caller.grant.budget.payer().clone(),
        }
    }

    pub(crate) fn charge(&self, model: &str, usage: Option<Usage>) -> Charge {
        Charge {
            model: model.to_owned(),
            usage,
            origin: self.payer.origin.clone(),
            method: self.payer.method.clone(),
        }
    }

    /// Each with whose it is, and what can be done about it.
    fn scopes(&self, agent: &Agent) -> Vec<Limit<'_>> {
        let budgets = agent.settings().budgets.clone();
        let since = midnight();
        let (user, session) = (&self.user, &self.session);
        let mut limits = vec![
            Limit {
                whose: "you today",
                key: "user_day",
                remedy: "More can be spent after midnight UTC",
                scope: Scope::User { user, since },
                allowance: budgets.user_day,
            },
            Limit {
                whose: "this chat today",
                key: "session_day",
                remedy: "More can be spent after midnight UTC",
                scope: Scope::Session { session, since },
                allowance: budgets.session_day,
            },
            Limit {
                whose: "everybody today",
                key: "day",
                remedy: "More can be spent after midnight UTC",
                scope: Scope::Everyone { since },
                allowance: budgets.day,
            },
        ];
        limits.extend(self.conversation.map(|id| Limit {
            whose: "this conversation",
            key: "conversation",
            remedy: "Begin another with /new",
            scope: Scope::Conversation(id),
            allowance: budgets.conversation,
        }));
        // Of a sub-agent the turn that began it all: its limits hold for the whole tree.
        limits.extend(self.payer.root.map(|turn| Limit {
            whose: "this turn",
            key: "turn",
            remedy: "Ask for less at once",
            scope: Scope::Turn(turn),
            allowance: budgets.turn,
        }));
        limits
    }
}

struct Limit<'a> {
    whose: &'static str,
    /// How the settings begin that hold it.
    key: &'static str,
    remedy: &'static str,
    scope: Scope<'a>,
    allowance: Allowance,
}

impl Agent {
    /// Why `spender` must not ask a model, if so, in words for the user.
    pub(crate) async fn over_budget(&self, spender: &Spender) -> Result<Option<String>, TurnError> {
        for limit in spender.scopes(self) {
            if limit.allowance == Allowance::default() {
                continue;
            }
            let spent = self.store().turns().spent(limit.scope).await?;
            if let Some(over) = limit.allowance.exceeded_by(spent) {
                return Ok(Some(limit.told(over, spent)));
            }
        }
        Ok(None)
    }

    /// What is not a round of a turn. The work is done by now, so a record that fails is only told
    /// of.
    pub(crate) async fn spent(&self, spender: &Spender, model: &str, usage: Option<Usage>) {
        let expense = Expense {
            turn: spender.payer.turn,
            session: spender.session.clone(),
            user: spender.user.clone(),
            charge: spender.charge(model, usage),
        };
        if let Err(error) = self.store().costs().add(&expense).await {
            tracing::warn!(model, %error, "what a model cost could not be written down");
        }
    }
}

/// A budget of money counts what has a price.
pub(crate) fn warn_of_unpriced(models: &Models, budgets: &Budgets) {
    let all = [
        budgets.turn,
        budgets.conversation,
        budgets.user_day,
        budgets.session_day,
        budgets.day,
    ];
    if all.iter().all(|allowance| allowance.money.is_none()) {
        return;
    }
    for model in models.all() {
        if model.model.about().price.is_none() {
            let model = &model.id;
            tracing::warn!(
                model,
                "no price is known: a budget of money counts it as free"
            );
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Tokens,
    Calls,
    Time,
    Money(u64),
}

impl Allowance {
    fn exceeded_by(self, spent: Spent) -> Option<Over> {
        let over = |limit: Option<u64>, spent: u64| limit.filter(|limit| spent >= *limit);
        let tokens = over(self.tokens, spent.tokens_in + spent.tokens_out).map(|_| Over::Tokens);
        let calls = || over(self.calls, spent.calls).map(|_| Over::Calls);
        let time = || over(self.seconds, spent.millis / 1_000).map(|_| Over::Time);
        let money = || over(self.money, spent.money.unwrap_or(0)).map(Over::Money);
        tokens.or_else(calls).or_else(time).or_else(money)
    }
}

impl Limit<'_> {
    fn told(&self, over: Over, spent: Spent) -> String {
        let (what, unit) = match over {
            Over::Tokens => ("tokens", "tokens"),
            Over::Calls => ("calls", "calls"),
            Over::Time => ("time", "seconds"),
            Over::Money(_) => ("money", "money"),
        };
        let mut text = format!("The budget of {what} for {} is used up", self.whose);
        if let Over::Money(limit) = over {
            let spent = amount(spent.money.unwrap_or(0));
            // Writing to a string cannot fail.
            let _ = write!(text, ": {spent} of {} are spent", amount(limit));
        }
        if matches!(over, Over::Money(_)) && spent.unpriced > 0 {
            let requests = match spent.unpriced {
                1 => "1 request".to_owned(),
                count => format!("{count} requests"),
            };
            let _ = write!(text, ", and {requests} whose price is not known");
        }
        let _ = write!(
            text,
            ". {}, or have the operator raise budget.{}_{unit}.",
            self.remedy, self.key
        );
        text
    }
}

/// Millionths in units: four digits after the point, two where that is all there is.
pub fn amount(millionths: u64) -> String {
    let (units, rest) = (millionths / 1_000_000, millionths % 1_000_000);
    match rest % 10_000 {
        0 => format!("{units}.{:02}", rest / 10_000),
        // Rounded up: what costs anything never counts as nothing.
        _ => {
            let rounded = millionths.div_ceil(100);
            format!("{}.{:04}", rounded / 10_000, rounded % 10_000)
        }
    }
}

fn midnight() -> Timestamp {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let midnight = today.to_zoned(TimeZone::UTC);
    midnight.map_or(Timestamp::UNIX_EPOCH, |midnight| midnight.timestamp())
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_are_short_and_never_nothing() {
        for (millionths, shown) in [
            (0, "0.00"),
            (1, "0.0001"),
            (500_000, "0.50"),
            (12_345, "0.0124"),
            (999_999, "1.0000"),
            (3_000_000, "3.00"),
        ] {
            assert_eq!(amount(millionths), shown);
        }
    }
}

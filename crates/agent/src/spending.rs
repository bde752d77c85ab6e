//! Money and tokens: whether somebody may ask a model for something, decided before the request is
//! sent by what it may take at most, and the record of what was spent. A budget is never found out
//! to be over after the fact: a request that it cannot hold is not made, and an answer is cut short
//! where the budget ends.
//!
//! Invariant: `Agent::admit` is the only place that asks a budget. It estimates the request on the high
//! side and limits the answer to what is left; a server that cannot write as much refuses the limit and
//! is asked without one.

mod holds;
mod limit;

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use callgate_contract::{
    Caller, Cancel, ConversationId, Models, NamedModel, Payer, Period, Principal, SessionKey, Usage,
};
use callgate_store::{Charge, Counted, Expense, Scope};
use jiff::Timestamp;

use crate::{
    Agent, TurnError,
    language::Language,
    limits::Asking,
    settings::{Allowance, Budgets},
    texts::BudgetKey,
};
use holds::Held;
pub(crate) use holds::Holds;
pub(crate) use limit::{Admission, Need, OutputLimit};
use limit::{Limit, Prices, tightest};

/// How long a request waits for others under way that hold what it needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// For whom a model is asked.
#[derive(Clone, Debug)]
pub(crate) struct Spender {
    pub(crate) session: SessionKey,
    pub(crate) principal: Principal,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) payer: Payer,
    /// Nobody wants the answer any more.
    pub(crate) stopped: Cancel,
    /// Of whoever is told where there is no room.
    pub(crate) language: Language,
}

impl Spender {
    pub(crate) fn of(caller: &Caller) -> Self {
        Spender {
            session: caller.session.clone(),
            principal: caller.principal.clone(),
            conversation: None,
            payer: caller.grant.budget.payer().clone(),
            stopped: caller.grant.budget.cancel().clone(),
            language: Language::default(),
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
    fn limits(&self, agent: &Agent) -> Vec<Limit<'_>> {
        let budgets = agent.settings().budgets.clone();
        let everybody = Counted::everybody(Period::Day.start(Timestamp::now()));
        let (principal, session, language) = (&self.principal, &self.session, self.language);
        let mut limits = vec![
            Limit {
                key: BudgetKey::Setting("user_day"),
                language,
                scope: Scope::Of(Counted {
                    principal: Some(principal),
                    ..everybody
                }),
                allowance: budgets.user_day,
            },
            Limit {
                key: BudgetKey::Setting("session_day"),
                language,
                scope: Scope::Of(Counted {
                    session: Some(session),
                    ..everybody
                }),
                allowance: budgets.session_day,
            },
            Limit {
                key: BudgetKey::Setting("day"),
                language,
                scope: Scope::Of(everybody),
                allowance: budgets.day,
            },
        ];
        limits.extend(self.conversation.map(|id| Limit {
            key: BudgetKey::Setting("conversation"),
            language,
            scope: Scope::Conversation(id),
            allowance: budgets.conversation,
        }));
        // Of a sub-agent the turn that began it all: its limits hold for the whole tree.
        limits.extend(self.payer.root.map(|turn| Limit {
            key: BudgetKey::Setting("turn"),
            language,
            scope: Scope::Turn(turn),
            allowance: budgets.turn,
        }));
        limits
    }
}

impl Agent {
    /// May `spender` ask `model` for what takes this much? The one place where budgets are asked.
    /// What comes back is kept until what was spent is on record.
    pub(crate) async fn admit(
        &self,
        spender: &Spender,
        model: &NamedModel,
        need: impl FnOnce() -> Need,
    ) -> Result<Admission, TurnError> {
        let who = Asking {
            session: &spender.session,
            // A turn may have less than its person, whose limits these are.
            role: self.role_of(&spender.principal),
            principal: &spender.principal,
            at: Timestamp::now(),
        };
        let held = self.limits_on(who).await?;
        if let Some(ban) = self.ban_among(&held, spender.language) {
            return Ok(Err(ban.text));
        }
        let mut limits = spender.limits(self);
        limits.extend(held.iter().map(|one| Limit {
            key: BudgetKey::Limit {
                per: one.limit.per,
                together: one.limit.together,
            },
            language: spender.language,
            scope: Scope::Of(one.counted(&spender.principal)),
            allowance: Allowance {
                tokens: one.limit.tokens,
                money: one.limit.millionths(),
                ..Allowance::default()
            },
        }));
        limits.retain(|limit| limit.allowance != Allowance::default());
        if limits.is_empty() {
            return Ok(Ok(None));
        }
        // Counting takes time, and mostly there is no limit.
        let need = need();
        let holds = &self.sessions().holds;
        let until = Instant::now() + PATIENCE;
        loop {
            let mut released = pin!(holds.released());
            released.as_mut().enable();
            {
                let _one_at_a_time = holds.admitting().await;
                // Before what is spent: of what ends meanwhile both may count, and never neither.
                let held: Vec<Held> = limits.iter().map(|it| holds.sum(&it.scope)).collect();
                let mut spent = Vec::with_capacity(limits.len());
                for limit in &limits {
                    spent.push(self.store().turns().spent(limit.scope).await?);
                }
                let prices = self.prices(model);
                let nothing = vec![Held::default(); limits.len()];
                let room = |held: &[Held]| tightest(&limits, &spent, held, need, &prices);
                let (now, alone) = (room(&held), room(&nothing));
                let over = Instant::now() >= until || spender.stopped.is_cancelled();
                if over || !need.gains_by_waiting(&now, &alone) {
                    return Ok(now.map(|room| {
                        let room = room?;
                        let hold = holds.take(spender, need.held(&room, &prices));
                        Some(room.held_by(hold))
                    }));
                }
            }
            // Others are being answered that may take less than they could.
            tokio::select! {
                () = released => {}
                () = tokio::time::sleep_until(until.into()) => {}
                () = spender.stopped.cancelled() => {}
            }
        }
    }

    /// Of the model and of those that may answer in its place; else the id of one whose price is
    /// not known.
    fn prices(&self, model: &NamedModel) -> Prices {
        let about = model.model.about();
        let others = about.fallback.iter().filter_map(|id| self.models().get(id));
        let others = others.map(|other| (&other.id, other.model.about().price));
        [(&model.id, about.price)]
            .into_iter()
            .chain(others)
            .map(|(id, price)| price.ok_or_else(|| id.clone()))
            .collect()
    }

    /// What is not a round of a turn. The work is done by now, so a record that fails is only told
    /// of.
    pub(crate) async fn spent(&self, spender: &Spender, model: &str, usage: Option<Usage>) {
        let expense = Expense {
            turn: spender.payer.turn,
            session: spender.session.clone(),
            principal: spender.principal.clone(),
            charge: spender.charge(model, usage),
        };
        if let Err(error) = self.store().costs().add(&expense).await {
            tracing::warn!(model, %error, "could not record the cost of a model request");
        }
    }
}

/// A budget of money cannot hold what has no price.
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
                "no price is known: it is not asked where a budget of money holds; \
                 give it a `price` in models.list"
            );
        }
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

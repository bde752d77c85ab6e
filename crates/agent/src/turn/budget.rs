//! What a turn may still spend, asked before each round: a budget is never found out to be over
//! after the fact. And what it spends, by whom.

use std::sync::Arc;

use callgate_contract::{Cancel, Grant, ModelReply, NamedModel, Payer, Usage};
use callgate_store::{Charge, TurnStart};

use super::Turn;
use crate::{TurnError, spending::Spender};

impl Turn {
    /// Why this turn must not go on, if so, in words for the user.
    pub(crate) async fn over_budget(&self) -> Result<Option<String>, TurnError> {
        self.agent.over_budget(&self.spender()).await
    }

    pub(crate) fn charge(&self, model: &str, usage: Option<Usage>) -> Charge {
        self.spender().charge(model, usage)
    }

    /// Of an answer that was cut off or stopped: its price is anybody's guess, but it has one.
    pub(crate) async fn charge_unfinished(&self, model: &NamedModel, reply: &ModelReply) {
        let usage = Usage {
            money: None,
            ..reply.usage.unwrap_or_default()
        };
        let model = reply.model.as_deref().unwrap_or(&model.id);
        self.agent.spent(&self.spender(), model, Some(usage)).await;
    }

    fn spender(&self) -> Spender {
        Spender {
            conversation: self.facts.conversation,
            ..Spender::of(&self.caller)
        }
    }
}

/// The grant, charged to this turn and stopped with it. What plugins and agents ask for is theirs to
/// answer for; a turn that a message began is nobody's.
pub(super) fn in_hands_of(start: &TurnStart, grant: &Grant, cancel: &Cancel) -> Arc<Grant> {
    let payer = match start.parent {
        None => Payer {
            root: Some(start.id),
            turn: Some(start.id),
            ..Payer::default()
        },
        Some(_) => {
            let above = grant.budget.payer().clone();
            Payer {
                root: above.root.or(Some(start.id)),
                turn: Some(start.id),
                ..above
            }
        }
    };
    Arc::new(Grant {
        methods: grant.methods.clone(),
        budget: grant.budget.of_turn(payer, cancel.clone()),
        expires: grant.expires,
    })
}

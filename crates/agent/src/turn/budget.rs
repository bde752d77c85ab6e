//! What a turn may still spend, asked before each request, and what it spends, by whom.

use std::sync::Arc;

use callgate_contract::{
    Cancel, FinishReason, Grant, ModelReply, ModelRequest, NamedModel, Payer, Usage,
};
use callgate_store::{Charge, TurnStart};

use super::Turn;
use crate::{
    TurnError,
    spending::{Admission, Need, OutputLimit, Spender},
    tokens,
};

impl Turn {
    /// May this turn ask `model` for what takes this much?
    pub(crate) async fn admit(
        &self,
        model: &NamedModel,
        need: impl FnOnce() -> Need,
    ) -> Result<Admission, TurnError> {
        self.agent.admit(&self.spender(), model, need).await
    }

    pub(crate) fn charge(&self, model: &str, usage: Option<Usage>) -> Charge {
        self.spender().charge(model, usage)
    }

    /// Of an answer that was cut off or stopped. What it took is a guess, but counts: a budget must
    /// also hold where nothing is ever answered to the end.
    pub(crate) async fn charge_unfinished(
        &self,
        model: &NamedModel,
        request: &ModelRequest,
        reply: &ModelReply,
    ) {
        let answered = reply
            .model
            .as_deref()
            .and_then(|id| self.agent.models().get(id));
        let model = answered.unwrap_or(model);
        let written = tokens::estimate(&reply.text) + tokens::estimate(&reply.reasoning);
        let mut usage = reply.usage.unwrap_or_default();
        usage.input = usage.input.max(tokens::most_of(request));
        usage.output = usage.output.max(written as u64);
        let price = model.model.about().price;
        usage.money = price.map(|price| price.of(&usage));
        let spender = self.spender();
        self.agent.spent(&spender, &model.id, Some(usage)).await;
    }

    fn spender(&self) -> Spender {
        Spender {
            conversation: self.facts.conversation,
            language: self.state.language(),
            ..Spender::of(&self.caller)
        }
    }
}

/// Was the answer cut short by what the budget had left, and by nothing else?
pub(crate) fn is_cut_short(
    request: &ModelRequest,
    limit: &OutputLimit,
    reply: &ModelReply,
) -> bool {
    let own = request.options.max_tokens;
    let written = reply.usage.map_or_else(
        || tokens::most(&reply.text) + tokens::most(&reply.reasoning),
        |usage| usage.output,
    );
    reply.finish == FinishReason::Length
        && own.is_none_or(|own| limit.tokens < own)
        && written >= u64::from(limit.tokens)
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
        budget: grant.budget.of_turn(payer, cancel.clone()),
        ..grant.clone()
    })
}

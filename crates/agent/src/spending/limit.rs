//! Limits in numbers and in words: whether what is left holds a request, how long its answer may
//! get, and what a user is told where it does not.

use callgate_contract::{ModelRequest, Price, Usage};
use callgate_store::{Scope, Spent};

use super::{
    amount,
    holds::{Held, Hold},
};
use crate::{
    language::Language,
    settings::Allowance,
    texts::{self, BudgetKey, BudgetName},
    tokens,
};

/// So much of an answer counts as spent while it is written. It may get longer; but if all that it
/// may take were held, one request would hold a whole budget.
const USUAL_ANSWER: u64 = 8_192;

/// An answer shorter than this is none: some providers refuse to give it.
const SHORTEST_ANSWER: u64 = 16;

/// What a request takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    /// Tokens to read, at most.
    input: u64,
    /// Tokens to write, at least.
    output: u64,
    /// And at most.
    wanted: u64,
}

impl Need {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let wanted = request.options.max_tokens.map_or(u64::MAX, u64::from);
        Need {
            input: tokens::most_of(request),
            output: SHORTEST_ANSWER.min(wanted),
            wanted,
        }
    }

    /// Of texts that become vectors: nothing is written.
    pub(crate) fn of_texts(texts: &[String]) -> Self {
        Need {
            input: texts.iter().map(|text| tokens::most(text)).sum(),
            output: 0,
            wanted: 0,
        }
    }

    /// Is it others under way that leave it no room, or less than a usual answer takes?
    pub(super) fn gains_by_waiting(
        &self,
        now: &Result<Option<Room>, String>,
        alone: &Result<Option<Room>, String>,
    ) -> bool {
        match (now, alone) {
            (Err(_), Ok(_)) => true,
            (Ok(Some(now)), Ok(Some(alone))) => {
                now.tokens < alone.tokens && now.tokens < self.wanted.min(USUAL_ANSWER)
            }
            _ => false,
        }
    }

    /// What is counted as spent while it is under way.
    pub(super) fn held(&self, room: &Room, prices: &Prices) -> Held {
        let output = room.tokens.min(self.wanted).min(USUAL_ANSWER);
        let usage = Usage {
            input: self.input,
            output,
            ..Usage::default()
        };
        let costs = prices.iter().flatten().map(|price| price.of(&usage));
        Held {
            tokens: self.input.saturating_add(output),
            money: costs.max().unwrap_or(0),
        }
    }
}

/// How long an answer may get, and what to tell the user when it would have been longer. While it
/// lives, what the request may take counts as spent.
#[derive(Debug)]
pub(crate) struct OutputLimit {
    pub(crate) tokens: u32,
    pub(crate) reached: String,
    _hold: Hold,
}

/// Whether a model may be asked. A refusal is in words for the user.
pub(crate) type Admission = Result<Option<OutputLimit>, String>;

/// Of all models that may answer; else the id of one whose price is not known.
pub(super) type Prices = Result<Vec<Price>, String>;

/// What one limit leaves for an answer.
#[derive(Debug)]
pub(super) struct Room {
    tokens: u64,
    reached: String,
}

impl Room {
    pub(super) fn held_by(self, hold: Hold) -> OutputLimit {
        OutputLimit {
            tokens: u32::try_from(self.tokens).unwrap_or(u32::MAX),
            reached: self.reached,
            _hold: hold,
        }
    }
}

/// The least room that any limit leaves; `None` where neither tokens nor money are limited. The
/// error says in words for the user which limit cannot hold the request.
pub(super) fn tightest(
    limits: &[Limit<'_>],
    spent: &[Spent],
    held: &[Held],
    need: Need,
    prices: &Prices,
) -> Result<Option<Room>, String> {
    let mut tightest: Option<Room> = None;
    for ((limit, spent), held) in limits.iter().zip(spent).zip(held) {
        if let Some(over) = limit.allowance.exceeded_by(*spent) {
            return Err(limit.told(over, *spent));
        }
        let tokens = limit.room_of_tokens(*spent, *held, need)?;
        let money = limit.room_of_money(*spent, *held, need, prices)?;
        let rooms = tightest.into_iter().chain(tokens).chain(money);
        tightest = rooms.min_by_key(|room| room.tokens);
    }
    Ok(tightest)
}

/// What may be spent by whom.
pub(super) struct Limit<'a> {
    pub(super) key: BudgetKey,
    /// Of whoever is told of it.
    pub(super) language: Language,
    pub(super) scope: Scope<'a>,
    pub(super) allowance: Allowance,
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
    /// `None` where tokens are not limited.
    fn room_of_tokens(&self, spent: Spent, held: Held, need: Need) -> Result<Option<Room>, String> {
        let Some(limit) = self.allowance.tokens else {
            return Ok(None);
        };
        let taken = spent.tokens_in + spent.tokens_out + held.tokens;
        let left = limit.saturating_sub(taken);
        let room = left.checked_sub(need.input);
        match room.filter(|room| *room >= need.output) {
            Some(room) => Ok(Some(self.room("tokens", room))),
            None => {
                let takes = need.input.saturating_add(need.output);
                Err(self.too_little("tokens", &left.to_string(), &takes.to_string()))
            }
        }
    }

    /// `None` where money is not limited.
    fn room_of_money(
        &self,
        spent: Spent,
        held: Held,
        need: Need,
        prices: &Prices,
    ) -> Result<Option<Room>, String> {
        let Some(limit) = self.allowance.money else {
            return Ok(None);
        };
        let taken = spent.money.unwrap_or(0) + held.money;
        let left = limit.saturating_sub(taken);
        let prices = prices.as_ref().map_err(|model| self.unpriced(model))?;
        let pays_for = |price: &Price| price.answer_for(left, need.input);
        // The dearest of those that may answer decides.
        let room = prices.iter().map(pays_for).min().flatten();
        match room.filter(|room| *room >= need.output) {
            Some(room) => Ok(Some(self.room("money", room))),
            None => {
                let least = Usage {
                    input: need.input,
                    output: need.output,
                    ..Usage::default()
                };
                let cost = prices.iter().map(|price| price.of(&least)).max();
                let cost = amount(cost.unwrap_or(0));
                Err(self.too_little("money", &amount(left), &cost))
            }
        }
    }

    fn room(&self, unit: &'static str, tokens: u64) -> Room {
        let reached = texts::budget_reached(self.name(unit));
        Room { tokens, reached }
    }

    fn too_little(&self, unit: &'static str, left: &str, takes: &str) -> String {
        texts::budget_too_small(self.name(unit), left, takes)
    }

    fn unpriced(&self, model: &str) -> String {
        texts::price_unknown(self.name("money"), model)
    }

    fn name(&self, unit: &'static str) -> BudgetName {
        BudgetName {
            language: self.language,
            key: self.key,
            unit,
        }
    }

    fn told(&self, over: Over, spent: Spent) -> String {
        let (unit, limit) = match over {
            Over::Tokens => ("tokens", None),
            Over::Calls => ("calls", None),
            Over::Time => ("seconds", None),
            Over::Money(limit) => ("money", Some(amount(limit))),
        };
        let paid = amount(spent.money.unwrap_or(0));
        let money = limit.as_deref().map(|limit| (paid.as_str(), limit));
        texts::budget_used_up(self.name(unit), money, spent.unpriced)
    }
}

//! How much people may ask for: which limits hold for somebody, whether one is reached, and what they are
//! told. Decided before any model is asked, from what the store has recorded; whoever is limited hears it
//! once for each period, and what else they say is kept and answered by nobody.

use std::cmp::min;

use callgate_contract::{Limit, Principal, Role, SessionKey};
use callgate_store::{Counted, CountedMessages, LogRow, UseOf, Used};
use jiff::Timestamp;

use crate::{
    Agent, Arrived, TurnError, amount,
    language::Language,
    texts::{self, Bounded},
    turn::TurnPlan,
};

/// A limit that holds for somebody.
#[derive(Debug)]
pub(crate) struct HeldLimit {
    pub(crate) limit: Limit,
    /// From when on it is counted: the period's beginning, or that of a ban.
    since: Timestamp,
    /// When there is more; `None` for never.
    ends: Option<Timestamp>,
}

/// Who asks for something, where and when.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) session: &'a SessionKey,
    pub(crate) role: Role,
    pub(crate) principal: &'a Principal,
    pub(crate) at: Timestamp,
}

/// What somebody is told instead of an answer.
pub(crate) struct Refusal {
    pub(crate) text: String,
    /// It was said in this period, or not yet.
    since: Timestamp,
}

impl HeldLimit {
    fn new(limit: Limit, made_at: Option<Timestamp>, at: Timestamp) -> Self {
        let period = limit.per.start(at);
        let (since, ends) = if limit.is_ban() {
            (made_at.unwrap_or(period), limit.until)
        } else {
            let next = limit.per.end(at);
            (
                period,
                Some(limit.until.map_or(next, |until| min(until, next))),
            )
        };
        HeldLimit { limit, since, ends }
    }

    /// Whose deeds count against it.
    pub(crate) fn counted<'a>(&'a self, principal: &'a Principal) -> Counted<'a> {
        let Limit { person, key, .. } = &self.limit;
        let is_shared = self.limit.together && person.is_none() && key.is_none();
        Counted {
            principal: (!is_shared).then_some(principal),
            session: self.limit.group.as_ref(),
            platform: self.limit.platform.as_deref(),
            since: self.since,
        }
    }

    fn reached(&self, used: Used) -> Option<Bounded> {
        let Limit {
            messages, tokens, ..
        } = self.limit;
        let is_over = |most: Option<u64>, used: u64| most.filter(|most| used >= *most);
        let money = self.limit.millionths();
        is_over(messages, used.messages)
            .map(Bounded::Messages)
            .or_else(|| is_over(tokens, used.tokens).map(Bounded::Tokens))
            .or_else(|| is_over(money, used.money).map(|most| Bounded::Money(amount(most))))
    }

    fn refusal(&self, bounded: &Bounded, language: Language) -> Refusal {
        let ends = self
            .ends
            .map(|ends| ends.strftime("%Y-%m-%d %H:%M UTC").to_string());
        Refusal {
            text: texts::limited(language, bounded, &self.limit, ends.as_deref()),
            since: self.since,
        }
    }
}

impl Agent {
    /// All that hold for somebody now.
    pub(crate) async fn limits_on(&self, who: Asking<'_>) -> Result<Vec<HeldLimit>, TurnError> {
        let Asking {
            session,
            role,
            principal,
            at,
        } = who;
        let set = self.store().limits().list().await?;
        let set = set.iter().map(|one| (&one.limit, Some(one.made_at)));
        let settings = self.settings();
        let configured = settings.limits.iter().map(|limit| (limit, None));
        let holding = configured
            .chain(set)
            .filter(|(limit, _)| limit.holds_at(at) && limit.is_about(session, role, principal));
        Ok(holding
            .map(|(limit, made_at)| HeldLimit::new(limit.clone(), made_at, at))
            .collect())
    }

    /// Is one of them reached? At most one statement, and none where there are no others than bans.
    pub(crate) async fn refusal(
        &self,
        who: Asking<'_>,
        messages: CountedMessages<'_>,
        language: Language,
    ) -> Result<Option<Refusal>, TurnError> {
        let held = self.limits_on(who).await?;
        if let Some(ban) = self.ban_among(&held, language) {
            return Ok(Some(ban));
        }
        if held.is_empty() {
            return Ok(None);
        }
        let uses = held.iter().map(|one| UseOf {
            counted: one.counted(who.principal),
            messages: one.limit.messages,
            spending: one.limit.tokens.is_some() || one.limit.money.is_some(),
        });
        let uses: Vec<UseOf<'_>> = uses.collect();
        let used = self.store().limits().used(&uses, messages).await?;
        let mut each = held.iter().zip(used);
        Ok(each.find_map(|(one, used)| Some(one.refusal(&one.reached(used)?, language))))
    }

    pub(crate) fn ban_among(&self, held: &[HeldLimit], language: Language) -> Option<Refusal> {
        let ban = held.iter().find(|one| one.limit.is_ban())?;
        Some(ban.refusal(&Bounded::Messages(0), language))
    }

    /// Is whoever sent this row beyond a limit?
    pub(crate) async fn refusal_of(
        &self,
        row: &LogRow,
        role: Role,
    ) -> Result<Option<Refusal>, TurnError> {
        let who = Asking {
            session: &row.session,
            role,
            principal: &row.principal(),
            at: row.at,
        };
        let language = Language::of_parts(&row.parts);
        self.refusal(who, CountedMessages::Before(row.id), language)
            .await
    }

    /// Nobody answers the row. Its sender is told why, if they wanted an answer and have not heard it.
    pub(crate) async fn refuse(
        &self,
        row: &LogRow,
        role: Role,
        refusal: Refusal,
        wanted: bool,
    ) -> Result<Arrived, TurnError> {
        let plan = TurnPlan {
            refusal: Some(refusal.text.clone()),
            ..TurnPlan::default()
        };
        let one_at_a_time = self.sessions().refusing.lock().await;
        let whose = (&row.session, &row.principal());
        let turns = self.store().turns();
        let is_told = !wanted
            || turns
                .is_begun_with(whose, refusal.since, &plan.to_json())
                .await?;
        if is_told {
            self.store().log().dismiss(&[row.id]).await?;
            return Ok(Arrived::Heard);
        }
        let (start, claim) = self.begin_without_rounds(row, role, &plan).await?;
        drop(one_at_a_time);
        claim.ends_with(self.reply(&start, refusal.text).await)?;
        Ok(Arrived::Command)
    }
}

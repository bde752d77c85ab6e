//! Timers that the operator plans for a session, once or again and again: the bot says the text as it is, or
//! is asked with it. Each time of one fires once, whatever crashes; of those that passed while nobody
//! was there the last one does, unless that is long ago.

use callgate_contract::{Principal, Provenance, Role, SessionKey};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MAX_TIMER_TEXT, Repeat, Timer, Timers, check_room};
use crate::{
    StoreError, Zone,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// What is later than this is not made up for.
const LATEST: SignedDuration = SignedDuration::from_hours(1);

/// What the text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimerAct {
    /// It goes out as it is; no model is asked.
    Say,
    /// It begins a turn.
    Ask,
}

impl TimerAct {
    pub(super) fn provenance(self) -> Provenance {
        match self {
            TimerAct::Say => Provenance::Announcement,
            TimerAct::Ask => Provenance::Planned,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimerPlan {
    pub act: TimerAct,
    /// `None` for once.
    pub repeat: Option<Repeat>,
    pub zone: Zone,
    /// Quiet hours and the cap of the session do not hold for it.
    pub regardless: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTimer {
    pub id: Uuid,
    pub session: SessionKey,
    pub text: String,
    pub due_at: Timestamp,
    pub plan: TimerPlan,
}

impl Timers<'_> {
    pub async fn plan(&self, timer: &PlannedTimer) -> Result<(), StoreError> {
        match timer.text.len() {
            1..=MAX_TIMER_TEXT => {}
            length => return Err(StoreError::TimerSize { length }),
        }
        let timer = timer.clone();
        self.0
            .write(move |tx| {
                let (by, plan) = (Principal::Operator, &timer.plan);
                tx.execute(
                    "INSERT INTO timer (id, session, user_name, principal, role, due_at, text,
                                        created_at, state, act, repeats, timezone, regardless)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'waiting', ?9, ?10, ?11, ?12)",
                    parameters![
                        timer.id,
                        timer.session.to_string(),
                        by.user().as_ref(),
                        by.to_string(),
                        row::word(Role::Operator)?,
                        timer.due_at.as_millisecond(),
                        timer.text.as_bytes(),
                        row::now(),
                        row::word(plan.act)?,
                        plan.repeat.map(|repeat| repeat.to_string()),
                        String::from(plan.zone.clone()),
                        plan.regardless,
                    ],
                )?;
                check_room(tx, &timer.session)
            })
            .await
    }
}

/// `None` for a timer that a person has set.
pub(super) fn read_plan(row: &Row) -> Result<Option<TimerPlan>, StoreError> {
    let act: Option<String> = get(row, "act")?;
    let Some(act) = act else {
        return Ok(None);
    };
    let repeat: Option<String> = get(row, "repeats")?;
    let zone: Option<String> = get(row, "timezone")?;
    Ok(Some(TimerPlan {
        act: row::read_word("timer", act)?,
        repeat: repeat
            .map(|repeat| row::read_word("timer", repeat))
            .transpose()?,
        zone: row::read_word("timer", zone.unwrap_or_default())?,
        regardless: row::read_flag(get(row, "regardless")?),
    }))
}

/// What comes again waits for its next time, without the ones before.
pub(crate) fn put_off(tx: &mut dyn Tx, row: &Row, now: Timestamp) -> Result<(), StoreError> {
    let (id, due): (Uuid, _) = (get(row, "id")?, row::read_time(get(row, "due_at")?)?);
    let next = read_plan(row)?.and_then(|plan| {
        let zone = plan.zone.time_zone();
        plan.repeat?.next(due, now, &zone)
    });
    if let Some(next) = next {
        let update = "UPDATE timer SET due_at = ?2 WHERE id = ?1";
        tx.execute(update, parameters![id, next.as_millisecond()])?;
    }
    Ok(())
}

/// The time that is due and not too long ago, once: from here on the timer waits for the next one, or has
/// ended. `None` also where another was faster.
pub(super) fn claim(
    tx: &mut dyn Tx,
    timer: &Timer,
    plan: &TimerPlan,
) -> Result<Option<Timestamp>, StoreError> {
    let (due, now) = (timer.due_at, row::read_time(row::now())?);
    if due > now {
        return Ok(None);
    }
    let zone = plan.zone.time_zone();
    let latest = match plan.repeat {
        Some(repeat) => repeat.latest(due, now, &zone),
        None => due,
    };
    let is_late = now.duration_since(latest) > LATEST;
    let next = plan.repeat.and_then(|repeat| repeat.next(due, now, &zone));
    let state = match (next, is_late) {
        (Some(_), _) => "waiting",
        (None, false) => "fired",
        (None, true) => "missed",
    };
    let claimed = tx.writes_one(
        "UPDATE timer SET state = ?3, due_at = ?4
         WHERE id = ?1 AND state = 'waiting' AND due_at = ?2",
        parameters![
            timer.id,
            due.as_millisecond(),
            state,
            next.unwrap_or(due).as_millisecond()
        ],
    )?;
    Ok((claimed && !is_late).then_some(latest))
}

//! Timers that wait, of a session and of all; and planning one.

use callgate_contract::SessionKey;
use callgate_store::{PlannedTimer, Repeat, Timer, TimerAct, TimerPlan, Zone};
use jiff::{Timestamp, civil::DateTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{List, Page};
use crate::{Capability, Listing, Operation, Requester, Service, ServiceError};

/// In all sessions, the next one first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListTimers {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListTimers {
    type Response = List<TimerView>;
    const NAME: &'static str = "timers.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let timers = service.store().timers().all().await?;
        let views = timers.into_iter().map(TimerView::from).collect();
        self.page.of(views, |timer| timer.id.clone())
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListSessionTimers {
    pub session: SessionKey,
}

impl Operation for ListSessionTimers {
    type Response = List<TimerView>;
    const NAME: &'static str = "timers.list_of_session";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let timers = service.store().timers().list(&self.session).await?;
        Ok(List::whole(
            timers.into_iter().map(TimerView::from).collect(),
        ))
    }
}

/// Has the bot speak in a session at a time, once or again and again. Give `at`, `repeat` or both: the
/// first time is `at`, else the next that `repeat` names.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanTimer {
    pub session: SessionKey,
    pub text: String,
    /// `say`: the text goes out as it is. `ask`: the model is asked with it, in the operator's name.
    pub act: TimerAct,
    /// A time with its offset, or one of the zone such as `2026-12-24T08:00`.
    #[serde(default)]
    pub at: Option<String>,
    /// `daily 08:00` or `every 30 minutes`.
    #[serde(default)]
    pub repeat: Option<String>,
    /// A name such as `Asia/Shanghai`, or `+08:00`; the machine's where none is given.
    #[serde(default)]
    pub zone: Option<String>,
    /// Also in quiet hours, and beyond the cap per hour.
    #[serde(default)]
    pub regardless: bool,
}

impl Operation for PlanTimer {
    type Response = TimerView;
    const NAME: &'static str = "timers.plan";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let hint = "docs/speaking.md shows how timers are planned";
        let refused = |error: String| ServiceError::invalid(error, hint);
        if self.text.trim().is_empty() {
            return Err(refused("the text is blank".to_owned()));
        }
        let zone = self.zone.unwrap_or_default().parse::<Zone>();
        let zone = zone.map_err(|error| refused(error.to_string()))?;
        let repeat = self.repeat.map(|text| text.parse::<Repeat>()).transpose();
        let repeat = repeat.map_err(|error| refused(error.to_string()))?;
        let now = Timestamp::now();
        let due_at = match (self.at, repeat) {
            (Some(at), _) => moment(&at, &zone).map_err(refused)?,
            (None, Some(repeat)) => {
                let next = repeat.next(now, now, &zone.time_zone());
                next.ok_or_else(|| refused("there is no such time".to_owned()))?
            }
            (None, None) => return Err(refused("give at or repeat".to_owned())),
        };
        if due_at <= now {
            return Err(refused(format!("{due_at} is over")));
        }
        let timer = PlannedTimer {
            id: Uuid::now_v7(),
            session: self.session,
            text: self.text,
            due_at,
            plan: TimerPlan {
                act: self.act,
                repeat,
                zone,
                regardless: self.regardless,
            },
        };
        let timers = service.store().timers();
        timers.plan(&timer).await?;
        let set = timers.list(&timer.session).await?;
        let set = set.into_iter().find(|one| one.id == timer.id);
        set.map(TimerView::from).ok_or_else(|| {
            let message = format!("timer {} has been cancelled meanwhile", timer.id);
            ServiceError::not_found(message, Listing::Timers)
        })
    }
}

fn moment(text: &str, zone: &Zone) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let local: Option<DateTime> = text.parse().ok();
    let moment = local.and_then(|local| zone.time_zone().to_timestamp(local).ok());
    moment.ok_or_else(|| format!("'{text}' is no time: write 2026-12-24T08:00"))
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CancelTimer {
    pub session: SessionKey,
    pub id: String,
}

impl Operation for CancelTimer {
    type Response = ();
    const NAME: &'static str = "timers.cancel";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let CancelTimer { session, id } = self;
        let cancelled = match id.parse() {
            Ok(id) => service.store().timers().cancel(&session, id).await?,
            Err(_) => false,
        };
        if cancelled {
            Ok(())
        } else {
            let message = format!("no timer {id} waits in {session}");
            Err(ServiceError::not_found(message, Listing::Timers))
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimerView {
    pub id: String,
    pub session: SessionKey,
    pub user: String,
    pub text: String,
    #[schemars(with = "String")]
    pub due_at: Timestamp,
    /// None for one that was set in the chat, or by a plugin.
    pub act: Option<TimerAct>,
    /// None for once.
    pub repeat: Option<Repeat>,
    /// Also in quiet hours, and beyond the cap per hour.
    pub regardless: bool,
}

impl From<Timer> for TimerView {
    fn from(timer: Timer) -> Self {
        TimerView {
            id: timer.id.to_string(),
            session: timer.session,
            user: timer.user,
            text: timer.text,
            due_at: timer.due_at,
            act: timer.plan.as_ref().map(|plan| plan.act),
            repeat: timer.plan.as_ref().and_then(|plan| plan.repeat),
            regardless: timer.plan.is_some_and(|plan| plan.regardless),
        }
    }
}

//! Timers that wait, of a session and of all.

use callgate_contract::SessionKey;
use callgate_store::Timer;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{List, Page};
use crate::{Capability, Hint, Operation, Requester, Service, ServiceError};

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
            Err(ServiceError::not_found(message, Hint::None))
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
}

impl From<Timer> for TimerView {
    fn from(timer: Timer) -> Self {
        TimerView {
            id: timer.id.to_string(),
            session: timer.session,
            user: timer.user,
            text: timer.text,
            due_at: timer.due_at,
        }
    }
}

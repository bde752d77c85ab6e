//! Messages and their turns, as the command line puts them through.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use callgate_agent::{Agent, Arrived, CallReport, Override, TurnEvent, TurnReport, Watch, Wiring};
use callgate_contract::{JournalId, Message, Mode, Part, Role, SessionKey};
use callgate_store::{Incoming, Sender};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use super::{Observer, Service, outlets::Outlets};
use crate::{
    Event, Hear, ServiceError, operations::ContinuedTurn, remote::OPERATOR, request::SendMessage,
};

impl Service {
    pub async fn agent(&self) -> Result<Agent, ServiceError> {
        self.with_plugins().await;
        self.with_servers(None).await;
        let agent = self.agent.get_or_try_init(|| self.wire()).await?;
        Ok(agent.clone())
    }

    /// Each persona is a method too; with none, no agent is needed to offer them.
    pub(super) async fn offer_personas(&self) -> Result<(), ServiceError> {
        if self.agent.get().is_none() && !self.store.personas().list().await?.is_empty() {
            self.agent().await?;
        }
        Ok(())
    }

    /// `None` where nobody needed one yet.
    pub fn running_agent(&self) -> Option<&Agent> {
        self.agent.get()
    }

    /// Called with the agent as soon as there is one; for surfaces that need it.
    pub fn when_agent_is_made(&self, hook: impl FnOnce(&Agent) + Send + 'static) {
        match self.agent.get() {
            Some(agent) => hook(agent),
            None => self.agent_hooks.lock().push(Box::new(hook)),
        }
    }

    pub(super) async fn wire(&self) -> Result<Agent, ServiceError> {
        let agent = Agent::new(Wiring {
            coder: self.coder.clone(),
            models: self.find_models().await?,
            settings: self.config.turns(),
            listeners: vec![self.metrics.clone(), self.plugins().listener()],
            outbox: Arc::new(Outlets {
                live: self.live.clone(),
                remote: self.remote.outlet(),
            }),
            packages: self.packages.clone(),
            sessions: Default::default(),
        });
        agent.search_by_meaning(&self.meanings);
        agent.register_personas().await?;
        agent.register_host().map_err(ServiceError::internal)?;
        for hook in self.agent_hooks.lock().drain(..) {
            hook(&agent);
        }
        Ok(agent)
    }

    /// What waits for the session goes out first, then the message goes through the pipeline.
    pub(super) async fn send(
        &self,
        message: SendMessage,
        observer: Observer,
    ) -> Result<Json, ServiceError> {
        let agent = self.agent().await?;
        let session = message.session;
        let role = role_at_the_terminal(&message.user);
        let incoming = Incoming {
            session: session.clone(),
            sender: Sender {
                id: message.user.clone(),
                name: message.user,
            },
            parts: vec![Part::text(message.text)],
            message_id: None,
            hidden: false,
            mentioned: true,
        };
        let overrule = Override {
            mode: message.mode,
            model: message.model,
            role,
            debounce: Some(Duration::ZERO),
        };
        let hear = observer.events.unwrap_or_else(|| Arc::new(|_| true));
        let _listening = self.live.listen(&session, hear.clone());
        agent.deliver(&session).await;
        let stopping = async {
            observer.cancel.cancelled().await;
            agent.stop(&session);
            pending::<Infallible>().await
        };
        let calls = Calls::default();
        let arrived = tokio::select! {
            arrived = agent.arrive(incoming, overrule, calls.watch(hear.clone())) => arrived?,
            never = self.tell_approvals(&session, &hear) => match never {},
            never = stopping => match never {},
        };
        Ok(told(&arrived, calls.taken()))
    }

    /// Until the asker leaves.
    pub(super) async fn listen(
        &self,
        session: &SessionKey,
        observer: Observer,
    ) -> Result<Json, ServiceError> {
        let agent = self.agent().await?;
        let hear = observer.events.unwrap_or_else(|| Arc::new(|_| true));
        let _listening = self.live.listen(session, hear.clone());
        agent.deliver(session).await;
        match self.tell_approvals(session, &hear).await {}
    }

    pub(super) async fn prompt(
        &self,
        session: &SessionKey,
        user: &str,
        mode: Option<Mode>,
    ) -> Result<Json, ServiceError> {
        let agent = self.agent().await?;
        let overrule = Override {
            mode,
            role: role_at_the_terminal(user),
            ..Override::default()
        };
        let preview = agent.preview(session, user, overrule).await?;
        Ok(json!(preview))
    }

    /// Has this turn, or another one, its session now?
    pub(super) async fn is_answering(&self, turn: JournalId) -> Result<bool, ServiceError> {
        let session = self.store.turns().get(turn).await?.start.session;
        Ok(self.agent().await?.is_answering(&session))
    }

    /// Goes on with a turn whose approval was answered. `None` if it does so by itself, its session
    /// being `answering`: it waits still, or another turn has the session and this one comes after.
    pub(super) async fn resume_after_approval(
        &self,
        turn: JournalId,
        approval: i64,
        answering: bool,
    ) -> Result<Option<ContinuedTurn>, ServiceError> {
        let agent = self.agent().await?;
        let session = self.store.turns().get(turn).await?.start.session;
        let watch = {
            let (live, session) = (self.live.clone(), session.clone());
            Watch::new(move |event| live.tell(&session, Event::Turn(event)))
        };
        if answering {
            tokio::spawn(async move {
                if let Err(error) = agent.go_on_after(approval, watch).await {
                    tracing::warn!(turn = %turn.0, %error, "a turn could not go on");
                }
            });
            return Ok(None);
        }
        let messages: Arc<Mutex<Vec<Message>>> = Arc::default();
        let hear: Hear = {
            let messages = messages.clone();
            Arc::new(move |event| {
                if let Event::Message(message) = event {
                    messages.lock().push(message);
                }
                true
            })
        };
        let _listening = self.live.listen(&session, hear);
        agent.go_on_after(approval, watch).await?;
        let finish = self.store.turns().get(turn).await?.finish;
        let stop = finish.map_or(json!("approval"), |finish| json!(finish.stop));
        Ok(Some(ContinuedTurn {
            turn,
            stop: stop.as_str().unwrap_or_default().to_owned(),
            messages: std::mem::take(&mut *messages.lock()),
        }))
    }
}

/// Whoever can type commands on this data directory is its operator. Speaking for somebody else, they
/// have that one's rights.
fn role_at_the_terminal(user: &str) -> Option<Role> {
    (user == OPERATOR).then_some(Role::Operator)
}

/// What was seen of one message's turn, also where a plugin asked for it. A mutex, since calls may be
/// made side by side; held for a push.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    calls: Vec<CallReport>,
    ended: Option<TurnReport>,
}

impl Calls {
    fn watch(&self, hear: Hear) -> Watch {
        let seen = self.0.clone();
        Watch::new(move |event| {
            let mut seen = seen.lock();
            match &event {
                TurnEvent::Call { call } => seen.calls.push(call.clone()),
                TurnEvent::Finished { report } => seen.ended = Some(report.clone()),
                _ => {}
            }
            drop(seen);
            hear(Event::Turn(event));
        })
    }

    fn taken(&self) -> Seen {
        std::mem::take(&mut self.0.lock())
    }
}

fn told(arrived: &Arrived, seen: Seen) -> Json {
    let Seen { calls, ended } = seen;
    let (rounds, stop) = match (arrived, &ended) {
        (Arrived::Turn(report), _) | (Arrived::Taken, Some(report)) => (
            report.rounds,
            report.stop.map_or(json!("approval"), |stop| json!(stop)),
        ),
        (Arrived::Command | Arrived::Joined | Arrived::Taken, _) => (0, json!("answered")),
        (Arrived::Heard | Arrived::Repeated, _) => (0, json!("silent")),
    };
    json!({ "type": "turn", "rounds": rounds, "stop": stop, "calls": calls })
}

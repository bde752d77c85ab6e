//! Messages and their turns, as the command line puts them through.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use callgate_agent::{Agent, Arrived, CallReport, Override, TurnEvent, TurnReport, Watch, Wiring};
use callgate_contract::{JournalId, Message, Part, SessionKey};
use callgate_store::{Incoming, KeyHandle, Sender};
use parking_lot::Mutex;
use serde_json::json;

use super::{Observer, Service, outlets::Outlets};
use crate::{
    Capability, Event, EventListener, Live, Requester, ServiceError,
    operations::{ContinuedTurn, SendMessage, SentMessage},
    scope::OPERATOR,
};

/// Of the name that a sender gives a message.
const LONGEST_NAME: usize = 255;

impl Service {
    pub async fn agent(&self) -> Result<Agent, ServiceError> {
        self.with_plugins().await;
        self.with_servers(None).await;
        let agent = self.agent.made.get_or_try_init(|| self.wire()).await?;
        Ok(agent.clone())
    }

    /// Each persona is a method too; with none, no agent is needed to offer them.
    pub(crate) async fn offer_personas(&self) -> Result<(), ServiceError> {
        if self.agent.made.get().is_none() && !self.store.personas().list().await?.is_empty() {
            self.agent().await?;
        }
        Ok(())
    }

    /// `None` where nobody needed one yet.
    pub fn running_agent(&self) -> Option<&Agent> {
        self.agent.made.get()
    }

    /// Called with the agent as soon as there is one; for surfaces that need it.
    pub fn when_agent_is_made(&self, hook: impl FnOnce(&Agent) + Send + 'static) {
        match self.agent.made.get() {
            Some(agent) => hook(agent),
            None => self.agent.hooks.lock().push(Box::new(hook)),
        }
    }

    pub(super) async fn wire(&self) -> Result<Agent, ServiceError> {
        self.with_servers_of_leftovers().await?;
        let agent = Agent::new(Wiring {
            coder: self.code.coder.clone(),
            models: self.find_models().await?,
            settings: self.config().turns(),
            listeners: vec![self.metrics.clone(), self.plugins().listener()],
            outbox: Arc::new(Outlets {
                live: self.live.clone(),
                remote: self.remote.outlet(),
                platforms: self.platforms.clone(),
            }),
            packages: self.code.packages.clone(),
            sessions: Default::default(),
        });
        agent.search_by_meaning(&self.agent.meanings);
        agent.register_personas().await?;
        agent.register_host().map_err(ServiceError::internal)?;
        for hook in self.agent.hooks.lock().drain(..) {
            hook(&agent);
        }
        Ok(agent)
    }

    /// At the terminal it is waited for; a server that has just begun says so.
    pub(crate) async fn agent_for(&self, requester: &Requester) -> Result<Agent, ServiceError> {
        match requester {
            Requester::Terminal => self.agent().await,
            Requester::Key(_) => {
                let agent = self.agent.made.get().cloned();
                agent.ok_or_else(ServiceError::starting)
            }
        }
    }

    /// What waits for the session goes out first, then the message goes through the pipeline. `None` if
    /// it is stored and nobody waits for what follows.
    pub async fn send_message(
        &self,
        requester: &Requester,
        message: SendMessage,
        observer: Observer,
    ) -> Result<Option<SentMessage>, ServiceError> {
        let mut parts: Vec<Part> = message.text.into_iter().map(Part::text).collect();
        parts.extend(message.parts);
        if parts.is_empty() {
            let what = "there is nothing in this message";
            return Err(ServiceError::invalid(what, "give text or parts"));
        }
        let agent = self.agent_for(requester).await?;
        let (session, own) = (message.session, requester.user());
        let acting = requester.acting(&session, message.user.as_deref());
        let user = message.user.unwrap_or_else(|| own.clone());
        if user != own {
            requester.require(Capability::Operator)?;
        }
        let incoming = Incoming {
            session: session.clone(),
            sender: Sender {
                id: user.clone(),
                name: user.clone(),
            },
            parts: parts.clone(),
            message_id: message
                .idempotency_key
                .map(|key| message_id(requester, &key))
                .transpose()?,
            hidden: false,
            mentioned: true,
            sent_at: None,
        };
        let overrule = Override {
            mode: message.mode,
            model: message.model,
            principal: Some(acting),
            // Whoever is spoken for has the rights of their own.
            role: (user == own).then(|| requester.role()),
            key: requester.key().map(str::to_owned),
            debounce: Some(Duration::ZERO),
            platform: None,
        };
        let followed = observer.events.map(|hear| {
            let listening = self.live.listen(&session, hear.clone());
            (hear, listening)
        });
        let hear = followed.as_ref().map(|(hear, _)| hear.clone());
        if hear.is_some() {
            agent.deliver(&session).await;
        }
        let seen = TurnRecorder::default();
        let watch = seen.watch(self.live.clone(), session.clone(), hear.clone());
        let accepted = agent.accept(incoming, overrule, watch).await?;
        if accepted.parts() != parts {
            return Err(ServiceError::conflict(
                "this key was given to another message",
                "an Idempotency-Key names one message: give each its own",
            ));
        }
        if !message.wait {
            accepted.leave();
            return Ok(None);
        }
        let stopping = async {
            observer.cancel.cancelled().await;
            agent.stop(&session);
            pending::<Infallible>().await
        };
        let telling = async {
            match &hear {
                Some(hear) => self.tell_approvals(&session, hear).await,
                None => pending().await,
            }
        };
        let arrived = tokio::select! {
            arrived = accepted.outcome() => arrived?,
            never = telling => match never {},
            never = stopping => match never {},
        };
        Ok(Some(seen.into_sent(arrived)))
    }

    /// The key by which somebody asks; what they began ends by it.
    pub(super) fn key_of(&self, requester: &Requester) -> Option<KeyHandle> {
        requester.key().map(|key| self.store.keys().handle(key))
    }

    /// Until the asker leaves.
    pub async fn listen(
        &self,
        session: &SessionKey,
        observer: Observer,
    ) -> Result<Infallible, ServiceError> {
        let agent = self.agent().await?;
        let hear = observer.events.unwrap_or_else(|| Arc::new(|_| true));
        let _listening = self.live.listen(session, hear.clone());
        agent.deliver(session).await;
        Ok(self.tell_approvals(session, &hear).await)
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
                if let Err(error) = agent.resume_after_approval(approval, watch).await {
                    tracing::warn!(turn = %turn.0, %error, "could not resume a turn");
                }
            });
            return Ok(None);
        }
        let messages: Arc<Mutex<Vec<Message>>> = Arc::default();
        let hear: EventListener = {
            let messages = messages.clone();
            Arc::new(move |event| {
                if let Event::Message(message) = event {
                    messages.lock().push(message);
                }
                true
            })
        };
        let _listening = self.live.listen(&session, hear);
        agent.resume_after_approval(approval, watch).await?;
        let finish = self.store.turns().get(turn).await?.finish;
        let stop = finish.map_or(json!("approval"), |finish| json!(finish.stop));
        Ok(Some(ContinuedTurn {
            turn,
            stop: stop.as_str().unwrap_or_default().to_owned(),
            messages: std::mem::take(&mut *messages.lock()),
        }))
    }
}

/// As the log knows the message: the name is the principal's own, and none that a platform gave.
fn message_id(requester: &Requester, name: &str) -> Result<String, ServiceError> {
    let printable = name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if !printable || !(1..=LONGEST_NAME).contains(&name.len()) {
        return Err(ServiceError::invalid(
            "this Idempotency-Key cannot be used",
            format!("give 1 to {LONGEST_NAME} printable ASCII characters"),
        ));
    }
    let owner = match requester {
        Requester::Terminal => OPERATOR,
        Requester::Key(key) => &key.id,
    };
    Ok(format!("api:{owner}:{name}"))
}

/// What was seen of one message's turn, also where a plugin asked for it. A mutex, since calls may be
/// made side by side; held for a push.
#[derive(Clone, Default)]
struct TurnRecorder(Arc<Mutex<(Vec<CallReport>, Option<TurnReport>)>>);

impl TurnRecorder {
    /// Told to those who subscribed, too.
    fn watch(&self, live: Arc<Live>, session: SessionKey, hear: Option<EventListener>) -> Watch {
        let seen = self.0.clone();
        Watch::new(move |event| {
            match &event {
                TurnEvent::Call { call } => seen.lock().0.push(call.clone()),
                TurnEvent::Finished { report } => seen.lock().1 = Some(report.clone()),
                _ => {}
            }
            if let Some(hear) = &hear {
                hear(Event::Turn(event.clone()));
            }
            live.tell(&session, Event::Turn(event));
        })
    }

    fn into_sent(self, arrived: Arrived) -> SentMessage {
        let (calls, ended) = std::mem::take(&mut *self.0.lock());
        SentMessage {
            arrived,
            calls,
            ended,
        }
    }
}

//! Arrival: a message is first a row of its session's log. Then it is a command, or is answered, or
//! neither; one turn at a time answers a session, and what arrives meanwhile joins it or waits.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use callgate_contract::{Cancel, Mode, Part, Role, SessionKey};
use callgate_store::{Conversation, Incoming, LogRow, Persona};

use crate::{Agent, TurnAsk, TurnError, TurnReport, Watch, commands::Command};

/// What became of a message. It is in the log in any case.
#[derive(Debug)]
pub enum Arrived {
    /// The platform delivered it before.
    Repeated,
    /// Nobody wanted an answer.
    Heard,
    Command,
    /// Another turn has taken it along.
    Joined,
    Turn(TurnReport),
}

/// The sessions that are being answered.
#[derive(Default)]
pub struct Sessions {
    /// A mutex held for a map lookup only; the lock of a session is inside.
    answering: Mutex<HashMap<SessionKey, Arc<Answering>>>,
}

/// One session's turn and delivery. The async locks are what makes each one at a time: held across
/// a whole turn, and across a whole delivery, which would otherwise send a message twice.
#[derive(Default)]
pub(crate) struct Answering {
    pub(crate) lock: tokio::sync::Mutex<()>,
    pub(crate) delivery: tokio::sync::Mutex<()>,
    /// Of the turn that runs now, so that `/stop` reaches it.
    cancel: Mutex<Option<Cancel>>,
}

impl Sessions {
    pub(crate) fn of(&self, session: &SessionKey) -> Arc<Answering> {
        let mut answering = self
            .answering
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Sessions nobody waits for are forgotten, so that the map does not grow for ever.
        answering.retain(|key, state| key == session || Arc::strong_count(state) > 1);
        answering.entry(session.clone()).or_default().clone()
    }

    /// Of the session's turn, if one runs.
    pub(crate) fn cancel(&self, session: &SessionKey) -> Option<Cancel> {
        let answering = self.of(session);
        let cancel = answering.cancel.lock();
        cancel.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How a message is to be answered, where the session's own choice or the operator's settings are
/// overruled.
#[derive(Clone, Debug, Default)]
pub struct Override {
    pub mode: Option<Mode>,
    pub model: Option<String>,
    /// Known by the way the message came, as of the operator at the terminal.
    pub role: Option<Role>,
    /// Zero where messages come one by one.
    pub debounce: Option<Duration>,
}

impl Agent {
    /// Stores the message, then does what is to be done about it.
    pub async fn arrive(
        &self,
        incoming: Incoming,
        overrule: Override,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let arrival = self.store().log().append_incoming(&incoming).await?;
        if arrival.repeated {
            return Ok(Arrived::Repeated);
        }
        let row = arrival.row;
        let role = overrule
            .role
            .unwrap_or_else(|| self.role_of(&incoming.sender.id));
        if let Some(command) = Command::read(&row.parts) {
            self.obey(command, &row, role, watch).await?;
            return Ok(Arrived::Command);
        }
        if !self.wants_answer(&row).await? {
            self.store().log().dismiss(&[row.id]).await?;
            return Ok(Arrived::Heard);
        }
        let debounce = overrule.debounce.unwrap_or(self.settings().debounce);
        tokio::time::sleep(debounce).await;
        self.answer(&row, role, overrule, watch).await
    }

    /// Does what is to be done about a message that was stored and not answered: a timer has
    /// fired, or a crash came between.
    pub async fn answer_stored(&self, row: &LogRow, watch: Watch) -> Result<Arrived, TurnError> {
        if !self.wants_answer(row).await? {
            self.store().log().dismiss(&[row.id]).await?;
            return Ok(Arrived::Heard);
        }
        let role = self.role_of(row.sender.as_ref().map_or("", |sender| &sender.id));
        self.answer(row, role, Override::default(), watch).await
    }

    /// Stops the session's turn; false if none runs.
    pub fn stop(&self, session: &SessionKey) -> bool {
        let cancel = self.sessions().cancel(session);
        cancel.inspect(Cancel::cancel).is_some()
    }

    /// Does a turn run in the session now?
    pub fn is_answering(&self, session: &SessionKey) -> bool {
        self.sessions().cancel(session).is_some()
    }

    pub(crate) fn role_of(&self, user: &str) -> Role {
        match self.settings().administrators.iter().any(|id| id == user) {
            true => Role::Operator,
            false => Role::User,
        }
    }

    /// Answers a stored message and all that wait with it.
    pub(crate) async fn answer(
        &self,
        row: &LogRow,
        role: Role,
        overrule: Override,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let answering = self.sessions().of(&row.session);
        let _one_at_a_time = answering.lock.lock().await;
        let waiting = self.store().log().unanswered(&row.session).await?;
        if !waiting.iter().any(|waiting| waiting.id == row.id) {
            return Ok(Arrived::Joined);
        }
        let cancel = Cancel::default();
        let set = |value: Option<Cancel>| {
            *answering
                .cancel
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = value;
        };
        set(Some(cancel.clone()));
        let turn = async {
            let ask = self.ask_for(row, &waiting, role, overrule, watch, cancel);
            self.turn(ask.await?).await
        };
        let report = turn.await;
        set(None);
        report.map(Arrived::Turn)
    }

    async fn ask_for(
        &self,
        row: &LogRow,
        waiting: &[LogRow],
        role: Role,
        overrule: Override,
        watch: Watch,
        cancel: Cancel,
    ) -> Result<TurnAsk, TurnError> {
        let conversation = self.conversation(&row.session).await?;
        let persona = self.store().personas().answering(&conversation).await?;
        self.compact_if_long(&conversation, persona.as_ref())
            .await?;
        let (mode, model) = self
            .chosen(&row.session, persona.as_ref(), overrule)
            .await?;
        let parts: Vec<Part> = waiting.iter().flat_map(|row| row.parts.clone()).collect();
        Ok(TurnAsk {
            session: row.session.clone(),
            user: row
                .sender
                .as_ref()
                .map_or_else(String::new, |sender| sender.id.clone()),
            role,
            parts,
            rows: waiting.iter().map(|row| row.id).collect(),
            conversation: Some(conversation.id),
            persona,
            mode,
            model,
            parent: None,
            watch,
            cancel,
        })
    }

    /// The mode and model of the session's next turn.
    pub(crate) async fn chosen(
        &self,
        session: &SessionKey,
        persona: Option<&Persona>,
        overrule: Override,
    ) -> Result<(Mode, String), TurnError> {
        let settings = self.store().settings().session(session).await?.value;
        let mode = overrule
            .mode
            .or(settings.mode)
            .or_else(|| persona.map(|persona| persona.mode));
        let model = overrule
            .model
            .or(settings.model)
            .or_else(|| persona.and_then(|persona| persona.model.clone()));
        let model = self.models().choose(model.as_deref()).id.clone();
        Ok((mode.unwrap_or_default(), model))
    }

    /// The session's current conversation, begun if there is none.
    pub(crate) async fn conversation(
        &self,
        session: &SessionKey,
    ) -> Result<Conversation, TurnError> {
        let current = self.store().conversations().current(session).await?;
        Ok(self
            .store()
            .conversations()
            .get_or_create(session, current)
            .await?)
    }
}

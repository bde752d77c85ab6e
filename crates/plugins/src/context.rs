//! What a frame tells of where it happens: session, user, channel, persona, folders. Sent along, so
//! that no plugin has to ask for it.

use std::collections::VecDeque;

use callgate_contract::{Caller, JournalId, MethodError, Role, SessionKey, SessionType, Value};
use callgate_store::{Persona, Store, StoreError};
use parking_lot::Mutex;

/// Runs and turns whose facts are remembered: a script makes many calls.
const REMEMBERED: usize = 64;

pub(crate) struct Contexts {
    store: Store,
    /// By journal, newest last. A mutex held for a look.
    known: Mutex<VecDeque<(JournalId, Value)>>,
}

/// Who speaks, where that is known better than the log knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSpeaker {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) role: Option<Role>,
}

impl Contexts {
    pub(crate) fn new(store: Store) -> Self {
        Contexts {
            store,
            known: Mutex::default(),
        }
    }

    /// The facts of a call, which are the same for all calls of one run or turn.
    pub(crate) async fn of_call(&self, caller: &Caller) -> Result<Value, MethodError> {
        let known = {
            let known = self.known.lock();
            let found = known.iter().find(|(journal, _)| *journal == caller.journal);
            found.map(|(_, facts)| facts.clone())
        };
        if let Some(facts) = known {
            return Ok(facts);
        }
        let speaker = KnownSpeaker {
            id: caller.principal.user().into_owned(),
            name: None,
            role: Some(caller.role),
        };
        let turn = Some(caller.journal);
        let facts = self.of(&caller.session, speaker, turn).await;
        let facts = facts.map_err(|error| MethodError::new(error.to_string()))?;
        let mut known = self.known.lock();
        known.push_back((caller.journal, facts.clone()));
        if known.len() > REMEMBERED {
            known.pop_front();
        }
        Ok(facts)
    }

    pub(crate) async fn of(
        &self,
        session: &SessionKey,
        speaker: KnownSpeaker,
        turn: Option<JournalId>,
    ) -> Result<Value, StoreError> {
        let home = self.store.sessions().open(session).await?;
        // Made, so that a plugin can write into them.
        if let Err(error) = self.store.files().session(&home) {
            tracing::warn!(%session, %error, "could not create the session's folders");
        }
        let folder = self.store.files().sessions_path().join(home.id.to_string());
        let folder = |name: &str| text(folder.join(name).display().to_string());
        let name = match speaker.name {
            Some(name) => name,
            None => {
                let known = self.store.log().name_of(session, &speaker.id).await?;
                known.unwrap_or_else(|| speaker.id.clone())
            }
        };
        let role = speaker.role.unwrap_or(Role::Member).to_plugins();
        let persona = self.persona(session).await?;
        Ok(dict(vec![
            ("session", text(session.to_string())),
            ("chat_key", text(session.chat_key())),
            (
                "user",
                dict(vec![
                    ("id", text(speaker.id)),
                    ("name", text(name.clone())),
                    ("nickname", text(name)),
                    ("role", text(role)),
                ]),
            ),
            (
                "channel",
                dict(vec![
                    ("id", text(channel_id(session))),
                    ("name", text(session.id())),
                    ("type", text(channel_type(session))),
                    ("adapter", text(session.platform())),
                ]),
            ),
            ("persona", persona.as_ref().map_or(Value::Null, describe)),
            ("shared", folder("shared")),
            ("uploads", folder("uploads")),
            (
                "turn",
                turn.map_or(Value::Null, |turn| text(turn.0.to_string())),
            ),
        ]))
    }

    async fn persona(&self, session: &SessionKey) -> Result<Option<Persona>, StoreError> {
        let conversations = self.store.conversations();
        let current = match conversations.current(session).await? {
            Some(current) => conversations.get(current).await?,
            None => None,
        };
        match current {
            Some(conversation) => self.store.personas().answering(&conversation).await,
            None => self.store.personas().default(Some(session)).await.map(Some),
        }
    }
}

/// Compat(nekro): the part of the chat key behind the adapter.
fn channel_id(session: &SessionKey) -> String {
    format!("{}_{}", channel_type(session), session.id())
}

fn channel_type(session: &SessionKey) -> &'static str {
    match session.kind() {
        SessionType::GroupMessage => "group",
        SessionType::FriendMessage => "private",
        SessionType::OtherMessage => "other",
    }
}

/// A persona as plugins see it.
pub(crate) fn describe(persona: &Persona) -> Value {
    dict(vec![
        ("id", Value::Int(persona.id)),
        ("name", text(persona.name.as_str())),
        ("system_prompt", text(persona.system_prompt.as_str())),
    ])
}

pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Str(text.into())
}

pub(crate) fn dict(entries: Vec<(&str, Value)>) -> Value {
    let entries = entries.into_iter();
    Value::Dict(entries.map(|(name, value)| (text(name), value)).collect())
}

//! Sessions: which there are, what was said in one, and going on in a copy.

use std::collections::BTreeSet;

use callgate_contract::SessionKey;
use callgate_store::Turn;
use serde_json::{Value as Json, json};

use super::Service;
use crate::ServiceError;

/// Turns that are shown of a session.
const TURNS: u32 = 20;

impl Service {
    pub(super) async fn sessions(&self) -> Result<Json, ServiceError> {
        let opened = self.store.sessions().list().await?;
        let conversations = self.store.conversations().list(None, None).await?;
        // A session has folders once code ran in it, and conversations once it was answered.
        let mut keys: Vec<SessionKey> = opened.into_iter().map(|session| session.key).collect();
        keys.extend(conversations.iter().rev().map(|it| it.session.clone()));
        let mut seen = BTreeSet::new();
        keys.retain(|key| seen.insert(key.to_string()));
        let mut sessions = Vec::new();
        for key in keys {
            let last = self.store.log().list(&key, 1).await?.pop();
            let count = conversations.iter().filter(|it| it.session == key).count();
            sessions.push(json!({
                "session": key,
                "conversations": count,
                "last": last.map(|row| json!({
                    "at": row.at.to_string(),
                    "role": row.role,
                    "parts": row.parts,
                })),
            }));
        }
        Ok(Json::Array(sessions))
    }

    pub(super) async fn session(&self, key: &SessionKey, limit: u32) -> Result<Json, ServiceError> {
        let log = self.store.log().list(key, limit).await?;
        let conversations = self.store.conversations().list(Some(key), None).await?;
        if log.is_empty() && conversations.is_empty() {
            return Err(unknown(key));
        }
        let turns = self.store.turns().list(key, TURNS).await?;
        Ok(json!({
            "session": key,
            "current": self.store.conversations().current(key).await?,
            "persona": self.store.personas().default(Some(key)).await?.name,
            "settings": self.store.settings().session(key).await?.value,
            "conversations": conversations,
            "turns": turns.iter().map(shown).collect::<Vec<_>>(),
            "log": log,
        }))
    }

    /// Copies the current conversation and goes on in the copy: the original stays as it is.
    pub(super) async fn fork(
        &self,
        key: &SessionKey,
        upto: Option<u64>,
    ) -> Result<Json, ServiceError> {
        let conversations = self.store.conversations();
        let Some(from) = conversations.current(key).await? else {
            return Err(unknown(key));
        };
        let copy = conversations.fork(from, upto).await?;
        conversations.switch(key, copy.id).await?;
        let messages = conversations.history(copy.id).await?.len();
        Ok(json!({
            "session": key,
            "conversation": copy.id,
            "from": from,
            "messages": messages,
        }))
    }
}

fn shown(turn: &Turn) -> Json {
    json!({
        "turn": turn.start.id,
        "mode": turn.start.mode,
        "model": turn.start.model,
        "persona": turn.start.persona,
        "started_at": turn.started_at.to_string(),
        "stop": turn.finish.as_ref().map(|finish| finish.stop),
    })
}

fn unknown(key: &SessionKey) -> ServiceError {
    ServiceError::refused(
        format!("nothing was said in {key} yet"),
        "see the sessions with `callgate session list`",
    )
}

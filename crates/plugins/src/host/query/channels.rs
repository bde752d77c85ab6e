//! `chat_channel`: the sessions, with what was chosen in them.

use callgate_contract::{MethodError, SessionKey};
use callgate_store::{Session, Store};
use serde_json::{Map, Value as Json, json};

use super::{
    super::failed,
    Row,
    condition::{Condition, equal_to},
    messages::chat_type,
    moment, overlay, text_of,
};

pub(super) async fn rows(store: &Store, wanted: &[Condition]) -> Result<Vec<Row>, MethodError> {
    let sessions = match equal_to(wanted, "chat_key") {
        None => store.sessions().list().await.map_err(failed)?,
        Some(key) => match key.parse::<SessionKey>() {
            Ok(key) => store
                .sessions()
                .get(&key)
                .await
                .map_err(failed)?
                .into_iter()
                .collect(),
            Err(_) => Vec::new(),
        },
    };
    let mut rows = Vec::with_capacity(sessions.len());
    for session in &sessions {
        rows.push(row(store, session).await?);
    }
    overlay::lay_over(store, "chat_channel", &mut rows).await?;
    Ok(rows)
}

async fn row(store: &Store, session: &Session) -> Result<Row, MethodError> {
    let settings = store
        .settings()
        .session(&session.key)
        .await
        .map_err(failed)?
        .value;
    let preset = match &settings.persona {
        Some(name) => store
            .personas()
            .get(name)
            .await
            .ok()
            .map(|persona| persona.id),
        None => None,
    };
    let conversations = store.conversations();
    let begun = match conversations.current(&session.key).await.map_err(failed)? {
        Some(current) => conversations.get(current).await.map_err(failed)?,
        None => None,
    };
    let began = begun.map_or(jiff::Timestamp::UNIX_EPOCH, |conversation| {
        conversation.created_at
    });
    let chat_key = session.key.chat_key();
    let channel = chat_key.split_once('-').map_or("", |(_, channel)| channel);
    let row = json!({
        "id": session.number,
        "is_active": !settings.muted,
        "observe_mode": false,
        "preset_id": preset,
        "data": "{}",
        "adapter_key": session.key.platform(),
        "channel_id": channel,
        "channel_name": session.key.id(),
        "channel_type": chat_type(&session.key),
        "chat_key": chat_key,
        "conversation_start_time": moment(began),
        "workspace_id": null,
        "create_time": moment(began),
        "update_time": moment(began),
    });
    match row {
        Json::Object(row) => Ok(row),
        _ => Ok(Map::new()),
    }
}

pub(super) async fn create(store: &Store, values: &Map<String, Json>) -> Result<Row, MethodError> {
    let key: SessionKey = text_of(values, "chat_key")
        .unwrap_or_default()
        .parse()
        .map_err(failed)?;
    let session = store.sessions().open(&key).await.map_err(failed)?;
    let made = row(store, &session).await?;
    let given = values.iter().filter(|(name, value)| {
        *name != "id" && made.contains_key(*name) && made.get(*name) != Some(value)
    });
    let given: Map<String, Json> = given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    update(store, &made, &given).await?;
    let mut rows = vec![row(store, &session).await?];
    overlay::lay_over(store, "chat_channel", &mut rows).await?;
    Ok(rows.remove(0))
}

pub(super) async fn update(
    store: &Store,
    row: &Row,
    values: &Map<String, Json>,
) -> Result<(), MethodError> {
    let key: SessionKey = text_of(row, "chat_key")
        .unwrap_or_default()
        .parse()
        .map_err(failed)?;
    let mut rest = values.clone();
    let active = rest.remove("is_active").and_then(|active| active.as_bool());
    let persona = match rest.remove("preset_id") {
        None => None,
        Some(preset) => Some(name_of(store, preset.as_i64()).await?),
    };
    if active.is_some() || persona.is_some() {
        let sessions = store.settings();
        let changed = sessions.change_session(&key, move |settings| {
            if let Some(active) = active {
                settings.muted = !active;
            }
            if let Some(persona) = persona {
                settings.persona = persona;
            }
        });
        changed.await.map_err(failed)?;
    }
    if rest.is_empty() {
        Ok(())
    } else {
        overlay::write(store, "chat_channel", row, &rest).await
    }
}

async fn name_of(store: &Store, preset: Option<i64>) -> Result<Option<String>, MethodError> {
    let Some(id) = preset.filter(|id| *id > 0) else {
        return Ok(None);
    };
    let personas = store.personas().list().await.map_err(failed)?;
    let found = personas.into_iter().find(|persona| persona.id == id);
    found
        .map(|persona| Some(persona.name))
        .ok_or_else(|| failed(format!("no preset {id}")))
}

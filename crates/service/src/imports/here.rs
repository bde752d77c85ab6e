//! What stands here, of whatever was or would be brought: its hash, and what is needed to put it back.

use callgate_store::{Key, NewPersona, Persona, StoreError};
use serde_json::{Value as Json, json};

use super::{Content, ForeignItem, ImportKind, conversations::History, files, reading::hash_of};
use crate::{Service, ServiceError};

/// One spelling of what is the same.
pub(super) fn canonical(mut persona: NewPersona) -> NewPersona {
    persona.begin_dialogs = Some(persona.begin_dialogs.unwrap_or_default());
    persona
}

impl ForeignItem {
    /// Of what stands there, and would stand here.
    pub(super) fn hash(&self) -> String {
        match &self.content {
            Content::Persona(persona) => hash_of(&canonical(persona.clone())),
            Content::Conversation(conversation) => conversation.history.hash(),
            Content::Administrator(account) => hash_of(account),
            Content::Model(entry, _) => hash_of(&written(&entry.table().to_string())),
            Content::Value(preference) => hash_of(&preference.value),
            Content::Files(files) => files.digest.hash.clone(),
            Content::Document { digest, .. } => digest.hash.clone(),
            Content::ClientKey(client) => hash_of(client),
        }
    }

    /// What it is called here, where that can be said before it is made.
    pub(super) fn made(&self) -> String {
        match &self.content {
            Content::Persona(persona) => persona.name.clone(),
            // Its id is given when it is made.
            Content::Conversation(_) => String::new(),
            Content::Administrator(account) => account.clone(),
            Content::Model(_, id) => id.clone(),
            Content::Value(value) => json!([value.scope, value.place, value.name]).to_string(),
            // Where its worker is, is known later.
            Content::Files(_) => String::new(),
            Content::Document { to, .. } => to.clone(),
            Content::ClientKey(client) => client.clone(),
        }
    }
}

fn written(table: &str) -> Json {
    json!(table.parse::<toml::Table>().unwrap_or_default())
}

/// The parts of a stored name of a plugin's value.
pub(super) fn value_key(made: &str) -> [String; 3] {
    serde_json::from_str(made).unwrap_or_default()
}

impl Service {
    /// `None` if there is nothing of that name.
    pub(super) async fn imported_hash(
        &self,
        kind: ImportKind,
        made: &str,
    ) -> Result<Option<String>, ServiceError> {
        // Not made yet, and nobody knows what it will be called.
        if made.is_empty() {
            return Ok(None);
        }
        Ok(match kind {
            ImportKind::Persona => self.persona_here(made).await?.map(|it| hash_of(&it)),
            ImportKind::Conversation => {
                let history = History::here(self.store(), made).await?;
                history.map(|history| history.hash())
            }
            ImportKind::Administrator => {
                let config = self.configured();
                let mut all = config
                    .agent
                    .administrators
                    .iter()
                    .cloned()
                    .map(String::from);
                all.find(|account| account == made).map(|it| hash_of(&it))
            }
            ImportKind::Model => {
                let config = self.configured();
                let mut models = config.models.list.iter();
                let found = models.find(|entry| entry.id() == made);
                found.map(|entry| hash_of(&json!(entry)))
            }
            ImportKind::PluginValue => {
                let [scope, place, name] = value_key(made);
                let preferences = self.store().preferences();
                let value = preferences.get(&scope, &place, &name).await?;
                value.map(|value| hash_of(&value))
            }
            ImportKind::Plugin => files::here(self.store(), &format!("plugins/{made}")).await?,
            ImportKind::PluginConfig | ImportKind::PluginData | ImportKind::ClientSettings => {
                files::here(self.store(), made).await?
            }
            ImportKind::Key => {
                let keys = self.store().keys().list().await?.into_iter();
                let mut valid = keys.filter(|key| key.revoked_at.is_none());
                // By its id once it is made, and by its client before.
                let is_it = |key: &Key| key.id == made || key.client.as_deref() == Some(made);
                let found = valid.find(is_it).and_then(|key| key.client);
                found.map(|client| hash_of(&client))
            }
            ImportKind::Platform | ImportKind::Other => None,
        })
    }

    pub(super) async fn persona_here(
        &self,
        name: &str,
    ) -> Result<Option<NewPersona>, ServiceError> {
        if name == Persona::built_in().name {
            return Ok(Some(canonical(Persona::built_in().into())));
        }
        match self.store().personas().get(name).await {
            Ok(persona) => Ok(Some(canonical(persona.into()))),
            Err(StoreError::UnknownPersona(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

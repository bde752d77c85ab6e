//! Making one thing here, through the operations that a person would use.

use callgate_contract::ConversationId;
use callgate_store::{ImportItem, NewPersona};
use serde_json::{Map, Value as Json, json};

use super::{Content, Fate, ForeignItem, files, importing::Importing};
use crate::{
    METHODS, News, Operation, Requester, Service, ServiceError,
    operations::{ChangeSettings, CreateKey, CreatedKey, SetPersona},
};

impl Importing<'_> {
    /// What is to be said of it, and is said nowhere else.
    pub(super) async fn make(
        &mut self,
        item: &ForeignItem,
        fate: Fate,
        record: &mut ImportItem,
    ) -> Result<Option<String>, ServiceError> {
        let id = self.begun().await?;
        let (service, requester) = (self.service, self.requester);
        if let Content::Conversation(conversation) = &item.content {
            let (session, history) = (&conversation.session, &conversation.history);
            if fate == Fate::New {
                let imports = service.store().imports();
                let new = history.new_conversation();
                let made = imports.conversation(id, record, session, new, conversation.current);
                return Ok(made.await.map(|_| None)?);
            }
            self.record(record).await?;
            let known: ConversationId = record.made.parse().map_err(ServiceError::internal)?;
            let update = history.clone().update();
            let conversations = service.store().conversations();
            conversations.update(session, Some(known), update).await?;
            return Ok(None);
        }
        self.record(record).await?;
        match &item.content {
            Content::Persona(persona) => {
                service.set_imported_persona(requester, persona).await?;
            }
            Content::Administrator(account) => {
                service
                    .change_administrators(requester, |all| all.push(account.clone()))
                    .await?;
            }
            Content::Model(entry, _) => {
                // It would be lost among others that cannot be used.
                service.configured().models()?;
                entry.append_to(service.config_file())?;
                service.read_config().await?;
                service.live().announce(&News::Models {});
            }
            Content::Value(preference) => service.store().preferences().set(preference).await?,
            Content::Document { text, .. } => {
                files::write(service.store(), &record.made, text.clone()).await?;
            }
            Content::ClientKey(client) => {
                let new = CreateKey {
                    scopes: vec![METHODS.to_owned()],
                    client: Some(client.clone()),
                    name: None,
                    expires: None,
                };
                let CreatedKey { id, key } = new.execute(service, requester).await?;
                record.made = id;
                self.record(record).await?;
                return Ok(Some(format!("its new key, shown once: {key}")));
            }
            Content::Conversation(_) | Content::Files(_) => {}
        }
        Ok(None)
    }
}

impl Service {
    pub(super) async fn set_imported_persona(
        &self,
        requester: &Requester,
        persona: &NewPersona,
    ) -> Result<(), ServiceError> {
        let set = SetPersona {
            name: persona.name.clone(),
            system_prompt: Some(persona.system_prompt.clone()),
            begin_dialogs: Some(persona.begin_dialogs.clone().unwrap_or_default()),
            methods: Some(persona.methods.clone()),
            mode: Some(persona.mode),
            model: Some(persona.model.clone()),
            default: None,
        };
        set.execute(self, requester).await.map(drop)
    }

    pub(super) async fn change_administrators(
        &self,
        requester: &Requester,
        change: impl FnOnce(&mut Vec<String>) + Send,
    ) -> Result<(), ServiceError> {
        let config = self.configured();
        let administrators = config.agent.administrators.iter().cloned();
        let mut all: Vec<String> = administrators.map(String::from).collect();
        change(&mut all);
        let all = match all.as_slice() {
            [] => Json::Null,
            all => json!(all),
        };
        let values = Map::from_iter([("agent.administrators".to_owned(), all)]);
        let changed = ChangeSettings { values }.execute(self, requester).await;
        changed.map(drop)
    }
}

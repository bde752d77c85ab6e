//! Undoing an import: what it made goes, what it replaced is put back. What was changed here since stays, and
//! so do the files of a plugin that does.

use std::collections::BTreeSet;

use callgate_contract::ConversationId;
use callgate_store::{ImportItem, NewPersona, Preference, Store, StoreError};

use super::{
    Fate, ImportKind, ImportLine,
    conversations::History,
    files,
    here::value_key,
    importing::{ALONE, ImportReport, failed},
};
use crate::{
    Operation, Requester, Service, ServiceError,
    operations::{DeleteModel, DeletePersona, RevokeKey},
};

pub(crate) async fn undo(
    service: &Service,
    requester: &Requester,
    id: i64,
) -> Result<ImportReport, ServiceError> {
    let _alone = ALONE.lock().await;
    let imports = service.store().imports();
    let import = imports.get(id).await?;
    if import.undone_at.is_some() {
        let error = format!("import {id} was undone before");
        let hint = "see the imports with `callgate import list`";
        return Err(ServiceError::conflict(error, hint));
    }
    let items = imports.items(id).await?;
    let mut undoing = Undoing {
        service,
        requester,
        staying: BTreeSet::new(),
        changed: BTreeSet::new(),
    };
    let mut lines = Vec::new();
    // Plugins first: nothing of theirs may still write where their files are taken away.
    let (plugins, others): (Vec<_>, Vec<_>) = items
        .into_iter()
        .partition(|item| item.kind == ImportKind::Plugin.word());
    for item in plugins.iter().chain(&others) {
        if let Some(kind) = ImportKind::read(&item.kind) {
            lines.push(undoing.take_back(kind, item).await?);
        }
    }
    for plugin in &undoing.changed {
        service.load_imported(plugin).await;
    }
    imports.undone(id).await?;
    files::forget(service.store(), id).await?;
    Ok(ImportReport {
        id: Some(id),
        system: import.system,
        folder: import.source,
        dry_run: false,
        items: lines,
    })
}

struct Undoing<'a> {
    service: &'a Service,
    requester: &'a Requester,
    /// Plugins that were changed since.
    staying: BTreeSet<String>,
    /// Plugins that are here, and whose files are what they were before.
    changed: BTreeSet<String>,
}

impl Undoing<'_> {
    async fn take_back(
        &mut self,
        kind: ImportKind,
        item: &ImportItem,
    ) -> Result<ImportLine, ServiceError> {
        let line = ImportLine::new(kind, &item.name, Fate::Kept);
        let of_plugin = matches!(kind, ImportKind::PluginConfig | ImportKind::PluginData);
        if of_plugin && self.staying.contains(&item.name) {
            return Ok(line.saying("its plugin stays"));
        }
        match self.service.imported_hash(kind, &item.made).await? {
            Some(here) if here == item.made_hash => {}
            Some(_) => {
                if kind == ImportKind::Plugin {
                    self.staying.insert(item.made.clone());
                }
                return Ok(line.saying("it was changed here since, and stays"));
            }
            None => {
                let line = ImportLine::new(kind, &item.name, Fate::Undone);
                return Ok(line.saying("it was gone already"));
            }
        }
        if of_plugin {
            self.changed.insert(item.name.clone());
        }
        Ok(match self.perform(kind, item).await {
            Ok(()) => ImportLine::new(kind, &item.name, Fate::Undone),
            Err(error) => failed(line, &error),
        })
    }

    async fn perform(&self, kind: ImportKind, item: &ImportItem) -> Result<(), ServiceError> {
        let (service, requester) = (self.service, self.requester);
        match kind {
            ImportKind::Persona => match previous::<NewPersona>(item)? {
                Some(persona) => service.set_imported_persona(requester, &persona).await,
                None => {
                    let name = item.made.clone();
                    let deleted = DeletePersona { name }.execute(service, requester).await;
                    deleted.map(drop)
                }
            },
            ImportKind::Conversation => Ok(conversation(service.store(), item).await?),
            ImportKind::Administrator => {
                let without = |all: &mut Vec<String>| all.retain(|it| *it != item.made);
                service.change_administrators(requester, without).await
            }
            ImportKind::Model => {
                let id = item.made.clone();
                let deleted = DeleteModel { id }.execute(service, requester).await;
                deleted.map(drop)
            }
            ImportKind::PluginValue => Ok(value(service.store(), item).await?),
            ImportKind::Plugin => service.take_plugin_back(item).await,
            ImportKind::PluginConfig | ImportKind::PluginData | ImportKind::ClientSettings => {
                files::put_back(service.store(), &item.made, item.previous.as_ref()).await
            }
            ImportKind::Key => {
                let id = item.made.clone();
                let revoked = RevokeKey { id }.execute(service, requester).await;
                revoked.map(drop)
            }
            ImportKind::Platform | ImportKind::Other => Ok(()),
        }
    }
}

fn previous<T: serde::de::DeserializeOwned>(item: &ImportItem) -> Result<Option<T>, ServiceError> {
    let previous = item.previous.clone();
    let read = previous.map(serde_json::from_value).transpose();
    read.map_err(ServiceError::internal)
}

async fn conversation(store: &Store, item: &ImportItem) -> Result<(), StoreError> {
    let damaged = |reason: String| StoreError::Damaged {
        what: "import",
        reason,
    };
    let id: ConversationId = item.made.parse().map_err(|_| damaged(item.made.clone()))?;
    let Some(found) = store.conversations().get(id).await? else {
        return Ok(());
    };
    let history: Option<History> = previous(item).map_err(|error| damaged(error.message))?;
    let conversations = store.conversations();
    match history {
        Some(history) => {
            let update = history.update();
            conversations
                .update(&found.session, Some(id), update)
                .await?
        }
        None => conversations.delete(&found.session, Some(id)).await?,
    };
    Ok(())
}

async fn value(store: &Store, item: &ImportItem) -> Result<(), StoreError> {
    let [scope, place, name] = value_key(&item.made);
    let preferences = store.preferences();
    match item.previous.clone() {
        Some(value) => {
            let before = Preference {
                scope,
                place,
                name,
                value,
            };
            preferences.set(&before).await
        }
        None => preferences.delete(&scope, &place, &name).await.map(drop),
    }
}

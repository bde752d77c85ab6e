//! One import, thing by thing: what becomes of each, and unless it is a rehearsal, making it. Each is written
//! down before it is made, so that what a crash leaves half done is found by the next run or undone.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use callgate_store::{ImportItem, KnownItem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    Fate, Foreign, ForeignItem, ImportKind, ImportLine, Secrets, System,
    decide::decide,
    files,
    reading::{DATA, Origin},
};
use crate::{Requester, Service, ServiceError};

/// One at a time: two would both find a thing missing and make it. Held for as long as an import takes.
pub(super) static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportReport {
    /// By which it can be undone; none where nothing was made.
    pub id: Option<i64>,
    pub system: String,
    pub folder: String,
    pub dry_run: bool,
    pub items: Vec<ImportLine>,
}

/// What is asked for.
pub(crate) struct Wanted {
    pub(crate) system: System,
    pub(crate) folder: PathBuf,
    pub(crate) dry_run: bool,
    pub(crate) secrets: Secrets,
}

pub(crate) async fn bring(
    service: &Service,
    requester: &Requester,
    wanted: Wanted,
) -> Result<ImportReport, ServiceError> {
    let _alone = ALONE.lock().await;
    let Wanted {
        system,
        folder,
        secrets,
        dry_run,
    } = wanted;
    let reading = tokio::task::spawn_blocking(move || system.read(&folder, secrets));
    let Foreign {
        origin,
        items,
        plugins,
        left_out,
    } = reading.await.map_err(ServiceError::internal)??;
    let mut importing = Importing {
        service,
        requester,
        system,
        dry_run,
        known: known(service, system, &origin.path).await?,
        origin,
        id: None,
        lines: Vec::new(),
    };
    for item in &items {
        importing.take(item).await?;
    }
    for plugin in &plugins {
        importing.take_plugin(plugin).await?;
    }
    let Importing {
        id,
        origin,
        mut lines,
        ..
    } = importing;
    lines.extend(left_out);
    // What failed at its only thing made none.
    if let Some(id) = id {
        service.store().imports().drop_empty(id).await?;
    }
    let made = lines
        .iter()
        .any(|line| matches!(line.fate, Fate::New | Fate::Changed));
    Ok(ImportReport {
        id: id.filter(|_| made),
        system: system.name().to_owned(),
        folder: origin.path.display().to_string(),
        dry_run,
        items: lines,
    })
}

/// By kind and name. Histories have ids of their own wherever the folder lies; other names are a folder's.
async fn known(
    service: &Service,
    system: System,
    path: &Path,
) -> Result<BTreeMap<(ImportKind, String), ImportItem>, ServiceError> {
    let path = path.display().to_string();
    let all = service.store().imports().known(system.name()).await?;
    let of_this = |known: KnownItem| {
        let kind = ImportKind::read(&known.item.kind)?;
        let is_here = known.source == path || kind == ImportKind::Conversation;
        is_here.then(|| ((kind, known.item.name.clone()), known.item))
    };
    Ok(all.into_iter().filter_map(of_this).collect())
}

pub(super) struct Importing<'a> {
    pub(super) service: &'a Service,
    pub(super) requester: &'a Requester,
    system: System,
    pub(super) dry_run: bool,
    pub(super) origin: Origin,
    known: BTreeMap<(ImportKind, String), ImportItem>,
    /// Once something is made.
    id: Option<i64>,
    pub(super) lines: Vec<ImportLine>,
}

impl Importing<'_> {
    async fn take(&mut self, item: &ForeignItem) -> Result<(), ServiceError> {
        let made = item.made();
        let (fate, record, line) = self.look(item.kind, &item.name, made, item.hash()).await?;
        let mut line = item.notes.iter().fold(line, ImportLine::saying);
        if item.kind == ImportKind::Model && fate == Fate::Changed {
            line.fate = Fate::Kept;
            let line = line.saying("it changed there: delete the model here and import again");
            self.lines.push(line);
            return Ok(());
        }
        if self.makes(fate) {
            line = self.perform(item, fate, record, line).await?;
        }
        self.lines.push(line);
        Ok(())
    }

    async fn perform(
        &mut self,
        item: &ForeignItem,
        fate: Fate,
        mut record: ImportItem,
        line: ImportLine,
    ) -> Result<ImportLine, ServiceError> {
        let id = self.begun().await?;
        if fate == Fate::Changed {
            let (service, made) = (self.service, &record.made);
            record.previous = match item.kind {
                ImportKind::ClientSettings => files::keep(service.store(), id, made, &DATA).await?,
                kind => service.imported_before(kind, made).await?,
            };
        }
        let error = match self.make(item, fate, &mut record).await {
            Ok(None) => return Ok(line),
            Ok(Some(said)) => return Ok(line.saying(said)),
            Err(error) => error,
        };
        let (kind, name) = (item.kind.word(), item.name.as_str());
        self.service
            .store()
            .imports()
            .forget(id, kind, name)
            .await?;
        Ok(failed(line, &error))
    }

    /// What would become of it, how it would be written down, and how it is told of.
    pub(super) async fn look(
        &self,
        kind: ImportKind,
        name: &str,
        made: String,
        hash: String,
    ) -> Result<(Fate, ImportItem, ImportLine), ServiceError> {
        let known = self.known.get(&(kind, name.to_owned()));
        let made = known.map_or(made, |known| known.made.clone());
        let here = self.service.imported_hash(kind, &made).await?;
        let (fate, why) = decide(&hash, here.as_deref(), known);
        let line = ImportLine::new(kind, name, fate).saying(why.unwrap_or_default());
        let record = ImportItem {
            kind: kind.word().to_owned(),
            name: name.to_owned(),
            made,
            source_hash: hash.clone(),
            made_hash: hash,
            previous: None,
        };
        Ok((fate, record, line))
    }

    pub(super) fn makes(&self, fate: Fate) -> bool {
        !self.dry_run && matches!(fate, Fate::New | Fate::Changed)
    }

    /// The import's number.
    pub(super) async fn begun(&mut self) -> Result<i64, ServiceError> {
        if let Some(id) = self.id {
            return Ok(id);
        }
        let source = self.origin.path.display().to_string();
        let imports = self.service.store().imports();
        let id = imports.begin(self.system.name(), &source).await?;
        self.id = Some(id);
        Ok(id)
    }

    /// Before it is made, and again when it is known what became of it.
    pub(super) async fn record(&mut self, item: &ImportItem) -> Result<(), ServiceError> {
        let id = self.begun().await?;
        Ok(self.service.store().imports().record(id, item).await?)
    }
}

pub(super) fn failed(mut line: ImportLine, error: &ServiceError) -> ImportLine {
    line.fate = Fate::Failed;
    line.saying(error.message.clone())
}

impl Service {
    /// What stands here, as it is put back. Of files, see [`super::files::keep`].
    async fn imported_before(
        &self,
        kind: ImportKind,
        made: &str,
    ) -> Result<Option<Json>, ServiceError> {
        Ok(match kind {
            ImportKind::Persona => {
                let persona = self.persona_here(made).await?;
                persona.and_then(|persona| serde_json::to_value(persona).ok())
            }
            ImportKind::Conversation => {
                let history = super::conversations::History::here(self.store(), made).await?;
                history.and_then(|history| serde_json::to_value(history).ok())
            }
            ImportKind::PluginValue => {
                let [scope, place, name] = super::here::value_key(made);
                let preferences = self.store().preferences();
                preferences.get(&scope, &place, &name).await?
            }
            _ => None,
        })
    }
}

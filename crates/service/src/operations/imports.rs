//! Coming from elsewhere, as the operator asks for it. No route leads here: it reads a folder of the asker's,
//! who is the same user on this machine.

use std::path::PathBuf;

use callgate_store::Import;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::List;
use crate::{
    Capability, Operation, Requester, Service, ServiceError,
    imports::{self, Secrets, Wanted},
};

pub use crate::imports::{Fate, ImportKind, ImportLine, ImportReport, System};

/// Brings what is new or changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportFolder {
    pub system: System,
    /// Absolute: whoever reads it may be somewhere else.
    pub folder: PathBuf,
    /// Only tell what would come.
    pub dry_run: bool,
    /// Keys of model providers too.
    pub with_secrets: bool,
}

impl Operation for ImportFolder {
    type Response = ImportReport;
    const NAME: &'static str = "imports.create";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let wanted = Wanted {
            system: self.system,
            folder: self.folder,
            dry_run: self.dry_run,
            secrets: if self.with_secrets {
                Secrets::Taken
            } else {
                Secrets::LeftOut
            },
        };
        imports::bring(service, requester, wanted).await
    }
}

/// Newest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListImports {}

impl Operation for ListImports {
    type Response = List<ImportView>;
    const NAME: &'static str = "imports.list";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let imports = service.store().imports().list().await?;
        Ok(List::whole(imports.into_iter().map(view).collect()))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportView {
    pub id: i64,
    pub system: String,
    pub folder: String,
    #[schemars(with = "String")]
    pub made_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub undone_at: Option<Timestamp>,
    /// How many things it made.
    pub items: u64,
}

fn view(import: Import) -> ImportView {
    ImportView {
        id: import.id,
        system: import.system,
        folder: import.source,
        made_at: import.made_at,
        undone_at: import.undone_at,
        items: import.items,
    }
}

/// Removes what it made. What was changed since stays, and the report says so.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoImport {
    pub id: i64,
}

impl Operation for UndoImport {
    type Response = ImportReport;
    const NAME: &'static str = "imports.undo";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        imports::undo(service, requester, self.id).await
    }
}

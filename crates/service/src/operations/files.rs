//! Files of a session: what code wrote into `/app/shared`, and what people handed in.

use callgate_contract::SessionKey;
use callgate_store::files::{EntryKind, SessionFolders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::List;
use crate::{Capability, Listing, Operation, Requester, Service, ServiceError};

/// Bytes of a file that is handed out or in.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
const ENTRIES: usize = 1_000;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListFiles {
    pub session: SessionKey,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileView {
    /// As code sees it.
    pub path: String,
    pub size: u64,
}

impl Operation for ListFiles {
    type Response = List<FileView>;
    const NAME: &'static str = "files.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let mut items = Vec::new();
        if let Some(folders) = service.session_folders(&self.session).await? {
            for (name, folder) in [("shared", &folders.shared), ("uploads", &folders.uploads)] {
                let entries = folder.list("", ENTRIES)?.into_iter();
                let files = entries.filter(|entry| entry.kind == EntryKind::File);
                items.extend(files.map(|file| FileView {
                    path: format!("/app/{name}/{}", file.name),
                    size: file.size,
                }));
            }
        }
        Ok(List::whole(items))
    }
}

impl Service {
    /// `path` is below `/app`, as `shared/NAME`.
    pub async fn read_file(
        &self,
        session: &SessionKey,
        path: &str,
    ) -> Result<Vec<u8>, ServiceError> {
        let Some(folders) = self.session_folders(session).await? else {
            let message = format!("no file '{path}'");
            return Err(ServiceError::not_found(message, Listing::Files));
        };
        let path = format!("/app/{path}");
        let (folder, name) = folders.resolve(&path)?;
        Ok(folder.read(name, MAX_FILE_BYTES)?)
    }

    pub async fn upload_file(
        &self,
        session: &SessionKey,
        name: &str,
        bytes: &[u8],
    ) -> Result<FileView, ServiceError> {
        let session = self.store().sessions().open(session).await?;
        let folders = self.store().files().session(&session)?;
        folders.uploads.write_atomic(name, bytes)?;
        Ok(FileView {
            path: format!("/app/uploads/{name}"),
            size: bytes.len() as u64,
        })
    }

    /// None of a session that nobody has spoken in.
    async fn session_folders(
        &self,
        session: &SessionKey,
    ) -> Result<Option<SessionFolders>, ServiceError> {
        let session = self.store().sessions().get(session).await?;
        let folders = session.map(|session| self.store().files().session(&session));
        Ok(folders.transpose()?)
    }
}

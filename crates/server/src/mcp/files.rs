//! Files of sessions as resources. The operator sees those of every session, anybody else those of
//! their own; names are resolved by `store::files` and by nothing else.

use base64::{Engine, prelude::BASE64_STANDARD};
use callgate_contract::media_type;
use callgate_service::Capability;
use callgate_store::{
    Session,
    files::{EntryKind, FileError, Folder, SessionFolders},
};
use rmcp::{
    ErrorData,
    model::{
        ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};
use serde_json::json;
use uuid::Uuid;

use super::{
    Mcp,
    handler::internal,
    page,
    uri::{FileUri, TEMPLATES},
    watched::Stamp,
    who::ClientIdentity,
};

/// Bytes of a file that is handed out.
const MOST: u64 = 16 << 20;
/// Files of one session that are listed, and how deep they are looked for.
const FILES: usize = 1_000;
const DEPTH: usize = 4;
const FOLDERS: [&str; 2] = ["shared", "uploads"];

/// The folders of one session.
pub(super) struct Home {
    id: Uuid,
    folders: SessionFolders,
}

impl Home {
    pub(super) fn new(mcp: &Mcp, session: &Session) -> Result<Self, FileError> {
        Ok(Home {
            id: session.id,
            folders: mcp.store().files().session(session)?,
        })
    }

    /// Of the session.
    pub(super) fn id(&self) -> Uuid {
        self.id
    }

    /// `None` while there is no such file.
    pub(super) fn stamp(&self, path: &str) -> Option<Stamp> {
        let (folder, name) = self.folders.resolve(path).ok()?;
        let found = folder.metadata(name).ok()?;
        Some((found.size, found.modified))
    }

    /// Of a file that a part names as code sees it; `None` if it cannot be had.
    pub(super) fn read(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        let (folder, name) = self.folders.resolve(path).ok()?;
        folder.read(name, most).ok()
    }

    pub(super) fn uri(&self, path: &str) -> Option<FileUri> {
        self.folders.resolve(path).ok()?;
        let path = path.strip_prefix("/app/").unwrap_or(path);
        Some(FileUri {
            session: self.id,
            path: path.to_owned(),
        })
    }

    /// Of files with their sizes, sorted, as `shared/NAME`.
    pub(super) fn names(&self) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        for name in FOLDERS {
            if let Ok((folder, _)) = self.folders.resolve(&format!("{name}/")) {
                walk(folder, "", name, DEPTH, &mut found);
            }
        }
        found.sort();
        found
    }
}

/// What cannot be listed is left out: code may remove it while we look.
fn walk(folder: &Folder, inside: &str, shown: &str, depth: usize, found: &mut Vec<(String, u64)>) {
    for entry in folder.list(inside, FILES).unwrap_or_default() {
        if found.len() >= FILES {
            return;
        }
        let name = match inside {
            "" => entry.name,
            inside => format!("{inside}/{}", entry.name),
        };
        match entry.kind {
            EntryKind::File => found.push((format!("{shown}/{name}"), entry.size)),
            EntryKind::Folder if depth > 0 => walk(folder, &name, shown, depth - 1, found),
            _ => {}
        }
    }
}

/// The sessions whose files `who` may see, in order.
pub(super) async fn sessions(mcp: &Mcp, who: &ClientIdentity) -> Result<Vec<Session>, ErrorData> {
    let sessions = mcp.store().sessions();
    if who.holds(Capability::Read) {
        return sessions.list().await.map_err(internal);
    }
    let own = who.session().map_err(internal)?;
    let own = sessions.get(&own).await.map_err(internal)?;
    Ok(own.into_iter().collect())
}

/// Whole sessions at a time, so that a cursor is the id of one.
pub(super) async fn list(
    mcp: &Mcp,
    who: &ClientIdentity,
    after: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let mut sessions = sessions(mcp, who).await?;
    sessions.sort_by_key(|session| session.id);
    if let Some(after) = after {
        sessions.retain(|session| session.id.to_string() > after);
    }
    let mut resources = Vec::new();
    let mut rest = sessions.into_iter().peekable();
    let mut next = None;
    while let Some(session) = rest.next() {
        let home = Home::new(mcp, &session).map_err(internal)?;
        for (path, size) in home.names() {
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            let description = format!("/app/{path} of the session {}", session.key);
            let uri = FileUri {
                session: session.id,
                path,
            };
            let resource = Resource::new(uri.to_string(), name).with_description(description);
            resources.push(resource.with_size(size));
        }
        if resources.len() >= page::PIECE && rest.peek().is_some() {
            next = Some(page::cursor(&session.id.to_string()));
            break;
        }
    }
    let mut listed = ListResourcesResult::with_all_items(resources);
    listed.next_cursor = next;
    Ok(listed)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let templates = TEMPLATES.map(|(template, name, description)| {
        ResourceTemplate::new(template, name).with_description(description)
    });
    ListResourceTemplatesResult::with_all_items(templates.into())
}

pub(super) async fn read(
    mcp: &Mcp,
    who: &ClientIdentity,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (home, path) = locate(mcp, who, uri).await?;
    let refused = |error: FileError| refused(uri, error);
    let (folder, name) = home.folders.resolve(&path).map_err(refused)?;
    let bytes = folder.read(name, MOST).map_err(refused)?;
    let contents = contents(uri.to_owned(), bytes, None);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Where the file at `uri` lies, or would lie: in a session that `who` may see.
pub(super) async fn locate(
    mcp: &Mcp,
    who: &ClientIdentity,
    uri: &str,
) -> Result<(Home, String), ErrorData> {
    let unknown = || missing(uri, "no such resource: resources/list shows them");
    let file = FileUri::parse(uri).ok_or_else(unknown)?;
    let sessions = sessions(mcp, who).await?;
    let session = sessions.iter().find(|session| session.id == file.session);
    let home = Home::new(mcp, session.ok_or_else(unknown)?).map_err(internal)?;
    let resolved = home.folders.resolve(&file.path);
    resolved.map_err(|error| refused(uri, error))?;
    Ok((home, file.path))
}

fn missing(uri: &str, why: &str) -> ErrorData {
    ErrorData::resource_not_found(why.to_owned(), Some(json!({ "uri": uri })))
}

fn refused(uri: &str, error: FileError) -> ErrorData {
    match error {
        error @ (FileError::NoOpenat2 | FileError::Io { .. }) => internal(error),
        error => missing(uri, &error.to_string()),
    }
}

/// Text as text; the media type by the bytes, or as somebody declared it, never by a name.
pub(super) fn contents(uri: String, bytes: Vec<u8>, declared: Option<&str>) -> ResourceContents {
    match (media_type(&bytes), String::from_utf8(bytes)) {
        (None, Ok(text)) => {
            ResourceContents::text(text, uri).with_mime_type(declared.unwrap_or("text/plain"))
        }
        (kind, text) => {
            let bytes = text.map_or_else(|error| error.into_bytes(), String::into_bytes);
            let kind = declared.or(kind).unwrap_or("application/octet-stream");
            let blob = ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri);
            blob.with_mime_type(kind)
        }
    }
}

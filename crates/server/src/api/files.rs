//! Files of a session: what code wrote into `/app/shared`, and what people handed in.

use axum::{
    Json as Body,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use callgate_contract::{SessionKey, media_type};
use callgate_store::files::{Entry, EntryKind, SessionFolders};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api, Outcome,
    input::{Path, Raw},
    list::List,
    problem::Problem,
    route::{Routes, Verb},
};

/// Bytes of a file that is handed out or in.
pub(super) const MOST: u64 = 64 << 20;
const ENTRIES: usize = 1_000;

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/files",
            "Files of a session",
            list,
        )
        .gives::<List<FileView>>();
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/files/{*path}",
            "A file's bytes",
            read,
        )
        .media("application/octet-stream");
    routes
        .add(
            Verb::Put,
            "/api/sessions/{session}/files/{*path}",
            "Hand in a file, as uploads/NAME",
            write,
        )
        .takes_bytes("application/octet-stream")
        .gives::<FileView>();
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileView {
    /// As code sees it.
    path: String,
    size: u64,
}

async fn folders(api: &Api, session: &SessionKey) -> Result<Option<SessionFolders>, Problem> {
    let session = api.store().sessions().get(session).await?;
    let folders = session.map(|session| api.store().files().session(&session));
    Ok(folders.transpose()?)
}

async fn list(State(api): State<Api>, Path(session): Path<SessionKey>) -> Outcome<List<FileView>> {
    let mut items = Vec::new();
    if let Some(folders) = folders(&api, &session).await? {
        for (name, folder) in [("shared", &folders.shared), ("uploads", &folders.uploads)] {
            let entries = folder.list("", ENTRIES)?;
            let files = entries.into_iter().filter(|it| it.kind == EntryKind::File);
            items.extend(files.map(
                |Entry {
                     name: file, size, ..
                 }| FileView {
                    path: format!("/app/{name}/{file}"),
                    size,
                },
            ));
        }
    }
    Ok(Body(List { items, next: None }))
}

async fn read(
    State(api): State<Api>,
    Path((session, path)): Path<(SessionKey, String)>,
) -> Result<Response, Problem> {
    let missing = || Problem::missing(format!("no file '{path}'"));
    let folders = folders(&api, &session).await?.ok_or_else(missing)?;
    let whole = format!("/app/{path}");
    let (folder, name) = folders.resolve(&whole)?;
    let bytes = folder.read(name, MOST)?;
    let kind = media_type(&bytes).unwrap_or("application/octet-stream");
    // Never as a page of ours: whatever code wrote is shown as media or saved, not run.
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let policy = HeaderValue::from_static("sandbox; default-src 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if !kind.starts_with("image/") && !kind.starts_with("audio/") {
        let save = HeaderValue::from_static("attachment");
        headers.insert(header::CONTENT_DISPOSITION, save);
    }
    Ok((headers, bytes).into_response())
}

async fn write(
    State(api): State<Api>,
    Path((session, path)): Path<(SessionKey, String)>,
    Raw(bytes): Raw,
) -> Outcome<FileView> {
    let Some(name) = path.strip_prefix("uploads/") else {
        let hint = "PUT .../files/uploads/NAME";
        return Err(Problem::bad("files are handed in as uploads").hint(hint));
    };
    let session = api.store().sessions().open(&session).await?;
    let folders = api.store().files().session(&session)?;
    folders.uploads.write_atomic(name, &bytes)?;
    Ok(Body(FileView {
        path: format!("/app/uploads/{name}"),
        size: bytes.len() as u64,
    }))
}

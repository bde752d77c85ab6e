//! Files of a session: what code wrote into `/app/shared`, and what people handed in.

use axum::{
    Json as Body,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use callgate_contract::{SessionKey, media_type};
use callgate_service::{
    Capability,
    operations::{FileView, ListFiles},
};

use super::{
    Api, Outcome,
    input::{Path, Raw},
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListFiles>(
        Verb::Get,
        "/api/sessions/{session}/files",
        "Files of a session",
    );
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/files/{*path}",
            "A file's bytes",
            read,
        )
        .media("application/octet-stream")
        .needs(Capability::Read);
    routes
        .add(
            Verb::Put,
            "/api/sessions/{session}/files/{*path}",
            "Hand in a file, as uploads/NAME",
            write,
        )
        .takes_bytes("application/octet-stream")
        .gives::<FileView>()
        .needs(Capability::Sessions);
}

async fn read(
    State(api): State<Api>,
    Path((session, path)): Path<(SessionKey, String)>,
) -> Result<Response, Problem> {
    let bytes = api.service().read_file(&session, &path).await?;
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
    let uploaded = api.service().upload_file(&session, name, &bytes).await?;
    Ok(Body(uploaded))
}

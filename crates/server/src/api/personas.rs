//! Personas: who answers.

use axum::{Extension, Json as Body, body::Bytes, extract::State};
use callgate_service::operations::{
    DeletePersona, GetPersona, ImportPersonas, ImportedPersona, List, ListPersonas, PreviewPersona,
    SetPersona,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Api, Outcome,
    access::Access,
    input::QueryParams,
    route::{Routes, Verb::*},
};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListPersonas>(Get, "/api/personas", "All personas");
    routes.operation::<GetPersona>(Get, "/api/personas/{name}", "One persona");
    routes.operation::<SetPersona>(Put, "/api/personas/{name}", "Make or change a persona");
    routes.operation::<PreviewPersona>(
        Post,
        "/api/personas/preview",
        "What a model would be asked with a persona that is not saved",
    );
    routes
        .add(
            Post,
            "/api/personas/import",
            "Take over a character card (PNG or JSON) or a persona of AstrBot (JSON)",
            import,
        )
        .query::<ImportOptions>()
        .takes_bytes("application/octet-stream")
        .performs::<ImportPersonas>()
        .gives::<List<ImportedPersona>>();
    routes.operation::<DeletePersona>(Delete, "/api/personas/{name}", "Delete a persona");
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ImportOptions {
    /// What to call it here; its own name where left out.
    name: Option<String>,
    /// In place of a persona of that name.
    #[serde(default)]
    replace: bool,
    /// Which of a card's greetings begins the chat; 0 is the usual one.
    #[serde(default)]
    greeting: usize,
}

/// The file is the body.
async fn import(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    QueryParams(options): QueryParams<ImportOptions>,
    file: Bytes,
) -> Outcome<List<ImportedPersona>> {
    let (name, greeting) = (options.name.as_deref(), options.greeting);
    let import = ImportPersonas::read(&file, name, greeting, options.replace)?;
    let imported = api.service().call(&access.principal(), import).await?;
    Ok(Body(imported))
}

//! Personas: who answers.

use axum::{Extension, Json as Body, extract::State};
use callgate_agent::Override;
use callgate_contract::{Mode, Origin, SessionKey};
use callgate_store::{NewPersona, Persona, PersonaUpdate, StoreError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    Api, Outcome,
    access::Access,
    input::{Given, Path},
    list::List,
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/personas", "All personas", list)
        .gives::<List<PersonaView>>();
    routes
        .add(Verb::Get, "/api/personas/{name}", "One persona", show)
        .gives::<PersonaView>();
    routes
        .add(
            Verb::Put,
            "/api/personas/{name}",
            "Make or change a persona",
            put,
        )
        .takes::<PersonaBody>()
        .gives::<PersonaView>();
    routes
        .add(
            Verb::Post,
            "/api/personas/preview",
            "What a model would be asked with a persona that is not saved",
            preview,
        )
        .takes::<Draft>()
        .gives::<Json>();
    routes.add(
        Verb::Delete,
        "/api/personas/{name}",
        "Delete a persona",
        delete,
    );
}

#[derive(Debug, Serialize, JsonSchema)]
struct PersonaView {
    name: String,
    system_prompt: String,
    /// User and assistant in turn.
    begin_dialogs: Vec<String>,
    /// None holds all methods, an empty list none.
    methods: Option<Vec<String>>,
    mode: Mode,
    model: Option<String>,
    /// It answers where nobody chose another.
    default: bool,
    #[schemars(with = "String")]
    updated_at: Timestamp,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PersonaBody {
    system_prompt: String,
    #[serde(default)]
    begin_dialogs: Vec<String>,
    methods: Option<Vec<String>>,
    #[serde(default)]
    mode: Mode,
    model: Option<String>,
    /// Make it the one that answers where nobody chose another, or no longer; left out, that stays
    /// as it is.
    default: Option<bool>,
}

async fn view(api: &Api, persona: Persona) -> Result<PersonaView, Problem> {
    let default = api.store().personas().default(None).await?;
    Ok(PersonaView {
        default: default.name == persona.name,
        name: persona.name,
        system_prompt: persona.system_prompt,
        begin_dialogs: persona.begin_dialogs.unwrap_or_default(),
        methods: persona.methods,
        mode: persona.mode,
        model: persona.model,
        updated_at: persona.updated_at,
    })
}

async fn list(State(api): State<Api>) -> Outcome<List<PersonaView>> {
    let mut items = vec![view(&api, Persona::built_in()).await?];
    for persona in api.store().personas().list().await? {
        items.push(view(&api, persona).await?);
    }
    Ok(Body(List { items, next: None }))
}

async fn show(State(api): State<Api>, Path(name): Path<String>) -> Outcome<PersonaView> {
    let built_in = Persona::built_in();
    let persona = if name == built_in.name {
        built_in
    } else {
        api.store().personas().get(&name).await?
    };
    Ok(Body(view(&api, persona).await?))
}

async fn put(
    State(api): State<Api>,
    Path(name): Path<String>,
    Given(body): Given<PersonaBody>,
) -> Outcome<PersonaView> {
    // Asked for first: a persona that is kept is a method too.
    let agent = api.agent()?;
    let personas = api.store().personas();
    let update = PersonaUpdate {
        system_prompt: Some(body.system_prompt.clone()),
        begin_dialogs: Some(body.begin_dialogs.clone()),
        methods: Some(body.methods.clone()),
        mode: Some(body.mode),
        model: Some(body.model.clone()),
    };
    let persona = match personas.update(&name, &update).await {
        Err(StoreError::UnknownPersona(_)) => {
            let new = NewPersona {
                name,
                system_prompt: body.system_prompt,
                begin_dialogs: Some(body.begin_dialogs),
                methods: body.methods,
                mode: body.mode,
                model: body.model,
            };
            personas.create(&new).await?
        }
        updated => updated?,
    };
    match body.default {
        Some(true) => personas.set_default(Some(&persona.name)).await?,
        Some(false) if personas.default(None).await?.name == persona.name => {
            personas.set_default(None).await?;
        }
        _ => {}
    }
    agent.register_personas().await?;
    Ok(Body(view(&api, persona).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Draft {
    #[serde(default)]
    name: String,
    system_prompt: String,
    #[serde(default)]
    begin_dialogs: Vec<String>,
    methods: Option<Vec<String>>,
    #[serde(default)]
    mode: Mode,
    model: Option<String>,
    /// Where it would answer; the key's own session where none is named.
    session: Option<SessionKey>,
}

async fn preview(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Given(draft): Given<Draft>,
) -> Outcome<Json> {
    let session = match draft.session {
        Some(session) => session,
        None => access.principal().session()?,
    };
    let overrule = Override {
        mode: Some(draft.mode),
        model: draft.model.clone(),
        role: Some(access.role()),
        ..Override::default()
    };
    let now = Timestamp::now();
    let persona = Persona {
        id: 0,
        name: draft.name,
        system_prompt: draft.system_prompt,
        begin_dialogs: Some(draft.begin_dialogs),
        methods: draft.methods,
        mode: draft.mode,
        model: draft.model,
        created_at: now,
        updated_at: now,
    };
    let agent = api.agent()?;
    let user = access.user();
    let preview = agent.preview_with(&session, &user, overrule, Some(persona));
    Ok(Body(serde_json::json!(preview.await?)))
}

async fn delete(State(api): State<Api>, Path(name): Path<String>) -> Outcome<()> {
    api.store().personas().delete(&name).await?;
    api.gate().unregister_origin(&Origin::Agent(name));
    Ok(Body(()))
}

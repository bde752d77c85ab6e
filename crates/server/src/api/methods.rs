//! Methods: which there are, and calling one.

use axum::{Extension, Json as Body, extract::State};
use callgate_contract::{
    Allowed, Budget, Caller, Effect, Exposure, Grant, JournalId, Kind, MethodInfo, SessionKey,
    Surface,
};
use callgate_gate::signature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::sync::Arc;

use super::{
    Api, Outcome,
    access::{Access, Scope},
    input::{Given, Params, Path},
    list::{List, Piece},
    problem::Problem,
    route::{Routes, Verb},
    sessions::page_session,
};
use callgate_service::{
    operations::{CallResult, MethodCallers, MethodStatistics},
    request::CallMethod,
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/methods",
            "Methods that can be called",
            list,
        )
        .query::<Search>()
        .gives::<List<MethodView>>()
        .scope(Scope::Methods);
    routes
        .add(Verb::Get, "/api/methods/{name}", "One method", show)
        .gives::<Whole>()
        .scope(Scope::Methods);
    routes
        .add(
            Verb::Post,
            "/api/methods/{name}/call",
            "Call a method",
            call,
        )
        .takes::<CallBody>()
        .gives::<CallResult>()
        .scope(Scope::Methods);
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    /// Words of the name, title or description.
    query: Option<String>,
    /// As `builtin` or `plugin:ID`.
    origin: Option<String>,
    kind: Option<Kind>,
    #[serde(flatten)]
    piece: Piece,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MethodView {
    name: String,
    title: String,
    description: String,
    doc: String,
    /// As Python shows it.
    signature: String,
    /// JSON Schema of an object.
    parameters: Json,
    kind: Kind,
    /// `builtin`, `plugin:ID`, `mcp:SERVER`, `client:ID` or `agent:PERSONA`.
    origin: String,
    exposure: Exposure,
    effect: Effect,
    deadline_seconds: f64,
}

impl From<&MethodInfo> for MethodView {
    fn from(info: &MethodInfo) -> Self {
        MethodView {
            name: info.name.clone(),
            title: info.title.clone(),
            description: info.description.clone(),
            doc: info.doc.clone(),
            signature: signature(info),
            parameters: info.parameters.clone(),
            kind: info.kind,
            origin: info.origin.to_string(),
            exposure: info.exposure,
            effect: info.effect,
            deadline_seconds: info.deadline.as_secs_f64(),
        }
    }
}

/// With what only operators see.
#[derive(Debug, Serialize, JsonSchema)]
struct Whole {
    #[serde(flatten)]
    method: MethodView,
    statistics: Option<MethodStatistics>,
    callers: Option<MethodCallers>,
}

/// An operator sees what any caller may use, another key what remote callers may.
fn visible(api: &Api, access: &Access) -> Result<Vec<MethodView>, Problem> {
    let surfaces: &[Surface] = if access.holds(Scope::Operator) {
        &[Surface::Code, Surface::ToolCall, Surface::Remote]
    } else {
        &[Surface::Remote]
    };
    let session = page_session(access)?;
    let mut views: Vec<MethodView> = Vec::new();
    for surface in surfaces {
        let caller = caller(access, session.clone(), *surface);
        let methods = api.gate().catalogue(&caller);
        views.extend(methods.iter().map(|method| MethodView::from(method.info())));
    }
    views.sort_by(|one, other| one.name.cmp(&other.name));
    views.dedup_by(|one, other| one.name == other.name && one.origin == other.origin);
    Ok(views)
}

fn caller(access: &Access, session: SessionKey, surface: Surface) -> Caller {
    Caller {
        session,
        user: access.user(),
        role: access.role(),
        surface,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant {
            methods: Allowed::All,
            budget: Budget::new(1, 1),
            expires: None,
        }),
    }
}

async fn list(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Params(search): Params<Search>,
) -> Outcome<List<MethodView>> {
    let mut methods = visible(&api, &access)?;
    let words = search.query.unwrap_or_default().to_lowercase();
    methods.retain(|method| {
        let text = format!("{} {} {}", method.name, method.title, method.description);
        let text = text.to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
            && search.kind.is_none_or(|kind| kind == method.kind)
            && search
                .origin
                .as_ref()
                .is_none_or(|origin| *origin == method.origin)
    });
    let id = |method: &MethodView| format!("{}/{}", method.origin, method.name);
    Ok(Body(search.piece.of(methods, id)?))
}

async fn show(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(name): Path<String>,
) -> Outcome<Whole> {
    let missing = || {
        Problem::missing(format!("no method '{name}' is for this key"))
            .hint("GET /api/methods lists them")
    };
    let found = visible(&api, &access)?
        .into_iter()
        .find(|method| method.name == name || format!("{}/{}", method.origin, method.name) == name);
    let method = found.ok_or_else(missing)?;
    let full = format!("{}/{}", method.origin, method.name);
    let (mut told, mut may) = (None, None);
    if access.holds(Scope::Operator)
        && let Some(known) = api.gate().find(&full)
    {
        told = Some(api.service().method_statistics(known.info()).await?);
        may = Some(api.service().method_callers(known.info()).await?);
    }
    Ok(Body(Whole {
        method,
        statistics: told,
        callers: may,
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CallBody {
    /// An object by name or an array by position.
    #[serde(default)]
    arguments: Json,
    /// On behalf of this session; the key's own where none is named.
    session: Option<SessionKey>,
}

async fn call(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(method): Path<String>,
    Given(body): Given<CallBody>,
) -> Outcome<CallResult> {
    let session = match body.session {
        Some(session) if access.holds(Scope::Operator) => session,
        Some(_) => return Err(Problem::forbidden(Scope::Operator.word())),
        None => page_session(&access)?,
    };
    let arguments = match body.arguments {
        Json::Null => Json::Object(Default::default()),
        given => given,
    };
    let call = CallMethod {
        method,
        arguments,
        session,
        user: access.user(),
        role: access.role(),
    };
    let service = api.service().clone();
    let called = api
        .service()
        .detached(async move { service.call_method(call).await });
    Ok(Body(called.await?))
}

//! Sessions: where people speak, what was said, and speaking there.

use axum::{Extension, Json as Body, extract::State, http::HeaderMap};
use callgate_agent::{Arrived, Override, TurnReport, Watch};
use callgate_contract::{Mode, Part, SessionKey, SessionType};
use callgate_store::{Incoming, Persona, Sender, SessionSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::{collections::HashSet, time::Duration};

use super::{
    Api, Outcome,
    access::Access,
    input::{Given, Params, Path},
    list::{List, Piece},
    problem::Problem,
    route::{Routes, Verb},
    view::RowView,
};
use callgate_service::{Event, operations::ApprovalView};

const IDEMPOTENCY_KEY: &str = "idempotency-key";
const LONGEST_NAME: usize = 255;

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/sessions",
            "Sessions, the latest first",
            list,
        )
        .query::<Piece>()
        .gives::<List<SessionView>>();
    routes
        .add(Verb::Get, "/api/sessions/{session}", "One session", show)
        .gives::<SessionView>();
    routes
        .add(
            Verb::Patch,
            "/api/sessions/{session}",
            "Choose its model, persona, mode",
            change,
        )
        .takes::<Choice>()
        .gives::<SessionView>();
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/log",
            "What was said, newest first",
            log,
        )
        .query::<Piece>()
        .gives::<List<RowView>>();
    routes
        .add(
            Verb::Post,
            "/api/sessions/{session}/messages",
            "Say something",
            say,
        )
        .header(
            IDEMPOTENCY_KEY,
            "The sender's own name for this message. Sent again under the same name, it is the same \
             message and gets the same answer.",
        )
        .takes::<Saying>()
        .gives::<Said>();
    routes
        .add(
            Verb::Post,
            "/api/sessions/{session}/stop",
            "Stop the turn that runs",
            stop,
        )
        .gives::<Stopped>();
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/prompt",
            "What a model would be asked now",
            prompt,
        )
        .gives::<Json>();
}

/// The session of a key on the page.
pub(super) fn page_session(access: &Access) -> Result<SessionKey, Problem> {
    SessionKey::new("web", SessionType::FriendMessage, &access.user())
        .map_err(|error| Problem::bad(error.to_string()))
}

#[derive(Debug, Serialize, JsonSchema)]
struct SessionView {
    session: SessionKey,
    last: Option<RowView>,
    conversations: usize,
    current: Option<String>,
    persona: String,
    model: String,
    mode: Mode,
    /// A turn runs now.
    answering: bool,
    muted: bool,
    /// Calls that wait for the operator's word, oldest first; /api/events tells of new and answered
    /// ones.
    approvals: Vec<ApprovalView>,
}

async fn view(api: &Api, session: SessionKey) -> Result<SessionView, Problem> {
    let (agent, store) = (api.agent()?, api.store());
    let settings: SessionSettings = store.settings().session(&session).await?.value;
    let persona = store.personas().default(Some(&session)).await?;
    let model = settings.model.clone().or(persona.model);
    let last = store.log().list(&session, 1).await?.pop();
    let conversations = store.conversations().list(Some(&session), None).await?;
    let current = store.conversations().current(&session).await?;
    let waiting = store.approvals().pending_in(&session).await?;
    Ok(SessionView {
        last: last.map(RowView::from),
        conversations: conversations.len(),
        current: current.map(|id| id.to_string()),
        persona: persona.name,
        model: agent.models().choose(model.as_deref()).id.clone(),
        mode: settings.mode.unwrap_or(persona.mode),
        answering: agent.is_answering(&session),
        muted: settings.muted,
        approvals: waiting.into_iter().map(ApprovalView::from).collect(),
        session,
    })
}

async fn list(State(api): State<Api>, Params(piece): Params<Piece>) -> Outcome<List<SessionView>> {
    let opened = api.store().sessions().list().await?;
    let conversations = api.store().conversations().list(None, None).await?;
    let spoken = conversations.into_iter().map(|it| it.session);
    let mut seen = HashSet::new();
    let mut keys: Vec<SessionKey> = spoken
        .chain(opened.into_iter().rev().map(|session| session.key))
        .collect();
    keys.retain(|key| seen.insert(key.clone()));
    let piece = piece.of(keys, SessionKey::to_string)?;
    let mut items = Vec::new();
    for key in piece.items {
        items.push(view(&api, key).await?);
    }
    Ok(Body(List {
        items,
        next: piece.next,
    }))
}

async fn show(State(api): State<Api>, Path(session): Path<SessionKey>) -> Outcome<SessionView> {
    Ok(Body(view(&api, session).await?))
}

/// What is not named stays; `""` goes back to the default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    model: Option<String>,
    persona: Option<String>,
    mode: Option<Mode>,
    muted: Option<bool>,
}

async fn change(
    State(api): State<Api>,
    Path(session): Path<SessionKey>,
    Given(choice): Given<Choice>,
) -> Outcome<SessionView> {
    let chosen = |text: String| (!text.is_empty()).then_some(text);
    if let Some(model) = choice.model.clone().and_then(chosen)
        && api.agent()?.models().get(&model).is_none()
    {
        let hint = "GET /api/models lists them";
        return Err(Problem::bad(format!("no model '{model}'")).hint(hint));
    }
    if let Some(persona) = choice.persona.clone().and_then(chosen)
        && persona != Persona::built_in().name
    {
        api.store().personas().get(&persona).await?;
    }
    let change = |settings: &mut SessionSettings| {
        if let Some(model) = choice.model {
            settings.model = chosen(model);
        }
        if let Some(persona) = choice.persona {
            settings.persona = chosen(persona);
        }
        settings.mode = choice.mode.or(settings.mode);
        settings.muted = choice.muted.unwrap_or(settings.muted);
    };
    api.store()
        .settings()
        .change_session(&session, change)
        .await?;
    Ok(Body(view(&api, session).await?))
}

async fn log(
    State(api): State<Api>,
    Path(session): Path<SessionKey>,
    Params(piece): Params<Piece>,
) -> Outcome<List<RowView>> {
    let (before, limit) = (piece.after()?, piece.limit());
    let mut rows = api
        .store()
        .log()
        .before(&session, before, limit + 1)
        .await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next = more
        .then(|| rows.last().map(|row| row.id.to_string()))
        .flatten();
    let items = rows.into_iter().map(RowView::from).collect();
    Ok(Body(List { items, next }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Saying {
    text: Option<String>,
    /// Besides or instead of the text.
    #[serde(default)]
    parts: Vec<Part>,
    /// Who speaks, with that one's rights; the key's own user where nobody is named.
    user: Option<String>,
    mode: Option<Mode>,
    model: Option<String>,
    /// False answers as soon as the message is stored; what follows is heard at /api/events.
    #[serde(default = "yes")]
    wait: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Serialize, JsonSchema)]
struct Said {
    /// `answered`, `silent`, `limit`, `budget`, `cancelled`, `error`, `approval`, `command`,
    /// `joined`, `heard` or `accepted`.
    stop: Json,
    turn: Option<String>,
    rounds: u32,
    calls: u64,
    /// The answer in words.
    text: String,
}

impl Said {
    fn short(stop: &str) -> Self {
        Said {
            stop: stop.into(),
            turn: None,
            rounds: 0,
            calls: 0,
            text: String::new(),
        }
    }
}

impl From<Arrived> for Said {
    fn from(arrived: Arrived) -> Self {
        match arrived {
            Arrived::Repeated | Arrived::Heard => Said::short("heard"),
            Arrived::Command => Said::short("command"),
            Arrived::Joined => Said::short("joined"),
            Arrived::Taken => Said::short("taken"),
            Arrived::Turn(TurnReport {
                turn,
                rounds,
                stop,
                calls,
                text,
            }) => Said {
                stop: stop.map_or("approval".into(), |stop| serde_json::json!(stop)),
                turn: Some(super::view::id(turn)),
                rounds,
                calls,
                text,
            },
        }
    }
}

async fn say(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(session): Path<SessionKey>,
    headers: HeaderMap,
    Given(saying): Given<Saying>,
) -> Outcome<Said> {
    let mut parts: Vec<Part> = saying.text.into_iter().map(Part::text).collect();
    parts.extend(saying.parts);
    if parts.is_empty() {
        return Err(Problem::bad("there is nothing in this message").hint("give text or parts"));
    }
    let own = access.user();
    let user = saying.user.unwrap_or_else(|| own.clone());
    let incoming = Incoming {
        session: session.clone(),
        sender: Sender {
            id: user.clone(),
            name: user.clone(),
        },
        parts: parts.clone(),
        message_id: message_id(&access, &headers)?,
        hidden: false,
        mentioned: true,
    };
    let overrule = Override {
        mode: saying.mode,
        model: saying.model,
        // Whoever is spoken for has the rights of their own.
        role: (user == own).then(|| access.role()),
        debounce: Some(Duration::ZERO),
    };
    let live = api.live().clone();
    let watch = Watch::new(move |event| live.tell(&session, Event::Turn(event)));
    let accepted = api.agent()?.accept(incoming, overrule, watch).await?;
    if accepted.parts() != parts {
        return Err(Problem::conflict("this key was given to another message")
            .hint("an Idempotency-Key names one message: give each its own"));
    }
    if !saying.wait {
        accepted.leave();
        return Ok(Body(Said::short("accepted")));
    }
    Ok(Body(accepted.outcome().await?.into()))
}

/// As the log knows the message: the name is the key's own, and none that a platform gave.
fn message_id(access: &Access, headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(name) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    match name.to_str() {
        Ok(name) if (1..=LONGEST_NAME).contains(&name.len()) => {
            Ok(Some(format!("api:{}:{name}", access.key.id)))
        }
        _ => Err(
            Problem::bad("this Idempotency-Key cannot be used").hint(format!(
                "give 1 to {LONGEST_NAME} printable ASCII characters"
            )),
        ),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Stopped {
    /// False if none ran.
    stopped: bool,
}

async fn stop(State(api): State<Api>, Path(session): Path<SessionKey>) -> Outcome<Stopped> {
    let stopped = api.agent()?.stop(&session);
    Ok(Body(Stopped { stopped }))
}

async fn prompt(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(session): Path<SessionKey>,
) -> Outcome<Json> {
    let overrule = Override {
        role: Some(access.role()),
        ..Override::default()
    };
    let preview = api
        .agent()?
        .preview(&session, &access.user(), overrule)
        .await?;
    Ok(Body(serde_json::json!(preview)))
}

//! Keys: who may ask, and logging in with one.

use axum::{
    Json as Body,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use callgate_store::Key;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Api, Outcome,
    access::{COOKIE, Scope},
    input::{Given, Path},
    list::List,
    problem::Problem,
    route::{Routes, Verb},
};
use callgate_service::{SCOPES, unknown_scope};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Post, "/api/login", "Take a key into a cookie", login)
        .takes::<Login>()
        .scope(Scope::Open);
    routes
        .add(Verb::Post, "/api/logout", "Forget the cookie", logout)
        .scope(Scope::Open);
    routes
        .add(
            Verb::Get,
            "/api/keys",
            "All keys, the revoked included",
            list,
        )
        .gives::<List<KeyView>>();
    routes
        .add(
            Verb::Post,
            "/api/keys",
            "Make a key; its text is shown once",
            create,
        )
        .takes::<NewKey>()
        .gives::<MadeKey>();
    routes.add(Verb::Delete, "/api/keys/{id}", "Revoke a key", revoke);
}

#[derive(Debug, Serialize, JsonSchema)]
struct KeyView {
    id: String,
    scopes: Vec<String>,
    #[schemars(with = "String")]
    created_at: Timestamp,
    #[schemars(with = "Option<String>")]
    revoked_at: Option<Timestamp>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> Self {
        KeyView {
            id: key.id,
            scopes: key.scopes,
            created_at: key.created_at,
            revoked_at: key.revoked_at,
        }
    }
}

async fn list(State(api): State<Api>) -> Outcome<List<KeyView>> {
    let keys = api.store().keys().list().await?;
    Ok(Body(List {
        items: keys.into_iter().map(KeyView::from).collect(),
        next: None,
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewKey {
    /// Each of `operator`, `methods`, `method:NAME`, `chat`, `models`.
    scopes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MadeKey {
    id: String,
    /// It cannot be had again.
    key: String,
}

async fn create(State(api): State<Api>, Given(new): Given<NewKey>) -> Outcome<MadeKey> {
    if let Some(other) = unknown_scope(&new.scopes) {
        let hint = format!("there are {SCOPES}");
        return Err(Problem::bad(format!("'{other}' is no scope")).hint(hint));
    }
    let (id, key) = api.store().keys().create(&new.scopes).await?;
    Ok(Body(MadeKey { id, key }))
}

async fn revoke(State(api): State<Api>, Path(id): Path<String>) -> Outcome<()> {
    api.store().keys().revoke(&id).await?;
    Ok(Body(()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Login {
    key: String,
}

/// Only our own page can do this: a browser says where a request comes from, and that was compared.
async fn login(
    State(api): State<Api>,
    headers: HeaderMap,
    Given(login): Given<Login>,
) -> Result<Response, Problem> {
    let key = login.key.trim();
    let plain = key
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !plain || api.store().keys().verify(key).await?.is_none() {
        return Err(Problem::locked_out());
    }
    let origin = headers.get(header::ORIGIN).and_then(|it| it.to_str().ok());
    let secure = if origin.is_some_and(|origin| origin.starts_with("https://")) {
        "; Secure"
    } else {
        ""
    };
    let cookie = format!("{COOKIE}={key}; Path=/; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Problem::locked_out())?;
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Body(())).into_response())
}

async fn logout() -> Response {
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    (AppendHeaders([(header::SET_COOKIE, gone)]), Body(())).into_response()
}

//! Keys: who may ask, and logging in with one.

use axum::{
    Json as Body,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use callgate_service::{
    Capability,
    operations::{CreateKey, ListKeys, RevokeKey},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Api,
    access::COOKIE,
    input::JsonBody,
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Post, "/api/login", "Take a key into a cookie", login)
        .takes::<Login>()
        .gives::<()>()
        .needs(Capability::Anyone);
    routes
        .add(Verb::Post, "/api/logout", "Forget the cookie", logout)
        .gives::<()>()
        .needs(Capability::Anyone);
    routes.operation::<ListKeys>(Verb::Get, "/api/keys", "All keys, the revoked included");
    routes.operation::<CreateKey>(
        Verb::Post,
        "/api/keys",
        "Make a key; its text is shown once",
    );
    routes.operation::<RevokeKey>(Verb::Delete, "/api/keys/{id}", "Revoke a key");
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
    JsonBody(login): JsonBody<Login>,
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

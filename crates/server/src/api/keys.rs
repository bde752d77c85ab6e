//! Keys: who may ask, and logging in with one.

use axum::{
    Json as Body,
    extract::State,
    http::{Extensions, HeaderMap, HeaderValue, header},
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
    access::{COOKIE, Shown, cookie, verify},
    input::JsonBody,
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Post,
            "/api/login",
            "Begin a session of the page with a key",
            login,
        )
        .takes::<Login>()
        .gives::<()>()
        .needs(Capability::Anyone);
    routes
        .add(
            Verb::Post,
            "/api/logout",
            "End the session of the page",
            logout,
        )
        .gives::<()>()
        .needs(Capability::Anyone);
    routes.operation::<ListKeys>(Verb::Get, "/api/keys", "All keys, the revoked included");
    routes.operation::<CreateKey>(
        Verb::Post,
        "/api/keys",
        "Make a key; its text is shown once",
    );
    routes
        .operation::<RevokeKey>(Verb::Delete, "/api/keys/{id}", "Revoke a key")
        .may_end_its_key();
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
    extensions: Extensions,
    JsonBody(login): JsonBody<Login>,
) -> Result<Response, Problem> {
    let shown = Shown::Key(login.key.trim().to_owned());
    let access = verify(&api, &shown, &extensions).await;
    let access = access.map_err(|problem| match problem.status {
        401 => Problem::unknown_login(),
        _ => problem,
    })?;
    let text = api.store().logins().begin(&access.key).await?;
    let origin = headers.get(header::ORIGIN).and_then(|it| it.to_str().ok());
    let secure = if origin.is_some_and(|origin| origin.starts_with("https://")) {
        "; Secure"
    } else {
        ""
    };
    let cookie = format!("{COOKIE}={text}; Path=/; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Problem::locked_out())?;
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Body(())).into_response())
}

/// What the page has open ends too.
async fn logout(State(api): State<Api>, headers: HeaderMap) -> Result<Response, Problem> {
    // Nobody else's page logs anybody out.
    let ours = headers.contains_key(header::ORIGIN);
    if let Some(text) = cookie(&headers).filter(|_| ours)
        && let Some(login) = api.store().logins().verify(&text).await?
    {
        api.store().logins().end(&login.id).await?;
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    Ok((AppendHeaders([(header::SET_COOKIE, gone)]), Body(())).into_response())
}

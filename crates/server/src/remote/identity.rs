//! Who a client is, decided before its CONNECT is answered. Rights come from a verified key or
//! from the operator's approval; what a client says of itself gives none.

use std::net::SocketAddr;

use axum::{
    extract::ConnectInfo,
    http::{HeaderName, header, request::Parts},
};
use callgate_contract::{Allowed, SessionKey, SessionType};
use callgate_store::{ClientState, StoreError};
use serde_json::Value as Json;
use uuid::Uuid;

use super::{Remote, pairing::PAIRED};

/// Characters of what a client says of itself.
const MAX_NAME: usize = 128;
const MAX_DESCRIPTION: usize = 1024;

/// Compat(newage): the words its clients look for.
const NOT_TRUSTED: &str = "Client is not trusted.";
const INVALID_KEY: &str = "Invalid key.";

/// What a client may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    /// On this machine, without a key: the first steps of a client that wants to be let in.
    Guest,
    /// Holds a key, or was approved.
    Client,
    /// Holds the operator's key: also administers the others. Compat(newage): what it takes a
    /// `monitor` for.
    Operator,
}

/// What a client says of itself, and where it speaks from.
#[derive(Clone, Debug)]
pub struct Identity {
    pub(super) client: String,
    pub(super) session: SessionKey,
    pub(super) identity: String,
    pub(super) kind: String,
    pub(super) description: String,
    pub(super) origin: Option<String>,
}

/// What a client may do, and by which key.
#[derive(Clone, Debug)]
pub struct Standing {
    pub rights: Rights,
    /// The id of its key, which is no secret.
    pub key: Option<String>,
    pub methods: Allowed,
    /// The key is worth what the operator has said of the client.
    pub(super) paired: bool,
    /// The key is this client's alone, and so are its sessions, whichever of its keys it uses.
    pub(super) owned: bool,
}

impl Identity {
    /// `Err` is what the client is told.
    pub(super) async fn establish(
        remote: &Remote,
        auth: &Json,
        parts: &Parts,
    ) -> Result<(Identity, Standing), String> {
        let said = |field: &str| auth.get(field).and_then(name_of);
        let claimed = said("clientId");
        let key = auth.get("key").and_then(Json::as_str).map(str::trim);
        let (client, standing) = match key {
            None | Some("" | "getKey") => guest(remote, claimed, parts).await?,
            Some(text) => keyed(remote, claimed, text).await?,
        };
        let session = SessionKey::new("remote", SessionType::FriendMessage, &client);
        let description = auth.get("desc").and_then(Json::as_str).unwrap_or_default();
        let origin = parts.headers.get(header::ORIGIN);
        Ok((
            Identity {
                session: session.map_err(|error| error.to_string())?,
                identity: said("identity").unwrap_or_else(|| client.clone()),
                client,
                kind: said("clientType").unwrap_or_default(),
                description: description.chars().take(MAX_DESCRIPTION).collect(),
                origin: origin
                    .and_then(|origin| origin.to_str().ok())
                    .map(str::to_owned),
            },
            standing,
        ))
    }
}

async fn guest(
    remote: &Remote,
    claimed: Option<String>,
    parts: &Parts,
) -> Result<(String, Standing), String> {
    let refused = || NOT_TRUSTED.to_owned();
    if !is_here(parts) {
        return Err(refused());
    }
    let client = claimed.unwrap_or_else(|| format!("guest-{}", Uuid::now_v7().simple()));
    let known = remote
        .store()
        .clients()
        .find(&client)
        .await
        .map_err(unsure)?;
    match known.is_some_and(|known| known.state == ClientState::Revoked) {
        true => Err(refused()),
        false => Ok((client, Standing::guest())),
    }
}

async fn keyed(
    remote: &Remote,
    claimed: Option<String>,
    text: &str,
) -> Result<(String, Standing), String> {
    let invalid = || INVALID_KEY.to_owned();
    let store = remote.store();
    let key = store.keys().verify(text).await.map_err(unsure)?;
    let key = key.ok_or_else(invalid)?;
    let standing = Standing::of(&key);
    let Some(owner) = key.client else {
        let client = claimed.unwrap_or_else(|| format!("key-{}", key.id));
        // A name that keys were made for is for those keys.
        let owned = !store
            .keys()
            .of_client(&client)
            .await
            .map_err(unsure)?
            .is_empty();
        return match owned && standing.rights < Rights::Operator {
            true => Err(invalid()),
            false => Ok((client, standing)),
        };
    };
    if claimed.is_some_and(|claimed| claimed != owner) {
        return Err(invalid());
    }
    if !key.scopes.iter().any(|scope| scope == PAIRED) {
        return Ok((owner, standing));
    }
    let known = store.clients().find(&owner).await.map_err(unsure)?;
    let state = known.map_or(ClientState::Pending, |known| known.state);
    Ok((owner, Standing::paired(Some(key.id), state)))
}

fn unsure(error: StoreError) -> String {
    tracing::warn!(%error, "a client cannot be recognised");
    "The server cannot verify keys now.".to_owned()
}

/// A name that can be shown and compared: text or a number, without control characters.
fn name_of(said: &Json) -> Option<String> {
    let name = match said {
        Json::String(name) => name.trim().to_owned(),
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    let fits = !name.is_empty() && name.chars().count() <= MAX_NAME;
    (fits && !name.chars().any(char::is_control)).then_some(name)
}

/// Does it speak from this machine? What a proxy passes on does not, wherever the proxy is.
fn is_here(parts: &Parts) -> bool {
    const PASSED_ON: [HeaderName; 4] = [
        header::FORWARDED,
        HeaderName::from_static("x-forwarded-for"),
        HeaderName::from_static("x-real-ip"),
        header::VIA,
    ];
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let here =
        address.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    here && !PASSED_ON
        .iter()
        .any(|name| parts.headers.contains_key(name))
}

//! Who a client is, decided before its CONNECT is answered. Rights come from a verified key or
//! from the operator's approval; what a client says of itself gives none.

use std::net::IpAddr;

use callgate_contract::{SessionKey, SessionType};
use callgate_store::StoreError;
use serde_json::Value as Json;
use uuid::Uuid;

use super::{
    Remote, names,
    newage_texts::{INVALID_KEY, NOT_TRUSTED},
    pairing::PAIRED,
};
use crate::Capabilities;

/// Of sessions that are a room's or a client's own, and of clients that bear no key.
pub(super) const PLATFORM: &str = "remote";
/// Characters of what a client says of itself.
const MAX_NAME: usize = 128;
const MAX_DESCRIPTION: usize = 1024;

const TOO_MANY_WRONG_KEYS: &str =
    "Too many wrong keys came from this address: try again in a second.";

/// Where a client speaks from, as its connection shows it.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The page that it runs in, where it is one.
    pub page: Option<&'a str>,
    /// On this machine, and through no proxy.
    pub is_here: bool,
    pub address: IpAddr,
}

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
pub struct Authorization {
    pub rights: Rights,
    /// The id of its key, which is no secret.
    pub key: Option<String>,
    pub capabilities: Capabilities,
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
        from: Origin<'_>,
    ) -> Result<(Identity, Authorization), String> {
        let said = |field: &str| auth.get(field).and_then(name_of);
        let claimed = said("clientId");
        let key = auth.get("key").and_then(Json::as_str).map(str::trim);
        let origin = from.page;
        let (client, standing) = match key {
            None | Some("" | "getKey") => guest(remote, claimed, from).await?,
            Some(text) => keyed(remote, claimed, text, from).await?,
        };
        let identity = match standing.rights {
            // Who is nobody yet has no instances either.
            Rights::Guest => client.clone(),
            Rights::Client | Rights::Operator => said("identity").unwrap_or_else(|| client.clone()),
        };
        let session = SessionKey::new(PLATFORM, SessionType::FriendMessage, &client);
        let description = auth.get("desc").and_then(Json::as_str).unwrap_or_default();
        Ok((
            Identity {
                session: session.map_err(|error| error.to_string())?,
                identity,
                client,
                kind: said("clientType").unwrap_or_default(),
                description: description.chars().take(MAX_DESCRIPTION).collect(),
                origin: origin.map(str::to_owned),
            },
            standing,
        ))
    }
}

async fn guest(
    remote: &Remote,
    claimed: Option<String>,
    from: Origin<'_>,
) -> Result<(String, Authorization), String> {
    if !from.is_here {
        return Err(NOT_TRUSTED.to_owned());
    }
    let client = claimed.unwrap_or_else(|| format!("guest-{}", Uuid::now_v7().simple()));
    names::admit_guest(remote, &client, from.page).await?;
    Ok((client, Authorization::guest()))
}

async fn keyed(
    remote: &Remote,
    claimed: Option<String>,
    text: &str,
    from: Origin<'_>,
) -> Result<(String, Authorization), String> {
    let invalid = || INVALID_KEY.to_owned();
    let store = remote.store();
    let attempts = remote.attempts();
    if !attempts.may_try(from.address, text) {
        return Err(TOO_MANY_WRONG_KEYS.to_owned());
    }
    let Some(key) = store.keys().verify(text).await.map_err(unsure)? else {
        attempts.failed(from.address, text);
        return Err(invalid());
    };
    attempts.opened(text);
    let standing = Authorization::of(&key);
    let Some(owner) = key.client else {
        let client = claimed.unwrap_or_else(|| names::of_key(&key.id));
        return Ok((client, standing));
    };
    if claimed.is_some_and(|claimed| claimed != owner) {
        return Err(invalid());
    }
    if !key.scopes.iter().any(|scope| scope == PAIRED) {
        return Ok((owner, standing));
    }
    // Worth what the operator said of the one page or program that it was given to.
    let known = store.clients().find(&owner).await.map_err(unsure)?;
    let known = known.filter(|known| {
        known.key.as_deref() == Some(key.id.as_str()) && known.origin.as_deref() == from.page
    });
    let state = known.ok_or_else(invalid)?.state;
    Ok((owner, Authorization::paired(Some(key.id), state)))
}

pub(super) fn unsure(error: StoreError) -> String {
    tracing::warn!(%error, "could not verify a client's key");
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

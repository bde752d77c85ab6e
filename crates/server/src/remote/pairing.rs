//! [`Pairing`]: how a client that came without a key gets in. It asks, the operator decides, and
//! from then on the keys it was given are worth something. Keys are shown once, to the client that
//! they are for.

use callgate_contract::Allowed;
use callgate_store::{ClientState, Key, NewClient, StoreError};

use super::{Peer, Remote, Rights, Standing};

/// Of a key that a client was given before it was approved: worth what its client is.
pub(super) const PAIRED: &str = "paired";
/// Of the operator's own key.
pub const OPERATOR: &str = "operator";
/// Of a key for methods of remote exposure.
pub const METHODS: &str = "methods";
/// Before the name of the one method that a key may call; a key may have several.
pub const METHOD: &str = "method:";

/// Valid keys of one client; the oldest make room. Several of its pages may be open.
const MAX_KEYS: usize = 8;

const BROKEN: &str = "The server cannot do this now.";

pub struct Pairing<'a>(pub(super) &'a Remote);

/// Which client a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientKey {
    pub client: String,
    /// The key's id, never its text.
    pub key: String,
}

impl Pairing<'_> {
    /// A key for this client alone. Before the operator approves the client it is worth no more
    /// than none. An approved client gets one only from the page it was approved on: who else says
    /// its name must hold a key of it.
    pub async fn identify(&self, peer: &Peer) -> Result<String, String> {
        let standing = peer.standing();
        let client = peer.client();
        let store = self.0.store();
        if standing.rights == Rights::Guest {
            let asks = NewClient {
                id: client,
                kind: peer.kind(),
                description: peer.description(),
                origin: peer.origin(),
            };
            let known = store.clients().ask(asks).await.map_err(broken)?;
            self.0.roster().changed();
            match known.state {
                ClientState::Pending => {
                    tracing::info!(
                        client,
                        "a client asks to be let in: callgate client approve"
                    );
                }
                ClientState::Approved if known.origin.as_deref() == peer.origin() => {}
                ClientState::Approved | ClientState::Revoked => {
                    return Err("Client is not trusted.".to_owned());
                }
            }
        }
        self.make(client, &[PAIRED.to_owned()]).await
    }

    /// A key with full rights of a client, for the operator to hand on.
    pub async fn issue(&self, client: &str) -> Result<String, String> {
        self.make(client, &[METHODS.to_owned()]).await
    }

    /// Makes every key of the client useless, and hangs up on it. False if it had none.
    pub async fn revoke(&self, client: &str) -> Result<bool, String> {
        let keys = self.0.store().keys();
        let held = keys.of_client(client).await.map_err(broken)?;
        for key in &held {
            keys.revoke(&key.id).await.map_err(broken)?;
        }
        for peer in self.0.roster().sockets(client) {
            if peer.standing().key.is_some() {
                peer.disconnect();
            }
        }
        Ok(!held.is_empty())
    }

    /// The valid keys that belong to clients, oldest first.
    pub async fn keys(&self) -> Result<Vec<ClientKey>, String> {
        let keys = self.0.store().keys().list().await.map_err(broken)?;
        let valid = keys.into_iter().filter(|key| key.revoked_at.is_none());
        let of_clients = valid.filter_map(|Key { id, client, .. }| {
            let client = client?;
            Some(ClientKey { client, key: id })
        });
        Ok(of_clients.collect())
    }

    /// The operator's answer; clients that are connected feel it at once.
    pub async fn decide(&self, client: &str, state: ClientState) -> Result<(), StoreError> {
        let store = self.0.store();
        store.clients().decide(client, state).await?;
        for peer in self.0.roster().sockets(client) {
            let paired = peer.standing().paired;
            match state {
                ClientState::Approved if paired => {
                    let key = peer.standing().key.clone();
                    peer.change_standing(Standing::paired(key, state));
                }
                ClientState::Revoked if paired || peer.rights() == Rights::Guest => {
                    peer.disconnect();
                }
                _ => {}
            }
        }
        if state == ClientState::Revoked {
            for key in store.keys().of_client(client).await? {
                if key.scopes.iter().any(|scope| scope == PAIRED) {
                    store.keys().revoke(&key.id).await?;
                }
            }
        }
        Ok(())
    }

    async fn make(&self, client: &str, scopes: &[String]) -> Result<String, String> {
        let keys = self.0.store().keys();
        let held = keys.of_client(client).await.map_err(broken)?;
        let mut alike: Vec<&Key> = held.iter().filter(|key| key.scopes == scopes).collect();
        // A page that is open ends with its key: those that nobody uses go first.
        let open = self.0.roster().sockets(client);
        alike.sort_by_key(|key| {
            let uses = |peer: &Peer| peer.standing().key.as_ref() == Some(&key.id);
            open.iter().any(uses)
        });
        let many = (alike.len() + 1).saturating_sub(MAX_KEYS);
        for key in alike.into_iter().take(many) {
            keys.revoke(&key.id).await.map_err(broken)?;
        }
        let (_, text) = keys
            .create_for(scopes, Some(client))
            .await
            .map_err(broken)?;
        Ok(text)
    }
}

impl Standing {
    pub(super) fn guest() -> Self {
        Standing {
            rights: Rights::Guest,
            key: None,
            paired: false,
            owned: false,
            methods: Allowed::Only(vec!["readJsonFromFile".to_owned()]),
        }
    }

    /// Of a key that the client was given when it asked.
    pub(super) fn paired(key: Option<String>, state: ClientState) -> Self {
        let guest = Standing::guest();
        let approved = state == ClientState::Approved;
        Standing {
            rights: if approved {
                Rights::Client
            } else {
                guest.rights
            },
            methods: if approved {
                Allowed::All
            } else {
                guest.methods
            },
            key,
            paired: true,
            owned: true,
        }
    }

    /// Of any other key, by its scopes.
    pub(crate) fn of(key: &Key) -> Self {
        let has = |scope: &str| key.scopes.iter().any(|held| held == scope);
        let named = key
            .scopes
            .iter()
            .filter_map(|held| held.strip_prefix(METHOD));
        Standing {
            rights: if has(OPERATOR) {
                Rights::Operator
            } else {
                Rights::Client
            },
            key: Some(key.id.clone()),
            paired: false,
            owned: key.client.is_some(),
            methods: match has(OPERATOR) || has(METHODS) {
                true => Allowed::All,
                false => Allowed::Only(named.map(str::to_owned).collect()),
            },
        }
    }
}

fn broken(error: StoreError) -> String {
    tracing::warn!(%error, "the store of clients and keys fails");
    BROKEN.to_owned()
}

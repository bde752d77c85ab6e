//! [`Pairing`]: how a client that came without a key gets in. It asks, the operator decides, and
//! from then on the keys it was given are worth something. Keys are shown once, to the client that
//! they are for.

use std::time::Duration;

use callgate_contract::{Principal, Role};
use callgate_store::{ClientState, Key, NewClient, NewKey, StoreError, client_owner};

use super::{
    Authorization, Peer, Remote, Rights, functions::GUEST, identity::PLATFORM, llm,
    newage_texts::NOT_TRUSTED,
};
use crate::{Capabilities, Capability, scope::METHODS};

/// Of a key that a client was given before it was approved: worth what its client is.
pub(super) const PAIRED: &str = "paired";

/// Valid keys of one client; the oldest make room. Several of its pages may be open.
const MAX_KEYS: usize = 8;

/// How long a page that is loaded again may take to be seen as gone.
const LEAVING: Duration = Duration::from_secs(2);

/// Compat(newage): its server's own words, and what to do.
const ALREADY: &str = "SillyTavern extension already connected. Close the other page first.";

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
    /// than none. There is one such key at a time: the operator's word is for the page or program that
    /// holds it, and only the same origin gets the next one, once whoever had the last is gone.
    pub async fn identify(&self, peer: &Peer) -> Result<String, String> {
        let client = peer.client();
        if peer.standing().key.is_some() {
            return Err("You have a key already: go on with it.".to_owned());
        }
        self.until_alone(peer).await?;
        let known = self.0.store().clients().ask(asks(peer)).await;
        let known = known.map_err(broken)?;
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
                return Err(NOT_TRUSTED.to_owned());
            }
        }
        self.pair(peer).await
    }

    /// While somebody else under this id holds the client's key, nobody gets another: they would be
    /// let in by an approval that was not theirs.
    async fn until_alone(&self, peer: &Peer) -> Result<(), String> {
        let others = || {
            let sockets = self.0.roster().sockets(peer.client());
            sockets.iter().any(|socket| socket.standing().key.is_some())
        };
        // A page that is loaded again may arrive before its old connection is seen to end.
        let patience = tokio::time::Instant::now() + LEAVING;
        while others() {
            if tokio::time::Instant::now() >= patience {
                return Err(ALREADY.to_owned());
            }
            tokio::time::sleep(LEAVING / 20).await;
        }
        Ok(())
    }

    /// Makes the one key that the operator's word is about, and ends those before.
    async fn pair(&self, peer: &Peer) -> Result<String, String> {
        let store = self.0.store();
        let client = peer.client();
        let scopes = [PAIRED.to_owned()];
        let made = store.keys().create_asking(&scopes, client).await;
        let (id, text) = made.map_err(broken)?;
        let held = store.clients().hold(asks(peer), &id).await;
        if !held.map_err(broken)? {
            store.keys().revoke(&id).await.map_err(broken)?;
            return Err(NOT_TRUSTED.to_owned());
        }
        // Two may ask at the same moment, and the last one holds it; both see to it that no other does.
        let known = store.clients().find(client).await.map_err(broken)?;
        let current = known.and_then(|known| known.key);
        for key in store.keys().of_client(client).await.map_err(broken)? {
            if key.scopes == scopes && Some(&key.id) != current.as_ref() {
                match store.keys().revoke(&key.id).await {
                    // The other was faster.
                    Ok(()) | Err(StoreError::UnknownKey(_)) => {}
                    Err(error) => return Err(broken(error)),
                }
            }
        }
        if current == Some(id) {
            Ok(text)
        } else {
            Err(ALREADY.to_owned())
        }
    }

    /// A key with full rights of a client, for the operator to hand on.
    pub async fn issue(&self, client: &str) -> Result<String, String> {
        let key = self.make(client, &[METHODS.to_owned()]).await?;
        self.handed_over(client);
        Ok(key)
    }

    /// The operator has made a key for this client: whoever used its id by another key does so no more.
    pub fn handed_over(&self, client: &str) {
        for peer in self.0.roster().sockets(client) {
            if peer.rights() == Rights::Guest || peer.user() != client_owner(client) {
                peer.disconnect();
            }
        }
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
        let known = store.clients().find(client).await?;
        let held = known.and_then(|known| known.key);
        for peer in self.0.roster().sockets(client) {
            let paired = peer.standing().paired;
            match state {
                ClientState::Approved if paired && peer.standing().key == held => {
                    peer.change_standing(Authorization::paired(held.clone(), state));
                    llm::let_in(self.0, &peer);
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
            .create_as(NewKey {
                scopes: scopes.to_vec(),
                client: Some(client.to_owned()),
                ..NewKey::default()
            })
            .await
            .map_err(broken)?;
        Ok(text)
    }
}

impl Authorization {
    pub(super) fn guest() -> Self {
        Authorization {
            rights: Rights::Guest,
            key: None,
            paired: false,
            owned: false,
            capabilities: Capabilities::to_call(&["readJsonFromFile"]),
        }
    }

    /// Of a key that the client was given when it asked.
    pub(super) fn paired(key: Option<String>, state: ClientState) -> Self {
        let guest = Authorization {
            key,
            paired: true,
            owned: true,
            ..Authorization::guest()
        };
        match state {
            ClientState::Pending | ClientState::Revoked => guest,
            ClientState::Approved => Authorization {
                rights: Rights::Client,
                capabilities: Capabilities::of(&[METHODS.to_owned()]),
                ..guest
            },
        }
    }

    /// Of any other key, by its scopes.
    pub(super) fn of(key: &Key) -> Self {
        let capabilities = Capabilities::of(&key.scopes);
        Authorization {
            rights: if capabilities.holds(Capability::Operator) {
                Rights::Operator
            } else {
                Rights::Client
            },
            key: Some(key.id.clone()),
            paired: false,
            owned: key.client.is_some(),
            capabilities,
        }
    }

    /// On whose behalf a client of this id acts: its key, or what the operator let in as this client.
    pub(super) fn principal(&self, client: &str) -> Principal {
        let account = match (self.rights, &self.key) {
            (Rights::Operator, _) => return Principal::Operator,
            (Rights::Client, Some(key)) if !self.owned => return Principal::Key(key.clone()),
            (Rights::Client, _) => client_owner(client),
            (Rights::Guest, _) => format!("{GUEST}{client}"),
        };
        Principal::Person {
            platform: PLATFORM.to_owned(),
            account,
        }
    }

    /// The same, as methods and people know them.
    pub(super) fn user(&self, client: &str) -> String {
        self.principal(client).user().into_owned()
    }

    /// What they are here.
    pub(super) fn role(&self) -> Role {
        match self.rights {
            Rights::Guest => Role::Guest,
            Rights::Client => Role::Member,
            Rights::Operator => Role::Operator,
        }
    }
}

fn asks(peer: &Peer) -> NewClient<'_> {
    NewClient {
        id: peer.client(),
        kind: peer.kind(),
        description: peer.description(),
        origin: peer.origin(),
    }
}

fn broken(error: StoreError) -> String {
    tracing::warn!(%error, "could not read or write clients and keys");
    BROKEN.to_owned()
}

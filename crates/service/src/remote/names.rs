//! Whose name a client bears. Its id, and the identity by which it tells instances apart, are bound to
//! the key that used them first, or to the client that the operator made keys for or approved. Everybody
//! else who says them is refused, and whoever they belong to notices nothing.

use callgate_store::{ClientState, NameOf, StoreError, client_owner};

use super::{
    Authorization, Peer, Remote, Rights,
    identity::unsure,
    llm,
    newage_texts::{INVALID_KEY, NOT_TRUSTED},
};

/// Names that are no client's: as which we speak ourselves.
const OURS: [&str; 2] = [llm::SERVER, llm::SYSTEM];

/// The name of a key that was given none.
pub(super) fn of_key(key: &str) -> String {
    format!("key-{key}")
}

/// The peer's names are from now on those of whom it acts for, or it is told whose they are. A guest
/// has none.
pub(super) async fn claim(remote: &Remote, peer: &Peer) -> Result<(), String> {
    let (standing, client, identity) = (peer.standing(), peer.client(), peer.identity());
    if standing.rights == Rights::Guest {
        return Ok(());
    }
    let owner = standing.user(client);
    claim_one(remote, &standing, &owner, (client, NameOf::Client)).await?;
    if identity == client {
        return Ok(());
    }
    // A key for one client gives a say in that client's names, not in everybody's.
    if standing.owned && !identity.starts_with(client) {
        return Err(format!(
            "{INVALID_KEY} The identity of an instance begins with its client's id, '{client}'."
        ));
    }
    claim_one(remote, &standing, &owner, (identity, NameOf::Instance)).await
}

async fn claim_one(
    remote: &Remote,
    standing: &Authorization,
    owner: &str,
    (name, of): (&str, NameOf),
) -> Result<(), String> {
    let own = standing.key.as_deref().map(of_key);
    if own.as_deref() == Some(name) {
        return Ok(());
    }
    if is_reserved(name) {
        return Err(taken(INVALID_KEY, name));
    }
    let store = remote.store();
    // What is said in a client's own place is kept beside what is said in rooms, by name.
    if store
        .client_names()
        .owner(name)
        .await
        .map_err(unsure)?
        .is_none()
        && let Some(room) = store.rooms().get(name).await.map_err(unsure)?
        && room.member(name).is_none()
    {
        return Err(format!("{INVALID_KEY} '{name}' is the name of a room."));
    }
    match store.client_names().claim(name, of, owner).await {
        Ok(()) => Ok(()),
        Err(StoreError::NameTaken(_)) => Err(taken(INVALID_KEY, name)),
        Err(error @ StoreError::TooMany { .. }) => Err(format!("{INVALID_KEY} {error}.")),
        Err(error) => Err(unsure(error)),
    }
}

/// May somebody without a key call itself that? Only by a name that is nobody's, or by that of a client
/// approved from the very page it comes from, which has to ask again at each start.
pub(super) async fn admit_guest(
    remote: &Remote,
    client: &str,
    origin: Option<&str>,
) -> Result<(), String> {
    if is_reserved(client) {
        return Err(taken(NOT_TRUSTED, client));
    }
    let store = remote.store();
    let known = store.clients().find(client).await.map_err(unsure)?;
    if known
        .as_ref()
        .is_some_and(|known| known.state == ClientState::Revoked)
    {
        return Err(NOT_TRUSTED.to_owned());
    }
    let Some(owner) = store.client_names().owner(client).await.map_err(unsure)? else {
        return Ok(());
    };
    let approved = known.is_some_and(|known| {
        known.state == ClientState::Approved && known.origin.as_deref() == origin
    });
    if approved && owner == client_owner(client) {
        Ok(())
    } else {
        Err(taken(NOT_TRUSTED, client))
    }
}

fn is_reserved(name: &str) -> bool {
    OURS.contains(&name) || name.starts_with(&of_key(""))
}

fn taken(compatible: &str, name: &str) -> String {
    format!(
        "{compatible} The client id '{name}' belongs to somebody else: connect with its own key, or \
         under another id."
    )
}

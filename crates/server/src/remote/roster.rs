//! [`Roster`]: who is connected where, at this moment.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

use super::{Peer, line::locked};

/// By client and then by arrival. A plain mutex, held for a lookup.
#[derive(Default)]
pub struct Roster {
    clients: Mutex<HashMap<String, BTreeMap<u64, Peer>>>,
    next: AtomicU64,
    /// Counts who comes, goes and asks; the count itself means nothing.
    changes: watch::Sender<u64>,
}

impl Roster {
    /// The sockets of `client` in `namespace`, oldest first.
    pub fn of(&self, namespace: &str, client: &str) -> Vec<Peer> {
        let clients = locked(&self.clients);
        let peers = clients.get(client).into_iter().flat_map(BTreeMap::values);
        peers
            .filter(|peer| peer.namespace() == namespace)
            .cloned()
            .collect()
    }

    /// Every socket in `namespace`, oldest first.
    pub fn everyone(&self, namespace: &str) -> Vec<Peer> {
        let mut peers: Vec<Peer> = {
            let clients = locked(&self.clients);
            let all = clients.values().flat_map(BTreeMap::values);
            all.filter(|peer| peer.namespace() == namespace)
                .cloned()
                .collect()
        };
        peers.sort_by_key(Peer::number);
        peers
    }

    /// One socket of each connected client, by client.
    pub fn clients(&self) -> Vec<Peer> {
        let mut peers: Vec<Peer> = {
            let clients = locked(&self.clients);
            let first = |peers: &BTreeMap<u64, Peer>| peers.values().next().cloned();
            clients.values().filter_map(first).collect()
        };
        peers.sort_by(|one, other| one.client().cmp(other.client()));
        peers
    }

    /// Every socket of `client`, in any namespace.
    pub fn sockets(&self, client: &str) -> Vec<Peer> {
        let clients = locked(&self.clients);
        let peers = clients.get(client).into_iter().flat_map(BTreeMap::values);
        peers.cloned().collect()
    }

    pub(super) fn add(&self, peer: &Peer) {
        let mut clients = locked(&self.clients);
        let peers = clients.entry(peer.client().to_owned()).or_default();
        peers.insert(peer.number(), peer.clone());
        drop(clients);
        self.changed();
    }

    pub(super) fn remove(&self, peer: &Peer) {
        let mut clients = locked(&self.clients);
        if let Some(peers) = clients.get_mut(peer.client()) {
            peers.remove(&peer.number());
            if peers.is_empty() {
                clients.remove(peer.client());
            }
        }
        drop(clients);
        self.changed();
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Told of changes from now on.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

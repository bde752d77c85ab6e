//! [`Roster`]: who is connected where, at this moment.

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{Peer, Rights};

/// By name and then by arrival: each socket under its client's id and, where it has one, under its
/// identity. A plain mutex, held for a lookup.
#[derive(Default)]
pub struct Roster {
    names: Mutex<HashMap<String, BTreeMap<u64, Peer>>>,
    next: AtomicU64,
    /// Counts who comes, goes and asks; the count itself means nothing.
    changes: watch::Sender<u64>,
}

impl Roster {
    /// The sockets of `client` in `namespace` that were let in, oldest first. Whoever only says the
    /// name is not among them.
    pub fn of(&self, namespace: &str, client: &str) -> Vec<Peer> {
        let mut peers = self.bearing(namespace, client);
        peers.retain(|peer| peer.client() == client);
        peers
    }

    /// The same of those whose client or identity has this name.
    pub fn bearing(&self, namespace: &str, name: &str) -> Vec<Peer> {
        let names = self.names.lock();
        let peers = names.get(name).into_iter().flat_map(BTreeMap::values);
        peers
            .filter(|peer| peer.namespace() == namespace && peer.rights() > Rights::Guest)
            .cloned()
            .collect()
    }

    /// Every socket in `namespace`, oldest first.
    pub fn everyone(&self, namespace: &str) -> Vec<Peer> {
        let mut peers: Vec<Peer> = {
            let names = self.names.lock();
            let all = names
                .iter()
                .flat_map(|(name, peers)| of_client(name, peers));
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
            let names = self.names.lock();
            let all = names.iter();
            all.filter_map(|(name, peers)| of_client(name, peers).next().cloned())
                .collect()
        };
        peers.sort_by(|one, other| one.client().cmp(other.client()));
        peers
    }

    /// Every socket under the id of `client`, in any namespace, let in or not.
    pub fn sockets(&self, client: &str) -> Vec<Peer> {
        let names = self.names.lock();
        let peers = names.get_key_value(client).into_iter();
        let peers = peers.flat_map(|(name, peers)| of_client(name, peers));
        peers.cloned().collect()
    }

    /// Is anybody here whose client or identity has this name?
    pub fn is_here(&self, name: &str) -> bool {
        self.names.lock().contains_key(name)
    }

    /// One that was let in.
    pub fn add(&self, peer: &Peer) {
        let mut names = self.names.lock();
        for name in [peer.client(), peer.identity()] {
            let peers = names.entry(name.to_owned()).or_default();
            peers.insert(peer.number(), peer.clone());
        }
        drop(names);
        self.changed();
    }

    pub(super) fn remove(&self, peer: &Peer) {
        let mut names = self.names.lock();
        for name in [peer.client(), peer.identity()] {
            if let Some(peers) = names.get_mut(name) {
                peers.remove(&peer.number());
                if peers.is_empty() {
                    names.remove(name);
                }
            }
        }
        drop(names);
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

fn of_client<'a>(name: &'a str, peers: &'a BTreeMap<u64, Peer>) -> impl Iterator<Item = &'a Peer> {
    peers.values().filter(move |peer| peer.client() == name)
}

//! [`Logins`]: the accounts that the server has, each on some network (`discord`, `telegram`), and what is known of
//! the chats that they hear. Where one connection serves several networks, ids begin with the network's name:
//! the same number is somebody else elsewhere.

use std::collections::HashMap;

use callgate_contract::SessionKey;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value as Json;

use super::event::{field, number};
use crate::AccountStatus;

/// Names of members that are remembered at once.
const MOST_NAMES: usize = 20_000;
/// A login's status when it can be reached.
const ONLINE: i64 = 1;

/// An account on a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) network: String,
    pub(super) account: String,
    pub(super) name: String,
    /// The server's adapter for that network.
    adapter: String,
    /// What the server calls it in events.
    number: Option<i64>,
    since: i64,
}

/// Whom the operator wants served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SatoriAccount {
    pub network: String,
    /// All of the network, where none is named.
    pub account: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Chat {
    account: String,
    guild: Option<String>,
    /// What the network wants to have back with an answer.
    referrer: Option<Json>,
}

/// Mutexes: each is held for a look or a change, never across an await.
pub(super) struct Logins {
    only: Option<SatoriAccount>,
    known: Mutex<Vec<Login>>,
    chats: Mutex<HashMap<SessionKey, Chat>>,
    names: Mutex<HashMap<(SessionKey, String), String>>,
}

impl Logins {
    pub(super) fn new(only: Option<SatoriAccount>) -> Self {
        Logins {
            only,
            known: Mutex::default(),
            chats: Mutex::default(),
            names: Mutex::default(),
        }
    }

    /// All there are, as a connection begins. What is not served is named.
    pub(super) fn set(&self, told: &[Json]) -> Vec<String> {
        let mut left_out = Vec::new();
        let mut known = Vec::new();
        for login in told {
            let Some((login, is_online)) = Login::read(login) else {
                continue;
            };
            if !self.serves(&login) {
                left_out.push(format!("{}:{}", login.network, login.account));
            } else if is_online {
                known.push(login);
            }
        }
        *self.known.lock() = known;
        left_out
    }

    /// One came, went or changed; true if it can be reached now and could not before.
    pub(super) fn update(&self, told: &Json, is_there: bool) -> bool {
        let Some((login, is_online)) = Login::read(told) else {
            return false;
        };
        let mut known = self.known.lock();
        let before = known.iter().position(|it| it.is(&login));
        if let Some(before) = before {
            known.remove(before);
        }
        let is_there = is_there && is_online && self.serves(&login);
        if is_there {
            known.push(login);
        }
        is_there && before.is_none()
    }

    pub(super) fn clear(&self) {
        self.known.lock().clear();
    }

    fn serves(&self, login: &Login) -> bool {
        self.only.as_ref().is_none_or(|only| {
            let account = only.account.as_ref();
            only.network == login.network && account.is_none_or(|own| *own == login.account)
        })
    }

    pub(super) fn statuses(&self) -> Vec<AccountStatus> {
        let known = self.known.lock();
        let statuses = known.iter().map(|login| AccountStatus {
            id: self.id(&login.network, &login.account),
            name: login.name.clone(),
            program: format!("{} {}", login.adapter, login.network)
                .trim()
                .to_owned(),
            since: login.since,
        });
        statuses.collect()
    }

    /// An id of a network as we call it.
    pub(super) fn id(&self, network: &str, id: &str) -> String {
        match self.only {
            Some(_) => id.to_owned(),
            None => format!("{network}:{id}"),
        }
    }

    /// The same as the network calls it, and which network that is.
    pub(super) fn own<'a>(&'a self, id: &'a str) -> (Option<&'a str>, &'a str) {
        match (&self.only, id.split_once(':')) {
            (Some(only), _) => (Some(&only.network), id),
            (None, Some((network, own))) if self.has_network(network) => (Some(network), own),
            (None, _) => (None, id),
        }
    }

    fn has_network(&self, network: &str) -> bool {
        self.known.lock().iter().any(|it| it.network == network)
    }

    /// Whose event it is.
    pub(super) fn of_event(&self, event: &Json) -> Option<Login> {
        let told = event.get("login").unwrap_or(&Json::Null);
        let user = told.get("user").and_then(|user| field(user, "id"));
        // As servers before version 1.2 tell it.
        let user = user.or(field(told, "self_id")).or(field(event, "self_id"));
        let network = field(told, "platform").or(field(event, "platform"));
        let known = self.known.lock();
        let mut known = known.iter();
        let found = match (network, user) {
            (Some(network), Some(user)) => {
                known.find(|it| it.network == network && it.account == user)
            }
            _ => {
                let told = number(told, "sn")?;
                known.find(|it| it.number == Some(told))
            }
        };
        found.cloned()
    }

    pub(super) fn is_ours(&self, network: &str, account: &str) -> bool {
        let known = self.known.lock();
        known
            .iter()
            .any(|it| it.network == network && it.account == account)
    }

    /// Is this event the login's to tell? Of several that are in one channel the first that spoke is, as
    /// long as it is there, so that nothing is heard twice.
    pub(super) fn hears(&self, session: &SessionKey, login: &Login) -> bool {
        let chats = self.chats.lock();
        let other = chats.get(session).map(|chat| &chat.account);
        other.is_none_or(|other| *other == login.account || !self.is_ours(&login.network, other))
    }

    pub(super) fn heard(&self, session: &SessionKey, login: &Login, event: &Json) {
        let mut chats = self.chats.lock();
        let chat = chats.entry(session.clone()).or_default();
        chat.account.clone_from(&login.account);
        if let Some(guild) = event.get("guild").and_then(|guild| field(guild, "id")) {
            chat.guild = Some(guild);
        }
        if let Some(referrer) = event.get("referrer").filter(|it| !it.is_null()) {
            chat.referrer = Some(referrer.clone());
        }
    }

    pub(super) fn has_heard(&self, session: &SessionKey) -> bool {
        self.chats.lock().contains_key(session)
    }

    pub(super) fn guild(&self, session: &SessionKey) -> Option<String> {
        self.chats.lock().get(session)?.guild.clone()
    }

    pub(super) fn referrer(&self, session: &SessionKey) -> Option<Json> {
        self.chats.lock().get(session)?.referrer.clone()
    }

    /// Those by which a chat may be reached; the one that heard it, where that is known.
    pub(super) fn for_chat(&self, session: &SessionKey) -> Vec<Login> {
        let (network, _) = self.own(session.id());
        let heard = self.chats.lock().get(session).map(|it| it.account.clone());
        let known = self.known.lock();
        let there = known
            .iter()
            .filter(|it| network.is_none_or(|network| it.network == network));
        let there: Vec<Login> = there.cloned().collect();
        let one = there
            .iter()
            .find(|it| heard.as_ref() == Some(&it.account))
            .cloned();
        one.map_or(there, |one| vec![one])
    }

    /// The one with that id as we call it, or as the network does; or the first.
    pub(super) fn named(&self, id: Option<&str>) -> Option<Login> {
        let known = self.known.lock();
        let mut known = known.iter();
        let found = match id {
            Some(id) => {
                known.find(|it| it.account == id || self.id(&it.network, &it.account) == id)
            }
            None => known.next(),
        };
        found.cloned()
    }

    pub(super) fn known_name(&self, session: &SessionKey, id: &str) -> Option<String> {
        let key = (session.clone(), id.to_owned());
        self.names.lock().get(&key).cloned()
    }

    pub(super) fn remember_name(&self, session: &SessionKey, id: &str, name: &str) {
        let mut names = self.names.lock();
        if names.len() >= MOST_NAMES {
            names.clear();
        }
        names.insert((session.clone(), id.to_owned()), name.to_owned());
    }
}

impl Login {
    /// With whether it can be reached.
    fn read(told: &Json) -> Option<(Self, bool)> {
        let user = told.get("user").unwrap_or(&Json::Null);
        let login = Login {
            network: field(told, "platform")?,
            account: field(user, "id").or(field(told, "self_id"))?,
            name: field(user, "nick")
                .or(field(user, "name"))
                .unwrap_or_default(),
            adapter: field(told, "adapter").unwrap_or_default(),
            number: number(told, "sn"),
            since: Timestamp::now().as_millisecond(),
        };
        let status = number(told, "status");
        Some((login, status.is_none_or(|status| status == ONLINE)))
    }

    fn is(&self, other: &Login) -> bool {
        self.network == other.network && self.account == other.account
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(network: &str, id: &str, status: i64) -> Json {
        json!({"sn": 3, "platform": network, "status": status, "user": {"id": id, "name": "Bot"}})
    }

    #[test]
    fn ids_of_several_networks_stay_apart() {
        let logins = Logins::new(None);
        assert!(
            logins
                .set(&[told("a", "1", 1), told("b", "1", 1)])
                .is_empty()
        );
        let ids = |logins: &Logins| logins.statuses().into_iter().map(|it| it.id);
        assert_eq!(ids(&logins).collect::<Vec<_>>(), ["a:1", "b:1"]);
        assert_eq!(logins.own("b:7"), (Some("b"), "7"));
        assert_eq!(logins.own("private:7"), (None, "private:7"));
        let session: SessionKey = "s:GroupMessage:b:7".parse().unwrap();
        assert_eq!(logins.for_chat(&session)[0].network, "b");
    }

    #[test]
    fn only_who_is_wanted_is_served() {
        let only = SatoriAccount {
            network: "a".to_owned(),
            account: None,
        };
        let logins = Logins::new(Some(only));
        let told_of = [told("a", "1", 1), told("a", "2", 0), told("b", "1", 1)];
        assert_eq!(logins.set(&told_of), ["b:1"]);
        assert_eq!(logins.named(None).unwrap().account, "1");
        assert!(logins.update(&told("a", "2", 1), true));
        assert!(!logins.update(&told("b", "2", 1), true));
        assert!(!logins.update(&told("a", "1", 0), true));
        assert_eq!(logins.named(None).unwrap().account, "2");
        assert_eq!(logins.own("private:7"), (Some("a"), "private:7"));
    }
}

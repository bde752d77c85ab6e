//! [`Bots`]: who is connected now, and by which of them a chat is reached. A bot that connects again
//! while its old connection is still open is reached by the new one, and stays so when the old one ends.

use std::{collections::HashMap, sync::Arc, time::Duration};

use callgate_contract::SessionKey;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json};

use super::{http::HttpActions, link::Link};
use crate::{AccountStatus, ActionError};

/// Names of members that are remembered at once.
const MOST_NAMES: usize = 20_000;

/// Mutexes: each is held for a look or a change, never across an await.
pub(super) struct Bots {
    links: Mutex<Vec<Connected>>,
    /// The bot that a chat was last heard by.
    heard_by: Mutex<HashMap<SessionKey, String>>,
    names: Mutex<HashMap<(SessionKey, String), String>>,
    http: Option<HttpActions>,
}

struct Connected {
    link: Arc<Link>,
    status: AccountStatus,
}

impl Bots {
    pub(super) fn new(http: Option<HttpActions>) -> Self {
        Bots {
            links: Mutex::default(),
            heard_by: Mutex::default(),
            names: Mutex::default(),
            http,
        }
    }

    pub(super) fn add(&self, link: &Arc<Link>) {
        let status = AccountStatus {
            id: link.account().to_owned(),
            since: Timestamp::now().as_millisecond(),
            ..AccountStatus::default()
        };
        self.links.lock().push(Connected {
            link: link.clone(),
            status,
        });
    }

    pub(super) fn remove(&self, link: &Arc<Link>) {
        self.links.lock().retain(|it| !Arc::ptr_eq(&it.link, link));
    }

    /// What was found out about who has connected.
    pub(super) fn describe(&self, link: &Arc<Link>, name: String, program: String) {
        let mut links = self.links.lock();
        if let Some(found) = links.iter_mut().find(|it| Arc::ptr_eq(&it.link, link)) {
            (found.status.name, found.status.program) = (name, program);
        }
    }

    /// One entry for each bot, however many connections it has.
    pub(super) fn statuses(&self) -> Vec<AccountStatus> {
        let mut found: Vec<AccountStatus> = Vec::new();
        for connected in self.links.lock().iter().rev() {
            if connected.link.acts && !found.iter().any(|it| it.id == connected.status.id) {
                found.push(connected.status.clone());
            }
        }
        found.extend(self.http.as_ref().and_then(HttpActions::status));
        found
    }

    pub(super) fn http(&self) -> Option<&HttpActions> {
        self.http.as_ref()
    }

    /// Is this event the bot's to tell? Of several that are in one group the first that spoke is, as
    /// long as it is connected, so that nothing is heard twice.
    pub(super) fn hears(&self, session: &SessionKey, bot: &str, is_private: bool) -> bool {
        let mut heard_by = self.heard_by.lock();
        if let Some(other) = heard_by.get(session)
            && other != bot
            && !is_private
            && self.is_connected(other)
        {
            return false;
        }
        heard_by.insert(session.clone(), bot.to_owned());
        true
    }

    fn is_connected(&self, bot: &str) -> bool {
        let links = self.links.lock();
        links
            .iter()
            .any(|it| it.link.account() == bot && it.link.is_open())
    }

    /// By whom a chat is reached.
    pub(super) fn of(&self, session: &SessionKey) -> Option<String> {
        self.heard_by.lock().get(session).cloned()
    }

    /// Of the bot, or of any: the connection that was opened last.
    fn link(&self, bot: Option<&str>) -> Option<Arc<Link>> {
        let links = self.links.lock();
        let mut open = links
            .iter()
            .rev()
            .filter(|it| it.link.acts && it.link.is_open());
        let found = match bot {
            Some(bot) => open.find(|it| it.link.account() == bot),
            None => open.next(),
        };
        found.map(|it| it.link.clone())
    }

    pub(super) async fn call(
        &self,
        bot: Option<&str>,
        action: &str,
        parameters: Map<String, Json>,
        deadline: Duration,
    ) -> Result<Json, ActionError> {
        if let Some(link) = self.link(bot) {
            return link.call(action, &parameters, deadline).await;
        }
        match &self.http {
            Some(http) => http.call(action, &parameters, deadline).await,
            None => Err(ActionError::Unreachable {
                reason: match bot {
                    Some(bot) => format!("account {bot} is not connected"),
                    None => "no account is connected".to_owned(),
                },
            }),
        }
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

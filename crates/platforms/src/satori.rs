//! Satori v1, a protocol by which one server brings bots of many networks. We connect to it: events come over a
//! WebSocket, and those of a time without connection are told again; everything else is an HTTP request. A
//! message that leaves has no key by which the server would know it again: after a crash it is looked for in the
//! chat's history where there is one, and never sent blindly.

mod actions;
mod api;
mod connection;
mod cursor;
mod element;
mod event;
mod flat;
mod incoming;
mod logins;
mod outgoing;
mod taking;

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    BoxFuture, DeliveryError, Found, Message, Part, Piece, Receipt, Repetition, SessionKey,
    SessionType,
};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};

pub use self::logins::SatoriAccount;
use self::{
    api::{Api, ApiError},
    cursor::Cursor,
    event::field,
    logins::{Login, Logins},
    outgoing::Unsendable,
};
use crate::{
    ActionError, Host, Platform, PlatformAction, PlatformStatus, arrivals::Arrivals, pieces::pieces,
};

/// How long a message may take to be sent: pictures are uploaded meanwhile.
const SEND: Duration = Duration::from_secs(60);
const ASK: Duration = Duration::from_secs(20);
/// How long a message of which nobody knows whether it arrived waits to be looked for.
const RECONNECT: Duration = Duration::from_secs(20);
/// Messages of a chat among which one of ours is looked for.
const HISTORY: usize = 50;

#[derive(Clone, Default)]
pub struct SatoriSettings {
    /// The platform of session keys.
    pub id: String,
    /// The server's, `http:` or `https:`, without what follows from the protocol (`/v1`) and the slash at its
    /// end.
    pub url: String,
    pub token: Option<String>,
    /// All logins of the server, where none is named.
    pub account: Option<SatoriAccount>,
    /// Characters of one message; longer answers are several.
    pub longest: usize,
}

pub struct Satori {
    shared: Arc<Shared>,
}

/// What the connection and the tasks of events share.
struct Shared {
    settings: SatoriSettings,
    host: Arc<dyn Host>,
    api: Api,
    logins: Logins,
    arrivals: Arc<Arrivals>,
    cursor: Cursor,
    /// Beginnings of addresses that only the server can fetch. A mutex, held for a look or a change.
    proxied: Mutex<Vec<String>>,
}

impl Satori {
    /// What may be offered to an AI.
    pub const ACTIONS: &[PlatformAction] = actions::ACTIONS;

    pub fn new(settings: SatoriSettings, host: Arc<dyn Host>) -> Result<Self, String> {
        // For `wss:` and `https:`. An error means that a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Satori {
            shared: Arc::new(Shared {
                api: Api::new(&settings).map_err(|error| error.to_string())?,
                logins: Logins::new(settings.account.clone()),
                arrivals: Arrivals::new(&settings.id, host.clone()),
                cursor: Cursor::new(host.clone()),
                proxied: Mutex::default(),
                settings,
                host,
            }),
        })
    }
}

impl Shared {
    /// The server knows us, and says who is logged in.
    fn ready(&self, body: &Json) {
        self.meta(body);
        let told = body.get("logins").and_then(Json::as_array);
        let left_out = self.logins.set(told.map_or(&[], Vec::as_slice));
        let accounts = self.logins.statuses();
        if accounts.is_empty() {
            let others = if left_out.is_empty() {
                "nobody is logged in there".to_owned()
            } else {
                format!("account names none of {}", left_out.join(", "))
            };
            self.arrivals.failed(&format!("connected, but {others}"));
        }
        let ids: Vec<&str> = accounts.iter().map(|it| it.id.as_str()).collect();
        tracing::info!(
            platform = self.settings.id,
            accounts = ids.join(", "),
            "connected"
        );
        self.host.connected();
    }

    fn meta(&self, body: &Json) {
        let told = body.get("proxy_urls").and_then(Json::as_array);
        let told = told.into_iter().flatten().filter_map(Json::as_str);
        *self.proxied.lock() = told.map(str::to_owned).collect();
    }

    fn is_proxied(&self, url: &str) -> bool {
        let proxied = self.proxied.lock();
        proxied
            .iter()
            .any(|prefix| url.starts_with(prefix.as_str()))
    }

    /// The login by which a chat is reached. Of several that might be it, one that sees the chat.
    async fn login_for(&self, session: &SessionKey) -> Result<Login, ApiError> {
        let mut logins = self.logins.for_chat(session);
        if logins.len() > 1 {
            let channel = json!({"channel_id": self.logins.own(session.id()).1});
            let channel = channel.as_object().cloned().unwrap_or_default();
            for login in &logins {
                let seen = self.api.call(login, "channel.get", &channel, ASK).await;
                if seen.is_ok() {
                    return Ok(login.clone());
                }
            }
        }
        logins.truncate(1);
        let none = || ApiError::Unreachable("no account is connected".to_owned());
        logins.pop().ok_or_else(none)
    }

    fn channel(&self, session: &SessionKey) -> Map<String, Json> {
        let (_, channel) = self.logins.own(session.id());
        Map::from_iter([("channel_id".to_owned(), channel.into())])
    }

    async fn deliver(&self, piece: Piece<'_>) -> Result<Receipt, DeliveryError> {
        let login = self.login_for(piece.session).await?;
        let content = outgoing::content(self, &login, piece.session, piece.parts).await;
        let content = content.map_err(|error| match error {
            Unsendable::Never(reason) => DeliveryError::Refused { reason },
            Unsendable::Api(error) => error.into(),
        })?;
        let mut parameters = self.channel(piece.session);
        parameters.insert("content".to_owned(), content.into());
        if let Some(referrer) = self.logins.referrer(piece.session) {
            parameters.insert("referrer".to_owned(), referrer);
        }
        let answer = self
            .api
            .call(&login, "message.create", &parameters, SEND)
            .await?;
        self.arrivals.sent();
        let first = answer.get(0).unwrap_or(&answer);
        Ok(Receipt {
            message_id: field(first, "id"),
        })
    }

    /// Looks at what the chat shows, where the server can tell.
    async fn look_for(&self, piece: Piece<'_>) -> Found {
        if !self.reachable_within(RECONNECT).await {
            return Found::Unknown;
        }
        let Ok(login) = self.login_for(piece.session).await else {
            return Found::Unknown;
        };
        let mut parameters = self.channel(piece.session);
        parameters.insert("limit".to_owned(), HISTORY.into());
        parameters.insert("direction".to_owned(), "before".into());
        parameters.insert("order".to_owned(), "desc".into());
        let asked = self.api.call(&login, "message.list", &parameters, ASK);
        let Ok(answer) = asked.await else {
            return Found::Unknown;
        };
        let messages = answer.get("data").unwrap_or(&answer).as_array();
        messages.map_or(Found::Unknown, |messages| {
            self.find(&login.network, messages, &piece)
        })
    }

    async fn reachable_within(&self, limit: Duration) -> bool {
        let reachable = async {
            while self.logins.named(None).is_none() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(limit, reachable).await.is_ok()
    }

    async fn call(
        &self,
        bot: Option<&str>,
        action: &str,
        mut parameters: Map<String, Json>,
    ) -> Result<Json, ActionError> {
        let none = || ApiError::Unreachable("no such account is connected".to_owned());
        // What an AI is offered is about its chat, which is called by our name.
        let Some(offered) = actions::ACTIONS.iter().find(|it| it.name == action) else {
            let login = self.logins.named(bot).ok_or_else(none)?;
            return Ok(self.api.call(&login, action, &parameters, SEND).await?);
        };
        let chat = parameters.remove("channel_id");
        let chat = chat.as_ref().and_then(Json::as_str).unwrap_or_default();
        let session = self.session(offered, chat).ok_or_else(none)?;
        let login = self.login_for(&session).await?;
        if let Some(Json::String(user)) = parameters.get_mut("user_id") {
            *user = self.logins.own(user).1.to_owned();
        }
        if let Some(emoji) = parameters.get("emoji_id").cloned() {
            // As servers before version 1.2 read it.
            parameters.insert("emoji".to_owned(), emoji);
        }
        if action.starts_with("guild_") {
            let guild = self.guild(&login, &session).await?;
            parameters.insert("guild_id".to_owned(), guild.into());
        } else {
            parameters.extend(self.channel(&session));
        }
        let method = action.replace('_', ".");
        Ok(self.api.call(&login, &method, &parameters, SEND).await?)
    }

    /// An action in a private chat and one in a group name it the same way.
    fn session(&self, offered: &PlatformAction, chat: &str) -> Option<SessionKey> {
        let session = |kind| SessionKey::new(&self.settings.id, kind, chat).ok();
        let group = session(SessionType::GroupMessage)?;
        if offered.in_groups || self.logins.has_heard(&group) {
            Some(group)
        } else {
            session(SessionType::FriendMessage)
        }
    }

    /// Events tell it. On networks without channels the group is its own only channel.
    async fn guild(&self, login: &Login, session: &SessionKey) -> Result<String, ApiError> {
        if let Some(guild) = self.logins.guild(session) {
            return Ok(guild);
        }
        let (_, channel) = self.logins.own(session.id());
        let asked = Map::from_iter([("guild_id".to_owned(), channel.into())]);
        match self.api.call(login, "guild.get", &asked, ASK).await {
            Ok(_) => Ok(channel.to_owned()),
            Err(ApiError::Refused { status, .. }) => Err(ApiError::Refused {
                reason: "nobody has written in this channel since the start, so it is not \
                         known which group it belongs to"
                    .to_owned(),
                status,
            }),
            Err(error) => Err(error),
        }
    }
}

impl Platform for Satori {
    fn run(&self) -> BoxFuture<'_, ()> {
        let shared = &self.shared;
        Box::pin(async move {
            tokio::select! {
                never = connection::connect(shared) => match never {},
                () = shared.cursor.keep() => {}
            }
        })
    }

    fn status(&self) -> PlatformStatus {
        let shared = &self.shared;
        shared.arrivals.status(shared.logins.statuses())
    }

    fn repetition(&self) -> Repetition {
        Repetition::Harmful
    }

    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        pieces(&message.parts, self.shared.settings.longest)
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(self.shared.deliver(piece))
    }

    fn look_for<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Found> {
        Box::pin(self.shared.look_for(piece))
    }

    fn actions(&self) -> &'static [PlatformAction] {
        Self::ACTIONS
    }

    fn call<'a>(
        &'a self,
        bot: Option<&'a str>,
        action: &'a str,
        parameters: Map<String, Json>,
    ) -> BoxFuture<'a, Result<Json, ActionError>> {
        Box::pin(self.shared.call(bot, action, parameters))
    }
}

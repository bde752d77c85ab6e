//! OneBot v11, as NapCat, Lagrange and others speak it. They connect to us, or we to them, by WebSocket;
//! or events come as POST requests and actions go as HTTP requests. One connection point serves several
//! bots. A message that leaves has no key by which the other side would know it again: after a crash it is
//! looked for in the chat's history, and never sent blindly.

mod actions;
mod answer;
mod bots;
mod event;
mod forward;
mod http;
mod link;
mod listener;
mod outgoing;
mod parts;
mod segment;
mod taking;

use std::{future::pending, sync::Arc, time::Duration};

use callgate_contract::{
    BoxFuture, Cancel, DeliveryError, Found, Message, Part, Piece, Receipt, Repetition, SessionType,
};
use serde_json::{Map, Value as Json, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_tungstenite::{WebSocketStream, tungstenite::protocol::WebSocketConfig};

use self::{bots::Bots, event::field, http::HttpActions, link::Link};
use crate::{
    ActionError, Host, Platform, PlatformAction, PlatformStatus, arrivals::Arrivals, pieces::pieces,
};

/// How long a message may take to be sent: pictures are uploaded meanwhile.
const SEND: Duration = Duration::from_secs(60);
const ASK: Duration = Duration::from_secs(20);
/// Between two looks at a program that is reached by HTTP.
const LOOK: Duration = Duration::from_secs(15);
/// How long a message of which nobody knows whether it arrived waits to be looked for.
const RECONNECT: Duration = Duration::from_secs(20);
const LARGEST_FRAME: usize = 64 << 20;
/// Events of one connection that wait to be taken.
const QUEUE: usize = 256;

#[derive(Clone, Default)]
pub struct OneBotSettings {
    /// The platform of session keys.
    pub id: String,
    /// Where programs connect to us.
    pub listen: Option<String>,
    /// Where we connect: `ws:`, `wss:`, or `http:` and `https:` for actions alone.
    pub url: Option<String>,
    pub token: Option<String>,
    /// What webhooks are signed with, where that is not the token.
    pub secret: Option<String>,
    /// The only account that may connect.
    pub account: Option<String>,
    /// Characters of one message; longer answers are several.
    pub longest: usize,
}

impl OneBotSettings {
    fn admits(&self, account: &str) -> bool {
        self.account.as_ref().is_none_or(|own| own == account)
    }
}

pub struct OneBot {
    shared: Arc<Shared>,
}

/// What the tasks of all connections share.
struct Shared {
    settings: OneBotSettings,
    host: Arc<dyn Host>,
    bots: Bots,
    arrivals: Arc<Arrivals>,
    /// Nobody keeps it connected any more: connections that were accepted end too.
    ended: Cancel,
}

impl OneBot {
    /// What may be offered to an AI.
    pub const ACTIONS: &[PlatformAction] = actions::ACTIONS;

    pub fn new(settings: OneBotSettings, host: Arc<dyn Host>) -> Result<Self, String> {
        // For `wss:` and `https:`. An error means that a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = HttpActions::new(&settings).map_err(|error| error.to_string())?;
        Ok(OneBot {
            shared: Arc::new(Shared {
                bots: Bots::new(http),
                arrivals: Arrivals::new(&settings.id, host.clone()),
                ended: Cancel::new(),
                settings,
                host,
            }),
        })
    }
}

impl Shared {
    fn frames(&self) -> WebSocketConfig {
        WebSocketConfig::default()
            .max_message_size(Some(LARGEST_FRAME))
            .max_frame_size(Some(LARGEST_FRAME))
    }

    /// Serves a connection until it ends. One that came without an account is asked whose it is.
    async fn connected<S: AsyncRead + AsyncWrite + Unpin>(
        self: &Arc<Self>,
        socket: WebSocketStream<S>,
        account: &str,
        acts: bool,
    ) {
        let (link, queue) = Link::new(acts);
        let (events, mut told) = mpsc::channel::<Json>(QUEUE);
        let working = async {
            if let Err(reason) = self.introduce(&link, account).await {
                return reason;
            }
            self.bots.add(&link);
            if acts {
                self.host.connected();
                // A task, since events do not wait for a name. It ends with the connection.
                tokio::spawn(self.clone().describe(link.clone()));
            }
            while let Some(event) = told.recv().await {
                // It goes on by itself: nobody there waits for an answer.
                drop(self.take(link.account(), event).await);
            }
            pending().await
        };
        let why = tokio::select! {
            why = link.serve(socket, queue, &events) => why,
            why = working => why,
            () = self.ended.cancelled() => "the platform was switched off".to_owned(),
        };
        self.bots.remove(&link);
        self.arrivals.failed(&format!(
            "account {} was disconnected: {why}",
            link.account()
        ));
    }

    async fn introduce(&self, link: &Link, account: &str) -> Result<(), String> {
        let account = if account.is_empty() {
            let info = link.call("get_login_info", &Map::new(), ASK).await;
            let info = info.map_err(|error| format!("it did not say whose it is: {error}"))?;
            field(&info, "user_id").ok_or("it did not say whose it is")?
        } else {
            account.to_owned()
        };
        if !self.settings.admits(&account) {
            return Err(format!(
                "account {account} is not the one this platform is for"
            ));
        }
        link.belongs_to(account);
        Ok(())
    }

    async fn describe(self: Arc<Self>, link: Arc<Link>) {
        let nothing = Map::new();
        let name = link.call("get_login_info", &nothing, ASK).await;
        let name = name.ok().and_then(|info| field(&info, "nickname"));
        let program = link.call("get_version_info", &nothing, ASK).await;
        let program = program.ok().and_then(|info| {
            let version = field(&info, "app_version").unwrap_or_default();
            Some(format!("{} {version}", field(&info, "app_name")?))
        });
        let program = program.unwrap_or_default();
        tracing::info!(
            platform = self.settings.id,
            account = link.account(),
            program,
            "connected"
        );
        self.bots.describe(&link, name.unwrap_or_default(), program);
    }

    /// The bot that a chat is reached by, or any.
    async fn call_for(
        &self,
        piece: &Piece<'_>,
        action: &str,
        parameters: Map<String, Json>,
        deadline: Duration,
    ) -> Result<Json, ActionError> {
        let bot = self.bots.of(piece.session);
        let called = self
            .bots
            .call(bot.as_deref(), action, parameters.clone(), deadline);
        match called.await {
            // The one that heard the chat last is gone; another may be there.
            Err(ActionError::Unreachable { .. }) if bot.is_some() => {
                self.bots.call(None, action, parameters, deadline).await
            }
            called => called,
        }
    }

    async fn deliver(&self, piece: Piece<'_>) -> Result<Receipt, DeliveryError> {
        let is_group = piece.session.kind() == SessionType::GroupMessage;
        let mut parameters = parts::target(piece.session);
        let refused = |reason| DeliveryError::Refused { reason };
        let host = self.host.as_ref();
        let forward = piece.parts.iter().find_map(|part| match part {
            Part::Forward { messages, .. } => Some(messages),
            _ => None,
        });
        let action = match forward {
            Some(messages) => {
                let bot = self.bots.of(piece.session).unwrap_or_default();
                let nodes = outgoing::nodes(host, piece.session, &bot, messages).await;
                let nodes = nodes.map_err(refused)?;
                parameters.insert("messages".to_owned(), nodes);
                if is_group {
                    "send_group_forward_msg"
                } else {
                    "send_private_forward_msg"
                }
            }
            None => {
                let segments = outgoing::segments(host, piece.session, piece.parts).await;
                let segments = segments.map_err(refused)?;
                let message = segments.iter().map(segment::Segment::json).collect();
                parameters.insert("message".to_owned(), message);
                if is_group {
                    "send_group_msg"
                } else {
                    "send_private_msg"
                }
            }
        };
        let answer = self.call_for(&piece, action, parameters, SEND).await;
        let answer = answer.map_err(|error| match error {
            ActionError::Unreachable { reason } => DeliveryError::Unreachable { reason },
            ActionError::Refused { reason, .. } => DeliveryError::Refused { reason },
            ActionError::NoAnswer { reason } => DeliveryError::Unknown { reason },
        })?;
        self.arrivals.sent();
        Ok(Receipt {
            message_id: field(&answer, "message_id"),
        })
    }

    /// Looks at what the chat shows, where the program can tell.
    async fn look_for(&self, piece: Piece<'_>) -> Found {
        if !self.reachable_within(RECONNECT).await {
            return Found::Unknown;
        }
        let mut parameters = parts::target(piece.session);
        parameters.insert("count".to_owned(), json!(30));
        let is_group = piece.session.kind() == SessionType::GroupMessage;
        let action = if is_group {
            "get_group_msg_history"
        } else {
            "get_friend_msg_history"
        };
        let Ok(answer) = self.call_for(&piece, action, parameters, ASK).await else {
            return Found::Unknown;
        };
        let Some(messages) = answer.get("messages").and_then(Json::as_array) else {
            return Found::Unknown;
        };
        taking::find(messages, &piece, &self.bots.statuses())
    }

    async fn reachable_within(&self, limit: Duration) -> bool {
        let reachable = async {
            while self.bots.statuses().is_empty() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(limit, reachable).await.is_ok()
    }

    async fn watch_http(&self) {
        let Some(http) = self.bots.http() else {
            pending().await
        };
        loop {
            match http.look().await {
                Ok(true) => self.host.connected(),
                Ok(false) => {}
                Err(error) => self.arrivals.failed(&error.to_string()),
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Platform for OneBot {
    fn run(&self) -> BoxFuture<'_, ()> {
        let shared = &self.shared;
        Box::pin(async move {
            // Also when this is no longer awaited.
            let _ended = shared.ended.clone().drop_guard();
            let listening = async {
                match &shared.settings.listen {
                    Some(address) => match listener::listen(shared, address).await {},
                    None => pending().await,
                }
            };
            let connecting = async {
                match shared
                    .settings
                    .url
                    .as_deref()
                    .filter(|url| url.starts_with("ws"))
                {
                    Some(url) => match forward::connect(shared, url).await {},
                    None => pending().await,
                }
            };
            tokio::select! {
                () = listening => {}
                () = connecting => {}
                () = shared.watch_http() => {}
            }
        })
    }

    fn status(&self) -> PlatformStatus {
        let shared = &self.shared;
        shared.arrivals.status(shared.bots.statuses())
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
        Box::pin(self.shared.bots.call(bot, action, parameters, SEND))
    }
}

//! Telegram, by its Bot API: updates are asked for (long poll) or posted to us (webhook). A topic of a group
//! is a chat of its own. Telegram has no key by which it would know a message again and no history that a
//! bot could look at: what a crash leaves open is the operator's, and never sent blindly.

mod actions;
mod api;
mod chats;
mod drafts;
mod entities;
mod event;
mod html;
mod menu;
mod multipart;
mod outgoing;
mod parts;
mod polling;
mod sending;
mod taking;
mod webhook;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use callgate_contract::{
    BoxFuture, DeliveryError, Found, Message, Part, Piece, Receipt, Repetition, SessionKey,
    SessionType,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json};
use tokio::time::sleep;

use self::{
    api::{Api, ApiError},
    chats::Chats,
    drafts::Drafts,
    entities::Me,
    event::{name, text},
    webhook::Albums,
};
use crate::{
    AccountStatus, ActionError, Host, MenuCommand, Platform, PlatformAction, PlatformStatus,
    arrivals::Arrivals,
};

const ASK: Duration = Duration::from_secs(20);
/// How long a message may take to be sent: files are uploaded meanwhile.
const SEND: Duration = Duration::from_secs(60);
/// For what nothing depends on.
const SHOW: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Clone, Default)]
pub struct TelegramSettings {
    /// The platform of session keys.
    pub id: String,
    pub token: String,
    /// Of Telegram's own servers, or of a Bot API server that the operator runs.
    pub api_url: String,
    /// Where updates are posted to; without it they are asked for.
    pub webhook: Option<WebhookSettings>,
    /// What each post shows; one is made of the token where none is given.
    pub secret: Option<String>,
    /// UTF-16 units of one message; longer answers are several.
    pub longest: usize,
}

#[derive(Clone)]
pub struct WebhookSettings {
    /// As Telegram reaches it.
    pub url: String,
    /// Where we listen.
    pub listen: String,
}

pub struct Telegram {
    shared: Arc<Shared>,
}

/// What all tasks share.
struct Shared {
    settings: TelegramSettings,
    host: Arc<dyn Host>,
    api: Api,
    arrivals: Arc<Arrivals>,
    /// Who the bot is, once Telegram has said so. A mutex, held for a copy.
    account: Mutex<Option<(Me, AccountStatus)>>,
    is_reached: AtomicBool,
    /// A mutex, held for a look or a change.
    chats: Mutex<Chats>,
    drafts: Drafts,
    albums: Albums,
}

impl Telegram {
    /// What may be offered to an AI.
    pub const ACTIONS: &[PlatformAction] = actions::ACTIONS;

    pub fn new(settings: TelegramSettings, host: Arc<dyn Host>) -> Result<Self, String> {
        // An error means that a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let api = Api::new(&settings).map_err(|error| error.without_url().to_string())?;
        Ok(Telegram {
            shared: Arc::new(Shared {
                api,
                arrivals: Arrivals::new(&settings.id, host.clone()),
                account: Mutex::default(),
                is_reached: AtomicBool::default(),
                chats: Mutex::default(),
                drafts: Drafts::default(),
                albums: Albums::default(),
                settings,
                host,
            }),
        })
    }
}

impl Shared {
    fn me(&self) -> Option<Me> {
        self.account.lock().as_ref().map(|(me, _)| me.clone())
    }

    fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// Telegram has answered.
    fn reached(&self) {
        if self.is_reached.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some((me, account)) = self.account.lock().as_mut() {
            account.since = Timestamp::now().as_millisecond();
            let username = &me.username;
            tracing::info!(platform = self.settings.id, username, "connected");
        }
        self.host.connected();
    }

    /// It has not; returns how long it wants to be left alone, if it said so.
    fn lost(&self, error: &ApiError) -> Option<Duration> {
        let reason = match error {
            ApiError::Refused {
                code: 401 | 404, ..
            } => "Telegram does not know this token: copy it again from @BotFather (/mybots, \
                  API Token), remove the platform and add it with that"
                .to_owned(),
            ApiError::Refused {
                code: 409,
                description,
                ..
            } => format!("another program reads this bot's updates: end that one ({description})"),
            error => error.to_string(),
        };
        if !matches!(error, ApiError::Refused { .. }) {
            self.is_reached.store(false, Ordering::Relaxed);
        }
        self.arrivals.failed(&reason);
        match error {
            ApiError::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Who are we? Asked until there is an answer.
    async fn introduce(&self) {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.hello().await {
                Ok(()) => return,
                Err(error) => {
                    let limited = self.lost(&error);
                    sleep(limited.unwrap_or(pause)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    async fn hello(&self) -> Result<(), ApiError> {
        let info = self.api.call("getMe", &Map::new(), ASK).await?;
        let id = info.get("id").and_then(Json::as_i64);
        let me = Me {
            id: id.ok_or_else(|| ApiError::NoAnswer("it did not say who we are".to_owned()))?,
            username: text(&info, "username").unwrap_or_default(),
            name: name(&info),
        };
        if self.settings.webhook.is_none() {
            // One that is set keeps updates from who asks for them.
            self.api.call("deleteWebhook", &Map::new(), ASK).await?;
        }
        let status = AccountStatus {
            id: me.id.to_string(),
            name: format!("{} (@{})", me.name, me.username),
            program: "Bot API".to_owned(),
            since: 0,
        };
        *self.account.lock() = Some((me, status));
        self.reached();
        Ok(())
    }

    /// What was kept of the updates.
    async fn load(&self) {
        let mut pause = FIRST_PAUSE;
        let kept = loop {
            match self.host.cursor().await {
                Ok(kept) => break kept,
                Err(error) => self.arrivals.failed(&error.reason),
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let kept = kept.and_then(|kept| serde_json::from_str(&kept).ok());
        *self.chats.lock() = kept.unwrap_or_default();
    }

    /// Waits until it is on disk.
    async fn save(&self) {
        let mut pause = Duration::from_millis(100);
        loop {
            let kept = serde_json::to_string(&*self.chats.lock()).unwrap_or_default();
            match self.host.set_cursor(&kept).await {
                Ok(()) => return,
                Err(error) => self.arrivals.failed(&error.reason),
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }

    async fn run(self: &Arc<Self>) {
        self.load().await;
        self.introduce().await;
        match &self.settings.webhook {
            None => match polling::poll(self).await {},
            Some(hook) => tokio::select! {
                never = webhook::listen(self, &hook.listen) => match never {},
                never = webhook::announce(self, &hook.url) => match never {},
            },
        }
    }

    async fn typing(&self, session: &SessionKey) {
        let Some(place) = self.chats.lock().place(session.id()) else {
            return;
        };
        if self.drafts.is_quiet(session) {
            return;
        }
        let mut asked = sending::target(place);
        asked.insert("action".to_owned(), "typing".into());
        let _ = self.api.call("sendChatAction", &asked, SHOW).await;
    }

    async fn draft(&self, session: &SessionKey, text: &str) {
        let has_room = outgoing::units(text) <= self.settings.longest;
        if session.kind() != SessionType::FriendMessage || !has_room || self.drafts.are_unknown() {
            return;
        }
        let Some(place) = self.chats.lock().place(session.id()) else {
            return;
        };
        let draft = self.drafts.of(session);
        let mut draft = draft.going.lock().await;
        let Some(id) = self.drafts.id(&mut draft) else {
            return;
        };
        let mut asked = sending::target(place);
        asked.insert("draft_id".to_owned(), id.into());
        asked.insert("text".to_owned(), html::html(text).into());
        asked.insert("parse_mode".to_owned(), "HTML".into());
        let shown = self.api.call("sendMessageDraft", &asked, SHOW).await;
        if let Err(ApiError::Refused { code: 404, .. }) = shown {
            // A server that is older than drafts.
            self.drafts.forget();
        }
    }

    async fn call(
        &self,
        bot: Option<&str>,
        action: &str,
        mut parameters: Map<String, Json>,
    ) -> Result<Json, ActionError> {
        let refused = |reason: String| ActionError::Refused { reason, code: 400 };
        let own = self.me().map(|me| me.id.to_string());
        if let Some(bot) = bot.filter(|bot| own.as_deref() != Some(bot)) {
            return Err(refused(format!("there is no bot {bot} here")));
        }
        // It becomes a path: nothing but a name.
        if action.is_empty() || !action.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(refused(format!("'{action}' is not the name of a method")));
        }
        if actions::OURS
            .iter()
            .any(|it| it.eq_ignore_ascii_case(action))
        {
            return Err(refused(format!(
                "{action} is Callgate's own: it reads this bot's updates"
            )));
        }
        if action == actions::DOWNLOAD {
            let path = text(&Json::Object(parameters), "file_path").unwrap_or_default();
            let bytes = self.api.download(&path, SEND).await?;
            return Ok(actions::encoded(&bytes));
        }
        self.chats.lock().translate(&mut parameters);
        actions::complete(action, &mut parameters);
        let files = actions::take_files(&mut parameters).map_err(refused)?;
        Ok(if files.is_empty() {
            self.api.call(action, &parameters, SEND).await?
        } else {
            self.api.upload(action, &parameters, &files, SEND).await?
        })
    }
}

impl Platform for Telegram {
    fn run(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shared.run())
    }

    fn status(&self) -> PlatformStatus {
        let shared = &self.shared;
        let account = shared.account.lock().as_ref().map(|(_, it)| it.clone());
        let account = account.filter(|_| shared.is_reached());
        shared.arrivals.status(account.into_iter().collect())
    }

    fn repetition(&self) -> Repetition {
        Repetition::Harmful
    }

    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        outgoing::pieces(&message.parts, self.shared.settings.longest)
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(self.shared.deliver(piece))
    }

    fn look_for<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Found> {
        Box::pin(std::future::ready(Found::Unknown))
    }

    fn typing<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, ()> {
        Box::pin(self.shared.typing(session))
    }

    fn draft<'a>(&'a self, session: &'a SessionKey, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(self.shared.draft(session, text))
    }

    fn show_commands<'a>(&'a self, commands: &'a [MenuCommand]) -> BoxFuture<'a, ()> {
        Box::pin(menu::show(&self.shared, commands))
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

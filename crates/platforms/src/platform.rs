//! [`Platform`], which each module implements, and [`Host`], which is all a platform knows of the rest.

use callgate_contract::{
    BoxFuture, DeliveryError, Found, Message, Part, Piece, Receipt, Repetition, SessionKey,
};
use serde_json::{Map, Value as Json};

use crate::{PlatformAction, PlatformStatus};

/// Somebody on a platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub id: String,
    /// As the chat shows them.
    pub name: String,
}

/// Something that happened in a chat.
#[derive(Clone, Debug)]
pub struct Event {
    pub session: SessionKey,
    pub sender: Account,
    /// The bot's own account there.
    pub bot: String,
    /// Milliseconds since 1970, by the platform's clock.
    pub sent_at: Option<i64>,
    /// What the chat is called, where the platform says it.
    pub chat_name: Option<String>,
    pub kind: EventKind,
    /// As the platform told it, for plugins that know the platform.
    pub raw: Json,
}

#[derive(Clone, Debug)]
pub enum EventKind {
    Message {
        id: Option<String>,
        parts: Vec<Part>,
        /// It is meant for the bot: a private message, a mention, a reply to what it said.
        addressed: bool,
    },
    /// A message was rewritten. It is not answered again.
    Edit {
        message_id: String,
        parts: Vec<Part>,
    },
    /// A message was taken back.
    Recall { message_id: String },
    /// Anything else: somebody joined, was muted, asks to be let in.
    Notice,
}

/// Why an event was not taken.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct NotStored {
    pub reason: String,
    /// It may be taken when it is told again.
    pub is_temporary: bool,
}

/// Where the bytes of a picture, a sound or a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaSource {
    Url(String),
    Bytes(Vec<u8>),
}

/// What a platform asks of the rest of the product.
pub trait Host: Send + Sync {
    /// Returns when the event is on disk.
    fn receive(&self, event: Event) -> BoxFuture<'_, Result<(), NotStored>>;

    /// May this account decide for others? Nobody may, where nobody was named.
    fn is_administrator(&self, _account: &str) -> bool {
        false
    }

    /// The platform can be reached from now on: what waits for it may go.
    fn connected(&self);

    /// Up to where the platform's events were read, in its own words; `None` before the first time.
    fn cursor(&self) -> BoxFuture<'_, Result<Option<String>, NotStored>>;

    /// Everything before it is on disk.
    fn set_cursor<'a>(&'a self, cursor: &'a str) -> BoxFuture<'a, Result<(), NotStored>>;

    /// Keeps a file that came with a message; returns its name under the session's folders, by which
    /// parts refer to it.
    fn keep<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        source: MediaSource,
    ) -> BoxFuture<'a, Result<String, String>>;

    /// The bytes behind a name under the session's folders.
    fn read<'a>(
        &'a self,
        session: &'a SessionKey,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>>;
}

/// Why a platform did not do what it was asked to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ActionError {
    #[error("not connected: {reason}")]
    Unreachable { reason: String },
    /// The platform's own words.
    #[error("{reason}")]
    Refused { reason: String, code: i64 },
    /// It was asked, and did not answer.
    #[error("no answer: {reason}")]
    NoAnswer { reason: String },
}

/// A command that people may give in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuCommand {
    /// Without its slash.
    pub name: String,
    pub description: String,
    /// The same for people who read Chinese.
    pub chinese: Option<String>,
}

/// One connection to a platform, as the operator named it: maybe of several bots.
pub trait Platform: Send + Sync {
    /// Connects, and again whenever that is lost, for as long as it is awaited.
    fn run(&self) -> BoxFuture<'_, ()>;

    fn status(&self) -> PlatformStatus;

    /// Does it harm there if a message is delivered twice?
    fn repetition(&self) -> Repetition;

    /// How a message is told there: in one piece, unless it is too long or mixes what cannot be mixed.
    fn pieces(&self, message: &Message) -> Vec<Vec<Part>>;

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>>;

    /// Has a piece arrived of which only the intent is on record?
    fn look_for<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Found>;

    /// Shows that an answer is being written. Told every few seconds for as long as that lasts.
    fn typing<'a>(&'a self, _session: &'a SessionKey) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Shows the beginning of an answer where that leaves nothing behind: the whole is delivered as any
    /// message is.
    fn draft<'a>(&'a self, _session: &'a SessionKey, _text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Shows the commands in a menu, where the platform has one. Told at the start and when they change.
    fn show_commands<'a>(&'a self, _commands: &'a [MenuCommand]) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// What an AI may be let do there.
    fn actions(&self) -> &'static [PlatformAction];

    /// The platform's own interface, for who knows it. `bot` is one of its accounts, or any.
    fn call<'a>(
        &'a self,
        bot: Option<&'a str>,
        action: &'a str,
        parameters: Map<String, Json>,
    ) -> BoxFuture<'a, Result<Json, ActionError>>;
}

//! Matrix, by its client-server API: one account on one homeserver, read by a long poll whose place is kept
//! ([`Host::cursor`]). A message that leaves carries a transaction id, by which the server knows it again: it is
//! said once, however often it is sent. Encrypted rooms are not read, and told so.

mod actions;
mod api;
mod calls;
mod content;
mod delivery;
mod encrypted;
mod event;
mod gap;
mod invites;
mod markdown;
mod media;
mod outgoing;
mod rooms;
mod seen;
mod sync;
mod taking;

use std::sync::{Arc, atomic::AtomicBool};

use callgate_contract::{
    BoxFuture, DeliveryError, Found, Message, Part, Piece, Receipt, Repetition, SessionKey,
};
use jiff::Timestamp;
use parking_lot::RwLock;
use serde_json::{Map, Value as Json, json};

use self::{
    api::{Api, Ask},
    delivery::Uploads,
    encrypted::EncryptedRooms,
    rooms::Rooms,
    seen::Seen,
};
use crate::{
    AccountStatus, ActionError, Host, Platform, PlatformAction, PlatformStatus, arrivals::Arrivals,
};

/// Milliseconds after which the server forgets that somebody is typing.
const TYPING: u32 = 6_000;

#[derive(Clone, Default)]
pub struct MatrixSettings {
    /// The platform of session keys.
    pub id: String,
    /// Of the homeserver.
    pub url: String,
    /// The account's access token.
    pub token: String,
    /// The account that the token is to belong to.
    pub account: Option<String>,
    /// Characters of one message; longer answers are several.
    pub longest: usize,
    pub invites: MatrixInvites,
}

/// Whose invitations into rooms are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixInvites {
    Nobody,
    #[default]
    Administrators,
    Everybody,
}

pub struct Matrix {
    shared: Arc<Shared>,
}

struct Shared {
    settings: MatrixSettings,
    host: Arc<dyn Host>,
    api: Api,
    arrivals: Arc<Arrivals>,
    rooms: Rooms,
    seen: Seen,
    uploads: Uploads,
    encrypted: EncryptedRooms,
    /// Invitations that waited when we came were looked at. Later ones are told as they come.
    has_looked: AtomicBool,
    /// A lock, held for a copy.
    bot: RwLock<Bot>,
}

/// Who we are there.
#[derive(Clone, Default)]
struct Bot {
    /// Empty until the server has said it.
    id: String,
    name: String,
    program: String,
    /// Milliseconds since 1970; `None` while not connected.
    since: Option<i64>,
}

impl Matrix {
    /// What may be offered to an AI.
    pub const ACTIONS: &[PlatformAction] = actions::ACTIONS;

    pub fn new(settings: MatrixSettings, host: Arc<dyn Host>) -> Result<Self, String> {
        // For `https:`. An error means that a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Matrix {
            shared: Arc::new(Shared {
                api: Api::new(&settings)?,
                arrivals: Arrivals::new(&settings.id, host.clone()),
                rooms: Rooms::default(),
                seen: Seen::default(),
                uploads: Uploads::default(),
                encrypted: EncryptedRooms::default(),
                has_looked: AtomicBool::new(false),
                bot: RwLock::default(),
                settings,
                host,
            }),
        })
    }
}

impl Shared {
    fn bot(&self) -> Bot {
        self.bot.read().clone()
    }

    fn is_connected(&self) -> bool {
        self.bot.read().since.is_some()
    }

    fn connected_as(&self, id: String, name: String, program: String) {
        let since = Some(Timestamp::now().as_millisecond());
        *self.bot.write() = Bot {
            id,
            name,
            program,
            since,
        };
    }

    fn lost(&self, reason: &str) {
        self.bot.write().since = None;
        self.arrivals.failed(reason);
    }

    async fn show_typing(&self, session: &SessionKey) {
        let bot = self.bot();
        if bot.since.is_none() {
            return;
        }
        let typing = json!({"typing": true, "timeout": TYPING});
        let path = ["rooms", session.id(), "typing", &bot.id];
        // Nothing depends on it.
        if let Err(error) = self.api.ask(Ask::put(&path, &typing)).await {
            tracing::debug!(%session, %error, "could not show that an answer is being written");
        }
    }
}

impl Platform for Matrix {
    fn run(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { match sync::follow(&self.shared).await {} })
    }

    fn status(&self) -> PlatformStatus {
        let bot = self.shared.bot();
        let account = bot.since.map(|since| AccountStatus {
            id: bot.id,
            name: bot.name,
            program: bot.program,
            since,
        });
        self.shared.arrivals.status(account.into_iter().collect())
    }

    fn repetition(&self) -> Repetition {
        Repetition::Recognized
    }

    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        outgoing::pieces(&message.parts, self.shared.settings.longest)
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(self.shared.deliver(piece))
    }

    /// Never asked: what is sent again is known again.
    fn look_for<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Found> {
        Box::pin(std::future::ready(Found::Missing))
    }

    fn typing<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, ()> {
        Box::pin(self.shared.show_typing(session))
    }

    fn actions(&self) -> &'static [PlatformAction] {
        Self::ACTIONS
    }

    fn call<'a>(
        &'a self,
        _: Option<&'a str>,
        action: &'a str,
        parameters: Map<String, Json>,
    ) -> BoxFuture<'a, Result<Json, ActionError>> {
        Box::pin(calls::call(&self.shared.api, action, parameters))
    }
}

//! Chat platforms, one module each: events come in, messages go out. What an event means for a
//! conversation, whether it is answered and what is kept of it is decided elsewhere, behind [`Host`].

mod action;
mod arrivals;
mod client;
mod listening;
mod matrix;
mod onebot;
mod pieces;
mod plain;
mod platform;
mod satori;
mod settings;
mod split;
mod status;
mod telegram;

pub use self::{
    action::{ActionHarm, ActionParameter, PlatformAction},
    matrix::{Matrix, MatrixInvites, MatrixSettings},
    onebot::{OneBot, OneBotSettings},
    platform::{
        Account, ActionError, Event, EventKind, Host, MediaSource, MenuCommand, NotStored, Platform,
    },
    satori::{Satori, SatoriAccount, SatoriSettings},
    settings::PlatformSettings,
    status::{AccountStatus, PlatformStatus},
    telegram::{Telegram, TelegramSettings, WebhookSettings},
};

//! Where messages leave: [`Outbox`], and what may become of a message there. Whether it is tried again,
//! and what is on record of it, is decided in the store.

use std::time::Duration;

use crate::{BoxFuture, Message, Part, SessionKey};

/// One message as a platform is told it: an outbox row, or a piece of one that was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The outbox row's, ascending in the order of sending. A piece is told again under the same `id` and
    /// `number`.
    pub id: i64,
    /// From 1.
    pub number: u32,
    pub session: &'a SessionKey,
    pub parts: &'a [Part],
    /// Milliseconds since 1970.
    pub queued_at: i64,
}

/// What a platform says of a message that it has taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// What the message is called there.
    pub message_id: Option<String>,
}

/// Why a piece was not delivered, and so what is done about its message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// Nothing was sent. It stays queued, and the session's later ones wait behind it.
    #[error("{reason}")]
    Unreachable { reason: String },
    /// The same for a rate limit: it is tried again after that time.
    #[error("{reason}")]
    Later { after: Duration, reason: String },
    /// It will never be taken. That is recorded for the operator, and later ones go on.
    #[error("{reason}")]
    Refused { reason: String },
    /// Sent or not: nobody knows. It is recorded for the operator and never sent again by itself; later
    /// ones go on.
    #[error("{reason}")]
    Unknown { reason: String },
}

/// What it does to those who read it that a piece is told twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Nothing: it may be repeated whenever that is cheaper.
    Harmless,
    /// The destination knows a piece by its id and number, or may be told again after a crash.
    Recognized,
    /// They read it twice. So it is on record before it is sent, and what a crash leaves open is looked
    /// for, or left to the operator.
    Harmful,
}

/// What a look at the platform's own record says about a piece that may have been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Delivered(Receipt),
    Missing,
    /// The platform cannot tell.
    Unknown,
}

/// Where messages leave: a platform, a terminal, a test.
pub trait Outbox: Send + Sync {
    fn repetition(&self, _: &SessionKey) -> Repetition {
        Repetition::Recognized
    }

    /// The message as pieces that the destination takes. Once one was delivered it stays with these.
    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        vec![message.parts.clone()]
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>>;

    /// Asked only where a repetition is harmful: the process ended while the piece was on its way, or
    /// nobody answered.
    fn look_for<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Found> {
        Box::pin(std::future::ready(Found::Unknown))
    }
}

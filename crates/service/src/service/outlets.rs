//! Where messages leave. Each has one destination, which follows from its session, and an end there.

use std::sync::Arc;

use crate::{Live, remote::Outlet};
use callgate_contract::{BoxFuture, DeliveryError, Outbox, Piece, Receipt, Repetition, SessionKey};

pub(super) struct Outlets {
    pub(super) live: Arc<Live>,
    pub(super) remote: Outlet,
}

/// For whom a message is. Whoever listens to the session is told besides, in any case.
enum Destination {
    /// A remote client, or those in its room: it waits until one of them is there.
    Client,
    /// The person at the terminal: it waits until that one, or anybody else, listens.
    Terminal,
    /// Whoever asked over HTTP: they have it in the response, or read the log. Nobody else will come for
    /// it, so that it waits for nobody.
    Reader,
}

impl Outlets {
    fn destination(&self, session: &SessionKey) -> Destination {
        if self.remote.serves(session) {
            Destination::Client
        } else if session.platform() == TERMINAL_PLATFORM {
            Destination::Terminal
        } else {
            Destination::Reader
        }
    }
}

impl Outbox for Outlets {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let heard = self.live.deliver(piece).await;
            match self.destination(piece.session) {
                // Either will do: a page may show the session while the client is away.
                Destination::Client => self.remote.deliver(piece).await.or(heard),
                Destination::Terminal => heard,
                Destination::Reader => Ok(Receipt::default()),
            }
        })
    }

    /// Whoever reads over HTTP knows a message by its id; a remote client does not, nor does the next
    /// command at the terminal, which would show it as its own answer.
    fn repetition(&self, session: &SessionKey) -> Repetition {
        match self.destination(session) {
            Destination::Client | Destination::Terminal => Repetition::Recognized,
            Destination::Reader => Repetition::Harmless,
        }
    }
}

/// The platform of sessions whose messages are the response to a request.
pub const OPENAI_PLATFORM: &str = "api";
/// That of `callgate chat` and `callgate send`.
const TERMINAL_PLATFORM: &str = "cli";

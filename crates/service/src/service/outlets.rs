//! Where messages leave. Each has one destination, which follows from its session, and an end there.

use std::sync::Arc;

use callgate_contract::{
    BoxFuture, DeliveryError, Found, Message, Outbox, Part, Piece, Receipt, Repetition, SessionKey,
};
use callgate_platforms::Platform;

use crate::{Live, Platforms, remote::Outlet};

pub(super) struct Outlets {
    pub(super) live: Arc<Live>,
    pub(super) remote: Outlet,
    pub(super) platforms: Platforms,
}

/// For whom a message is. Whoever listens to the session is told besides, in any case.
enum Destination {
    /// A chat platform.
    Platform(Arc<dyn Platform>),
    /// A platform that no process is connected to now: it waits.
    NoPlatform,
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
        if let Some(platform) = self.platforms.of(session.platform()) {
            Destination::Platform(platform)
        } else if self.platforms.is_known(session.platform()) {
            Destination::NoPlatform
        } else if self.remote.serves(session) {
            Destination::Client
        } else if session.platform() == TERMINAL_PLATFORM {
            Destination::Terminal
        } else {
            Destination::Reader
        }
    }
}

impl Outbox for Outlets {
    /// Whoever reads over HTTP knows a message by its id; a remote client does not, nor does the next
    /// command at the terminal, which would show it as its own answer.
    fn repetition(&self, session: &SessionKey) -> Repetition {
        match self.destination(session) {
            Destination::Platform(platform) => platform.repetition(),
            Destination::NoPlatform => Repetition::Harmful,
            Destination::Client | Destination::Terminal => Repetition::Recognized,
            Destination::Reader => Repetition::Harmless,
        }
    }

    fn pieces(&self, message: &Message) -> Vec<Vec<Part>> {
        match self.destination(&message.session) {
            Destination::Platform(platform) => platform.pieces(message),
            _ => vec![message.parts.clone()],
        }
    }

    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            match self.destination(piece.session) {
                Destination::Platform(platform) => {
                    let receipt = platform.deliver(piece).await?;
                    // Those who look on; the platform has it in any case.
                    let _ = self.live.deliver(piece).await;
                    Ok(receipt)
                }
                Destination::NoPlatform => Err(DeliveryError::Unreachable {
                    reason: format!("{} is not connected", piece.session.platform()),
                }),
                // Either will do: a page may show the session while the client is away.
                Destination::Client => {
                    let heard = self.live.deliver(piece).await;
                    self.remote.deliver(piece).await.or(heard)
                }
                Destination::Terminal => self.live.deliver(piece).await,
                Destination::Reader => {
                    // In the log in any case.
                    let _ = self.live.deliver(piece).await;
                    Ok(Receipt::default())
                }
            }
        })
    }

    fn look_for<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Found> {
        Box::pin(async move {
            match self.destination(piece.session) {
                Destination::Platform(platform) => platform.look_for(piece).await,
                _ => Found::Unknown,
            }
        })
    }
}

/// The platform of sessions whose messages are the response to a request.
pub const OPENAI_PLATFORM: &str = "api";
/// That of `callgate chat` and `callgate send`.
const TERMINAL_PLATFORM: &str = "cli";

//! Where messages leave: to remote clients in their sessions, with the response in those of the OpenAI
//! API, to whoever listens in all others.

use std::sync::Arc;

use crate::{Live, remote::Outlet};
use callgate_contract::{BoxFuture, Message, Outbox, SessionKey};

pub(super) struct Outlets {
    pub(super) live: Arc<Live>,
    pub(super) remote: Outlet,
}

impl Outbox for Outlets {
    fn deliver<'a>(&'a self, id: i64, message: &'a Message) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let heard = self.live.deliver(id, message).await;
            if goes_with_its_response(&message.session) {
                return Ok(());
            }
            if self.remote.serves(&message.session) {
                // Either will do: a page may show the session while the client is away.
                self.remote.deliver(id, message).await.or(heard)
            } else {
                heard
            }
        })
    }

    /// Whoever listens knows a message by its id; remote clients do not.
    fn may_repeat(&self, session: &SessionKey) -> bool {
        goes_with_its_response(session) || !self.remote.serves(session)
    }
}

/// The platform of sessions whose messages are the response to a request.
pub const OPENAI_PLATFORM: &str = "api";

fn goes_with_its_response(session: &SessionKey) -> bool {
    session.platform() == OPENAI_PLATFORM
}

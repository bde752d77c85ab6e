//! Where messages leave: to remote clients in their sessions, with the answers of the OpenAI API in
//! its, to whoever listens in all others.

use std::sync::Arc;

use callgate_contract::{BoxFuture, Message, Outbox};
use callgate_server::{Live, OpenAi, remote::Outlet};

pub(super) struct Outlets {
    pub(super) live: Arc<Live>,
    pub(super) remote: Outlet,
}

impl Outbox for Outlets {
    fn deliver<'a>(&'a self, id: i64, message: &'a Message) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let heard = self.live.deliver(id, message).await;
            if OpenAi::carries(&message.session) {
                return Ok(());
            }
            match self.remote.serves(&message.session) {
                // Either will do: a page may show the session while the client is away.
                true => self.remote.deliver(id, message).await.or(heard),
                false => heard,
            }
        })
    }
}

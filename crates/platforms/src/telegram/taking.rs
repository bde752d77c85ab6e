//! Updates as events. Pictures that were sent together are one message.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::{
    Shared,
    event::{self, ChatUpdate, UpdateKind},
    parts::{Content, PartReader},
};
use crate::{Event, EventKind, NotStored};

impl Shared {
    /// Returns once there is room for it; what comes back tells when it is on disk. `together` is one
    /// update, or those of one album.
    pub(super) async fn take(
        self: &Arc<Self>,
        mut together: Vec<Json>,
    ) -> oneshot::Receiver<Result<(), NotStored>> {
        self.arrivals.heard();
        together.sort_by_key(message_id);
        let session = together.first().and_then(|raw| {
            let update = ChatUpdate::read(raw)?;
            let chats = self.chats.lock();
            chats.session(&self.settings.id, update.kind(), update.place)
        });
        let Some(session) = session else {
            let (tell, told) = oneshot::channel();
            let _ = tell.send(Ok(()));
            return told;
        };
        let shared = self.clone();
        let reading = async move { shared.read(together).await };
        self.arrivals.take(&session, reading).await
    }

    /// A group that became a supergroup, before anything is read that came in the new chat.
    pub(super) fn learn(&self, raw: &Json) -> bool {
        let migrated = event::migration(raw);
        migrated.is_some_and(|(old, new)| self.chats.lock().migrate(old, new))
    }

    async fn read(&self, together: Vec<Json>) -> Option<Event> {
        let chats = self.chats.lock().clone();
        let me = self.me()?;
        let raw = together.first()?;
        let update = ChatUpdate::read(raw)?;
        let session = chats.session(&self.settings.id, update.kind(), update.place)?;
        let reader = PartReader {
            host: self.host.as_ref(),
            api: &self.api,
            me: &me,
            session: &session,
        };
        let id = update.message_id();
        let id = id.map(|id| chats.message(update.place.chat, id));
        let kind = match update.what {
            UpdateKind::Notice => EventKind::Notice,
            UpdateKind::Edit => {
                let Content { parts, .. } = reader.read(update.body, &chats).await;
                EventKind::Edit {
                    message_id: id?,
                    parts,
                }
            }
            UpdateKind::Message => {
                let mut all = Content::default();
                for raw in &together {
                    let Some(one) = ChatUpdate::read(raw) else {
                        continue;
                    };
                    let content = reader.read(one.body, &chats).await;
                    all.addresses_bot |= content.addresses_bot;
                    // What an album answers each of its pictures says.
                    let is_new = |part: &callgate_contract::Part| !all.parts.contains(part);
                    let parts: Vec<_> = content.parts.into_iter().filter(is_new).collect();
                    all.parts.extend(parts);
                }
                EventKind::Message {
                    id,
                    parts: all.parts,
                    addressed: all.addresses_bot || update.is_private(),
                }
            }
        };
        Some(Event {
            sent_at: update.sent_at(),
            chat_name: update.chat_name(),
            sender: update.sender,
            bot: me.id.to_string(),
            session,
            kind,
            raw: raw.clone(),
        })
    }
}

fn message_id(raw: &Json) -> Option<i64> {
    ChatUpdate::read(raw)?.message_id()
}

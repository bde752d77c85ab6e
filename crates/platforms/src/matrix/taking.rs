//! What happens in a room, as events for the rest of the product.

use std::sync::Arc;

use callgate_contract::SessionKey;
use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::{Shared, api::ApiError, content::Place, event::RoomEvent, rooms::Room, seen::Said};
use crate::{Account, Event, EventKind, NotStored};

/// Told when an event is on disk.
pub(super) type Told = oneshot::Receiver<Result<(), NotStored>>;

impl Shared {
    /// Hands an event on, if it is for us. It returns once there is room for it.
    pub(super) async fn take(
        self: &Arc<Self>,
        room_id: &str,
        raw: Json,
    ) -> Result<Option<Told>, ApiError> {
        self.rooms.apply(room_id, &raw);
        let bot = self.bot().id;
        let is_own = raw["sender"].as_str().is_none_or(|sender| sender == bot);
        let Some(kind) = RoomEvent::read(&raw).filter(|_| !is_own) else {
            return Ok(None);
        };
        let room = match self.rooms.get(&self.api, room_id).await {
            // We were put out of it meanwhile.
            Err(error) if error.is_absent() => return Ok(None),
            room => room?,
        };
        if room.is_encrypted {
            self.refuse_encrypted(room_id, &room).await;
        }
        if kind == RoomEvent::Encrypted {
            return Ok(None);
        }
        let session = SessionKey::new(&self.settings.id, room.kind(), room_id);
        let Ok(session) = session else {
            tracing::warn!(room = room_id, "a room whose name is no name is left out");
            return Ok(None);
        };
        if kind == RoomEvent::Message
            && let Some(id) = raw["event_id"].as_str()
        {
            // Before those behind it are read, which may answer it.
            self.seen.remember(id, Said::read(&raw));
        }
        let (shared, place) = (self.clone(), session.clone());
        let reading = async move { shared.read(place, room, bot, raw).await };
        Ok(Some(self.arrivals.take(&session, reading).await))
    }

    async fn read(&self, session: SessionKey, room: Room, bot: String, raw: Json) -> Option<Event> {
        let room_id = session.id().to_owned();
        let id = raw["sender"].as_str()?.to_owned();
        let name = self.rooms.name_of(&self.api, &room_id, &id).await;
        let sender = Account { id, name };
        let place = Place {
            session: &session,
            room: &room_id,
            sender_name: &sender.name,
        };
        let content = &raw["content"];
        let kind = match RoomEvent::read(&raw)? {
            RoomEvent::Message => {
                let kind = raw["type"].as_str()?;
                let read = self.read_content(&place, kind, content, content).await;
                // Bots say notices, and do not answer each other's.
                let is_notice = content["msgtype"] == "m.notice";
                if is_notice && room.is_private {
                    EventKind::Notice
                } else {
                    EventKind::Message {
                        id: raw["event_id"].as_str().map(str::to_owned),
                        parts: read.parts,
                        addressed: !is_notice && (read.addresses_bot || room.is_private),
                    }
                }
            }
            RoomEvent::Edit { of } => {
                // Only the author's counts; servers let everybody's pass.
                let said = self.seen.get(&self.api, &room_id, of).await?;
                if said.sender != sender.id {
                    return None;
                }
                let new = &content["m.new_content"];
                let read = self.read_content(&place, "m.room.message", new, content);
                EventKind::Edit {
                    message_id: of.to_owned(),
                    parts: read.await.parts,
                }
            }
            RoomEvent::Redaction { of } => EventKind::Recall {
                message_id: of.to_owned(),
            },
            RoomEvent::Notice => EventKind::Notice,
            RoomEvent::Encrypted => return None,
        };
        Some(Event {
            sent_at: raw["origin_server_ts"].as_i64(),
            chat_name: room.name.filter(|_| !room.is_private),
            session,
            sender,
            bot,
            kind,
            raw,
        })
    }
}

//! Rooms with end-to-end encryption, which we do not read: people there are told so once, and the operator
//! sees it. Nothing is sent into one in the clear but that.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde_json::json;

use super::{
    Shared,
    api::{ApiError, Ask},
    rooms::Room,
};

/// What the account has on record about a room in which it was said.
const SAID: &str = "callgate.encrypted";
const WORDS: &str = "I cannot read this room, because it is encrypted. Please create a room with encryption \
    switched off and invite me there.\n这个房间已加密，我无法读取消息。请新建一个不加密的房间并邀请我。";

#[derive(Default)]
pub(super) struct EncryptedRooms {
    /// Those in which it was said. A mutex, held for one look.
    told: Mutex<HashSet<String>>,
}

impl Shared {
    pub(super) async fn refuse_encrypted(&self, room_id: &str, room: &Room) {
        if !self.encrypted.told.lock().insert(room_id.to_owned()) {
            return;
        }
        let name = room.name.as_deref().unwrap_or(room_id);
        self.arrivals.failed(&format!(
            "the room {name} is encrypted and cannot be read: use one without encryption"
        ));
        if let Err(error) = self.say_encrypted(room_id).await {
            tracing::warn!(room = room_id, %error, "could not say that the room is encrypted");
            self.encrypted.told.lock().remove(room_id);
        }
    }

    async fn say_encrypted(&self, room: &str) -> Result<(), ApiError> {
        let bot = self.bot().id;
        let record = ["user", &bot, "rooms", room, "account_data", SAID];
        match self.api.ask(Ask::get(&record)).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error),
        }
        let notice = json!({"msgtype": "m.notice", "body": WORDS, "m.mentions": {}});
        // The server takes it once under this name, should we end before it is on record.
        let path = ["rooms", room, "send", "m.room.message", SAID];
        self.api.ask(Ask::put(&path, &notice)).await?;
        self.api
            .ask(Ask::put(&record, &json!({"said": true})))
            .await?;
        Ok(())
    }
}

//! Invitations into rooms: whose are followed is the operator's choice.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value as Json, json};

use super::{
    MatrixInvites, Shared,
    api::{ApiError, Ask},
};

/// Joining a room of another server takes its time.
const JOIN: Duration = Duration::from_secs(120);
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_secs(5);

impl Shared {
    /// `invited` is what `/sync` tells of rooms we are invited to.
    pub(super) fn consider_invites(self: &Arc<Self>, invited: &Json) {
        for (room, invitation) in invited.as_object().into_iter().flat_map(Map::iter) {
            let bot = self.bot().id;
            let events = invitation["invite_state"]["events"].as_array();
            let mut events = events.into_iter().flatten();
            let own =
                events.find(|it| it["type"] == "m.room.member" && it["state_key"] == bot.as_str());
            let Some(own) = own else { continue };
            let inviter = own["sender"].as_str().unwrap_or_default().to_owned();
            if !self.follows(&inviter) {
                self.arrivals.failed(&format!(
                    "{inviter} invited the bot into {room}, which is not followed: name them in \
                     agent.administrators, or set invites of this platform to \"everybody\""
                ));
                continue;
            }
            let is_direct = own["content"]["is_direct"] == true;
            // A task, since other rooms do not wait for this one. It ends after a few attempts.
            tokio::spawn(self.clone().follow_invite(room.clone(), inviter, is_direct));
        }
    }

    fn follows(&self, inviter: &str) -> bool {
        match self.settings.invites {
            MatrixInvites::Nobody => false,
            MatrixInvites::Administrators => self.host.is_administrator(inviter),
            MatrixInvites::Everybody => true,
        }
    }

    async fn follow_invite(self: Arc<Self>, room: String, inviter: String, is_direct: bool) {
        for attempt in 1..=ATTEMPTS {
            let pause = match self.join(&room, &inviter, is_direct).await {
                Ok(()) => {
                    tracing::info!(platform = self.settings.id, room, inviter, "joined a room");
                    return;
                }
                Err(error @ ApiError::Refused { .. }) => {
                    let reason =
                        format!("could not join {room}, where {inviter} invited the bot: {error}");
                    return self.arrivals.failed(&reason);
                }
                Err(ApiError::Limited { after }) => after,
                Err(error) => {
                    self.arrivals
                        .failed(&format!("could not join {room} yet: {error}"));
                    PAUSE * attempt
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// That it is a private chat is on record before the first message comes from there.
    async fn join(&self, room: &str, inviter: &str, is_direct: bool) -> Result<(), ApiError> {
        if is_direct {
            let bot = self.bot().id;
            self.rooms
                .mark_direct(&self.api, &bot, room, inviter)
                .await?;
        }
        let nothing = json!({});
        let path = ["rooms", room, "join"];
        self.api
            .ask(Ask::post(&path, &nothing).deadline(JOIN))
            .await?;
        Ok(())
    }
}

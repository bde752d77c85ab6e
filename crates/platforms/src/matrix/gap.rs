//! Messages that one answer of `/sync` had no room for. They are read page by page, so that none is lost,
//! however long we were away.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{
    Shared,
    api::{ApiError, Ask},
    event,
    taking::Told,
};

/// Events of one page.
const PAGE: &str = "200";
/// Pages that are looked through for the invitation by which we came into a room.
const MOST_PAGES: usize = 20;

impl Shared {
    /// What happened in a room between `since` and the timeline that begins at `until` with `first`.
    pub(super) async fn take_missed(
        self: &Arc<Self>,
        room: &str,
        since: &str,
        until: &str,
        first: Option<&str>,
        told: &mut Vec<Told>,
    ) -> Result<(), ApiError> {
        let mut from = since.to_owned();
        loop {
            let query = [
                ("dir", "f"),
                ("from", &from),
                ("to", until),
                ("limit", PAGE),
            ];
            let Some(mut page) = self.page(room, &query).await? else {
                return Ok(());
            };
            for raw in page["chunk"].as_array_mut().into_iter().flatten() {
                if first.is_some() && raw["event_id"].as_str() == first {
                    return Ok(());
                }
                told.extend(self.take(room, raw.take()).await?);
            }
            match page["end"].as_str() {
                Some(end) if end != from => from = end.to_owned(),
                _ => return Ok(()),
            }
        }
    }

    /// Of a room that we have just come into: what was said since we were invited, as far as it lies before
    /// the timeline; in its order.
    pub(super) async fn since_invitation(
        &self,
        room: &str,
        bot: &str,
        until: &str,
    ) -> Result<Vec<Json>, ApiError> {
        let mut events = Vec::new();
        let mut from = until.to_owned();
        for _ in 0..MOST_PAGES {
            let query = [("dir", "b"), ("from", &from), ("limit", PAGE)];
            let Some(mut page) = self.page(room, &query).await? else {
                break;
            };
            for raw in page["chunk"].as_array_mut().into_iter().flatten() {
                if event::invites(raw, bot) {
                    events.reverse();
                    return Ok(events);
                }
                events.push(raw.take());
            }
            match page["end"].as_str() {
                Some(end) if end != from => from = end.to_owned(),
                _ => break,
            }
        }
        // Nobody invited us: what was said before we came is not for us.
        let came = events.iter().position(|raw| event::joins(raw, bot));
        events.truncate(came.unwrap_or_default());
        events.reverse();
        Ok(events)
    }

    /// `None` where the room's past is not ours to see.
    async fn page(&self, room: &str, query: &[(&str, &str)]) -> Result<Option<Json>, ApiError> {
        let path = ["rooms", room, "messages"];
        match self.api.ask(Ask::get(&path).query(query)).await {
            Err(error) if error.is_absent() => {
                self.arrivals
                    .failed(&format!("cannot read what was missed in {room}: {error}"));
                Ok(None)
            }
            page => page.map(Some),
        }
    }
}

/// Where in a timeline that has our arrival in it those events begin that are for us; `None` if that lies
/// before it.
pub(super) fn begins_at(timeline: &[Json], bot: &str) -> Option<usize> {
    let invited = timeline.iter().rposition(|raw| event::invites(raw, bot));
    if let Some(invited) = invited {
        return Some(invited + 1);
    }
    let joined = timeline.iter().rposition(|raw| event::joins(raw, bot))?;
    let was_invited = timeline
        .get(joined)
        .is_some_and(|raw| raw["unsigned"]["prev_content"]["membership"] == "invite");
    (!was_invited).then_some(joined + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn we_read_from_our_invitation_on() {
        let member = |membership: &str, was: &str| {
            json!({"type": "m.room.member", "state_key": "@me:x", "content": {"membership": membership},
                   "unsigned": {"prev_content": {"membership": was}}})
        };
        let said = || json!({"type": "m.room.message", "content": {"body": "tea?"}});
        let (invite, join) = (member("invite", ""), member("join", "invite"));
        let timeline = [said(), invite, said(), join.clone(), said()];
        assert_eq!(begins_at(&timeline, "@me:x"), Some(2));
        assert_eq!(begins_at(&[said(), join, said()], "@me:x"), None);
        let alone = [said(), member("join", "leave"), said()];
        assert_eq!(begins_at(&alone, "@me:x"), Some(2));
    }
}

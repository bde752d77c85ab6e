//! What a program tells, as events, and which message of a chat's history is one of ours.

use std::sync::Arc;

use callgate_contract::{Found, Part, Piece, Receipt};
use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::{
    Shared,
    event::{ChatEvent, ChatEventKind, field},
    parts::{Content, PartReader, words},
    segment::text_of,
};
use crate::{AccountStatus, Event, EventKind, NotStored};

impl Shared {
    /// Returns once there is room for it; what comes back tells when it is on disk.
    pub(super) async fn take(
        self: &Arc<Self>,
        bot: &str,
        raw: Json,
    ) -> oneshot::Receiver<Result<(), NotStored>> {
        self.arrivals.heard();
        let heard = ChatEvent::read(&self.settings.id, &raw);
        let heard = heard.filter(|it| self.bots.hears(&it.session, bot, it.is_private()));
        let Some(session) = heard.map(|it| it.session) else {
            let (tell, told) = oneshot::channel();
            let _ = tell.send(Ok(()));
            return told;
        };
        let (shared, bot) = (self.clone(), bot.to_owned());
        let reading = async move { shared.read(&bot, raw).await };
        self.arrivals.take(&session, reading).await
    }

    async fn read(&self, bot: &str, raw: Json) -> Option<Event> {
        let event = ChatEvent::read(&self.settings.id, &raw)?;
        let kind = match event.what {
            ChatEventKind::Message => {
                let (session, sender) = (&event.session, &event.sender);
                self.bots.remember_name(session, &sender.id, &sender.name);
                let reader = PartReader {
                    host: self.host.as_ref(),
                    bots: &self.bots,
                    bot,
                    session,
                };
                let message = raw.get("message").unwrap_or(&Json::Null);
                let Content {
                    parts,
                    addresses_bot,
                } = reader.read(message).await;
                EventKind::Message {
                    id: event.message_id(),
                    parts,
                    addressed: addresses_bot || event.is_private(),
                }
            }
            ChatEventKind::Recall => EventKind::Recall {
                message_id: event.message_id()?,
            },
            ChatEventKind::Notice => EventKind::Notice,
        };
        Some(Event {
            sent_at: event.sent_at(),
            chat_name: field(&raw, "group_name"),
            session: event.session,
            sender: event.sender,
            bot: bot.to_owned(),
            kind,
            raw,
        })
    }
}

/// Is the piece among the messages of its chat? What says the same since it was put on its way is it.
pub(super) fn find(messages: &[Json], piece: &Piece<'_>, bots: &[AccountStatus]) -> Found {
    let ours = |message: &&Json| {
        let author = message.get("sender").and_then(|it| field(it, "user_id"));
        let author = author.or(field(message, "user_id"));
        author.is_some_and(|author| bots.iter().any(|bot| bot.id == author))
    };
    // Seconds, by another clock.
    let since = piece.queued_at / 1_000 - 2;
    let is_new = |message: &&Json| {
        let time = message.get("time").and_then(Json::as_i64);
        time.is_none_or(|time| time >= since)
    };
    let said = solid(&piece.parts.iter().map(shown).collect::<String>());
    let says_so = |message: &&Json| {
        let message = message.get("message").unwrap_or(&Json::Null);
        solid(&words(message)) == said
    };
    let found = messages.iter().filter(ours).filter(is_new).filter(says_so);
    match found.collect::<Vec<_>>()[..] {
        [] => Found::Missing,
        [message] => Found::Delivered(Receipt {
            message_id: message.get("message_id").and_then(text_of),
        }),
        // Which of them it is nobody can tell.
        _ => Found::Unknown,
    }
}

/// As the history's words show it.
fn shown(part: &Part) -> String {
    match part {
        Part::Text { text } => text.clone(),
        Part::Mention { id, .. } => format!("@{id}"),
        Part::Image { .. } => "[image]".to_owned(),
        Part::Audio { .. } => "[record]".to_owned(),
        Part::Video { .. } => "[video]".to_owned(),
        Part::File { .. } => "[file]".to_owned(),
        Part::Forward { .. } => "[forward]".to_owned(),
        Part::Reply { .. } => String::new(),
        part => part.words().unwrap_or_default().into_owned(),
    }
}

fn solid(text: &str) -> String {
    text.split_whitespace().collect()
}

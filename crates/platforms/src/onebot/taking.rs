//! Events on their way in: read side by side, since a picture may take long to come, and handed on in the
//! order of their chat. One that cannot be stored now waits, and those behind it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use callgate_contract::{Found, Part, Piece, Receipt, SessionKey};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value as Json;
use tokio::sync::{Semaphore, oneshot};

use super::{
    Shared,
    event::{ChatEvent, ChatEventKind, field},
    parts::{Content, PartReader, words},
    segment::text_of,
};
use crate::{AccountStatus, Event, EventKind, NotStored};

/// Events that are read at once; beyond that the connection is not read from.
const AT_ONCE: usize = 256;
/// Chats whose last event is remembered before those that are done are forgotten.
const MOST_CHATS: usize = 10_000;

/// Whose turn it is in each chat.
pub(super) struct Order {
    room: Arc<Semaphore>,
    /// A mutex, held for one insertion: each waits for the one before it.
    last: Mutex<HashMap<SessionKey, oneshot::Receiver<()>>>,
}

impl Default for Order {
    fn default() -> Self {
        Order {
            room: Arc::new(Semaphore::new(AT_ONCE)),
            last: Mutex::default(),
        }
    }
}

impl Order {
    /// What is to be waited for, and what to drop when it is done.
    fn queue(&self, session: &SessionKey) -> (Option<oneshot::Receiver<()>>, oneshot::Sender<()>) {
        let (done, next) = oneshot::channel();
        let mut last = self.last.lock();
        if last.len() >= MOST_CHATS {
            let is_open = |waits: &mut oneshot::Receiver<()>| {
                waits.try_recv() == Err(oneshot::error::TryRecvError::Empty)
            };
            last.retain(|_, waits| is_open(waits));
        }
        (last.insert(session.clone(), next), done)
    }
}

impl Shared {
    /// Returns once there is room for it; what comes back tells when it is on disk.
    pub(super) async fn take(
        self: &Arc<Self>,
        bot: &str,
        raw: Json,
    ) -> oneshot::Receiver<Result<(), NotStored>> {
        let (tell, told) = oneshot::channel();
        self.status.lock().last_event_at = Some(Timestamp::now().as_millisecond());
        let heard = ChatEvent::read(&self.settings.id, &raw);
        let heard = heard.filter(|it| self.bots.hears(&it.session, bot, it.is_private()));
        let Some(session) = heard.map(|it| it.session) else {
            let _ = tell.send(Ok(()));
            return told;
        };
        let room = self.order.room.clone().acquire_owned().await;
        let (before, done) = self.order.queue(&session);
        let (shared, bot) = (self.clone(), bot.to_owned());
        // A task for each event, which holds its place.
        tokio::spawn(async move {
            let event = shared.read(&bot, raw).await;
            if let Some(before) = before {
                // An error says as well that the one before is done.
                let _ = before.await;
            }
            let stored = match event {
                Some(event) => shared.store(event).await,
                None => Ok(()),
            };
            let _ = tell.send(stored);
            drop((done, room));
        });
        told
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

    async fn store(&self, event: Event) -> Result<(), NotStored> {
        let is_message = matches!(event.kind, EventKind::Message { .. });
        let mut pause = Duration::from_millis(100);
        loop {
            match self.host.receive(event.clone()).await {
                Ok(()) => break,
                Err(error) if error.is_temporary => self.failed(&error.reason),
                Err(error) => {
                    self.failed(&error.reason);
                    return Err(error);
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
        self.status.lock().received += u64::from(is_message);
        Ok(())
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

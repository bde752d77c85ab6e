//! What a server tells, as events, and which message of a chat's history is one of ours.

use std::sync::Arc;

use callgate_contract::{Found, Piece, Receipt, SessionKey};
use serde_json::Value as Json;

use super::{
    Shared,
    element::{Element, parse},
    event::{ChatEvent, ChatEventKind, chat_name, field, message_id, number, sent_at},
    flat::{name_or_id, words},
    incoming::{Content, PartReader},
    logins::Login,
    outgoing,
};
use crate::{Event, EventKind};

/// How far a server's clock may be behind ours.
const CLOCKS: i64 = 2_000;

impl Shared {
    /// Returns once there is room for it. Its number is done when it is on disk.
    pub(super) async fn take(self: &Arc<Self>, raw: Json, number: Option<i64>) {
        let Some((session, login)) = self.hear(&raw) else {
            if let Some(number) = number {
                self.cursor.done(number);
            }
            return;
        };
        let shared = self.clone();
        let reading = async move { shared.read(&login, raw).await };
        let told = self.arrivals.take(&session, reading).await;
        let shared = self.clone();
        // A task for each event that waits to be stored; it ends with that.
        tokio::spawn(async move {
            // What will never be stored is done too.
            let _ = told.await;
            if let Some(number) = number {
                shared.cursor.done(number);
            }
        });
    }

    /// In which chat it happened and by whom we hear of it, if it is for us at all.
    fn hear(&self, raw: &Json) -> Option<(SessionKey, Login)> {
        let kind = field(raw, "type")?;
        if let Some(change) = kind.strip_prefix("login-") {
            let login = raw.get("login").unwrap_or(&Json::Null);
            if self.logins.update(login, change != "removed") {
                self.host.connected();
            }
            return None;
        }
        let login = self.logins.of_event(raw)?;
        let event = ChatEvent::read(&self.settings.id, &self.logins, &login, raw)?;
        let is_said = matches!(event.kind, ChatEventKind::Message | ChatEventKind::Edit);
        let is_own = is_said && self.logins.is_ours(&login.network, &event.user);
        if is_own || !event.is_private() && !self.logins.hears(&event.session, &login) {
            return None;
        }
        self.logins.heard(&event.session, &login, raw);
        Some((event.session, login))
    }

    async fn read(&self, login: &Login, raw: Json) -> Option<Event> {
        let event = ChatEvent::read(&self.settings.id, &self.logins, login, &raw)?;
        let session = &event.session;
        if !event.sender.name.is_empty() {
            self.logins
                .remember_name(session, &event.user, &event.sender.name);
        }
        let content = async || {
            let reader = PartReader {
                shared: self,
                login,
                session,
                channel: self.logins.own(session.id()).1.to_owned(),
                guild: self.logins.guild(session),
            };
            let message = raw.get("message").unwrap_or(&Json::Null);
            reader.read(message).await
        };
        let kind = match event.kind {
            ChatEventKind::Message => {
                let Content {
                    parts,
                    addresses_bot,
                } = content().await;
                EventKind::Message {
                    id: message_id(&raw),
                    parts,
                    addressed: addresses_bot || event.is_private(),
                }
            }
            ChatEventKind::Edit => EventKind::Edit {
                message_id: message_id(&raw)?,
                parts: content().await.parts,
            },
            ChatEventKind::Recall => EventKind::Recall {
                message_id: message_id(&raw)?,
            },
            ChatEventKind::Notice => EventKind::Notice,
        };
        Some(Event {
            sent_at: sent_at(&raw),
            chat_name: chat_name(&raw),
            bot: self.logins.id(&login.network, &login.account),
            session: event.session,
            sender: event.sender,
            kind,
            raw,
        })
    }

    /// Is the piece among the messages of its chat? What says the same since it was put on its way is it.
    pub(super) fn find(&self, network: &str, messages: &[Json], piece: &Piece<'_>) -> Found {
        let ours = |message: &&Json| {
            let member = message.get("member").and_then(|member| member.get("user"));
            let author = message.get("user").filter(|user| user.is_object());
            let author = author.or(member).and_then(|author| field(author, "id"));
            author.is_some_and(|author| self.logins.is_ours(network, &author))
        };
        let is_new = |message: &&Json| {
            let time = number(message, "created_at");
            time.is_none_or(|time| time >= piece.queued_at - CLOCKS)
        };
        let sent: String = piece
            .parts
            .iter()
            .map(|part| outgoing::plain(self, part))
            .collect();
        let sent = compared(&sent);
        let says_so = |message: &&Json| {
            let content = field(message, "content").unwrap_or_default();
            compared(&content) == sent
        };
        let found = messages.iter().filter(ours).filter(is_new).filter(says_so);
        match found.collect::<Vec<_>>()[..] {
            [] => Found::Missing,
            [message] => Found::Delivered(Receipt {
                message_id: field(message, "id"),
            }),
            // Which of them it is nobody can tell.
            _ => Found::Unknown,
        }
    }
}

/// Names may have been filled in, and spaces be shown otherwise.
fn compared(content: &str) -> String {
    fn id_first(element: &Element) -> Option<&str> {
        element.attribute("id").or(name_or_id(element))
    }
    let words = words(&parse(content), id_first);
    words.split_whitespace().collect()
}

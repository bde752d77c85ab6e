//! What becomes of a message whose worker ended: where its handlers had said something, its user is told that
//! there will be no more; where not, it is answered without them. An answer that is on its way is sent by the
//! worker that comes next. No handler is run twice.

use std::time::Duration;

use callgate_contract::{ArrivalFacts, Caller, Part, Role, SessionKey, Verdict};
use callgate_store::LogRow;
use serde_json::{Value as Json, json};
use tokio::time::timeout;

use super::{Hearer, PluginListener, caller, data, described_message, words};
use crate::{WorkerError, context::text};

/// How long a worker may take to start again and send an answer that another left.
const RESUME: Duration = Duration::from_secs(120);

impl PluginListener {
    /// A worker ended over a message: its user is told, unless the message had come as far as a turn, or is
    /// left to one.
    pub(super) async fn cut_off(
        &self,
        message: &ArrivalFacts,
        caller: &Caller,
        error: &WorkerError,
    ) -> Verdict {
        let Some(inner) = self.0.upgrade() else {
            return Verdict::Pass;
        };
        let row = inner.store.log().get(message.row).await.ok().flatten();
        if let Some(row) = row {
            if row.turn.is_some() {
                return Verdict::Taken;
            }
            if let Ok(false) = inner.store.has_answer_beside_turns(&row).await {
                return Verdict::Pass;
            }
        }
        let words =
            format!("A plugin failed over this message; what it was doing is lost: {error}");
        let told = json!([{"type": "text", "text": words}]);
        if let Err(error) = self.send(caller, 1, told).await {
            tracing::warn!(error = error.message, "could not report a failed command");
        }
        Verdict::Taken
    }

    /// The worker that a turn's answer was meant for is a new one: it makes the event anew from the
    /// stored message and goes on at the delivery.
    pub(super) async fn resume(
        &self,
        session: &SessionKey,
        reference: &Json,
        parts: &[Part],
    ) -> bool {
        let Some(facts) = self.facts(session, reference).await else {
            return false;
        };
        let caller = caller(session, &facts.principal, facts.role);
        let said = described_message(&facts, &words(&facts.parts));
        for hearer in self.hearers(session).into_iter().filter(Hearer::is_astrbot) {
            let told = json!({"row": facts.row, "role": facts.role.to_plugins(), "wake": true});
            let asked = vec![
                ("ref".to_owned(), text(facts.row.to_string())),
                ("message".to_owned(), said.clone()),
                ("facts".to_owned(), data(told)),
                ("resume".to_owned(), text(words(parts))),
            ];
            let sent = hearer.worker.ask("event", asked, Some(&caller));
            match timeout(RESUME, sent).await {
                Ok(Ok(_)) => return true,
                Ok(Err(error)) => {
                    tracing::warn!(worker = hearer.worker.name(), %error, "plugin hook failed; sending the answer unchanged");
                }
                Err(_) => {
                    // It may have been sent: better once than twice.
                    tracing::warn!(
                        worker = hearer.worker.name(),
                        "plugin worker timed out; the answer may not have been sent"
                    );
                    return true;
                }
            }
        }
        false
    }

    /// Of the message that an event was made of; its reference begins with the row's number.
    async fn facts(&self, session: &SessionKey, reference: &Json) -> Option<ArrivalFacts> {
        let inner = self.0.upgrade()?;
        let row = reference.as_str()?.split('+').next()?.parse().ok()?;
        let row: LogRow = inner.store.log().get(row).await.ok()??;
        if row.session != *session {
            return None;
        }
        let principal = row.principal();
        let sender = row.sender?;
        Some(ArrivalFacts {
            row: row.id,
            session: row.session,
            user: sender.id,
            name: sender.name,
            principal,
            role: row.sender_role.unwrap_or(Role::Member),
            parts: row.parts,
            message_id: row.message_id,
            at: row.at.as_millisecond(),
            mentioned: true,
            prefix: None,
            wanted: true,
            obeyed: false,
            platform: None,
        })
    }
}

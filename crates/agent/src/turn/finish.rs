//! How a turn ends: its answer, history and end are one transaction, and the answer leaves once.

use callgate_contract::{Change, Message, Part, Points, TurnStop};
use callgate_store::{LogRole, LogRow, NewMessage, TurnEnd};

use super::{Turn, TurnReport};
use crate::{
    TurnError,
    history::{text_of, to_json, to_plugins_json},
    watch::TurnEvent,
};

impl Turn {
    /// Has the user been told anything since the turn began?
    pub(crate) async fn has_spoken(&self) -> Result<bool, TurnError> {
        if let Some(asker) = &self.options.returned {
            return Ok(asker.voice.has_said());
        }
        let store = self.agent.store();
        let rows = store
            .log()
            .since(&self.facts.session, self.progress.log_mark, 200)
            .await?;
        let said = |row: &LogRow| row.role == LogRole::Assistant;
        Ok(rows.iter().any(said))
    }

    pub(crate) async fn finish(
        &mut self,
        stop: TurnStop,
        text: String,
    ) -> Result<TurnReport, TurnError> {
        let mut answer = match text.trim() {
            "" => Vec::new(),
            text => vec![Part::text(text)],
        };
        // An agent's answer goes to the turn that called it, not to the chat.
        let speaks = self.facts.depth == 0 && !self.is_returned();
        if speaks && !answer.is_empty() {
            answer = self.before_answer(answer).await?;
        }
        let stop = match stop {
            TurnStop::Answered
                if answer.is_empty() && !self.is_returned() && !self.has_spoken().await? =>
            {
                TurnStop::Silent
            }
            stop => stop,
        };
        let text = text_of(&answer);
        self.tell_rest(stop, &text);
        let report = self.report(Some(stop), text);
        let mut changes = Vec::new();
        if speaks {
            changes.extend(self.keep_unfinished());
        }
        if speaks && !answer.is_empty() && !self.is_delivered(stop, &answer).await? {
            changes.push(Change::Send {
                message: Message {
                    session: self.facts.session.clone(),
                    parts: answer,
                },
            });
        }
        let exchange = self.exchange(&report);
        let added = std::mem::take(&mut self.state.added);
        let kept = match self.options.companion {
            Some(_) => to_plugins_json,
            None => to_json,
        };
        let messages: Vec<NewMessage> = added.iter().map(|m| kept(m).into()).collect();
        let mut json = serde_json::to_value(&report).unwrap_or_default();
        if let Some(exchange) = exchange {
            json["exchange"] = exchange;
        }
        self.begin_now().await?;
        let end = TurnEnd {
            calls: self.state.calls > 0,
            tainted: self.caller.grant.taint.is_tainted(),
            stop,
            report: &json,
            messages: &messages,
            changes: &changes,
            elapsed: self.progress.began.elapsed(),
        };
        let turns = self.agent.store().turns();
        let last = turns.finish(self.facts.turn, end).await?;
        if let (Some(id), Some(last)) = (self.facts.conversation, last) {
            let histories = &self.agent.sessions().histories;
            histories.appended(id, last, &messages);
        }
        self.end_claim();
        if !self.is_returned() {
            self.agent.deliver(&self.facts.session).await;
        }
        for listener in self.agent.listeners(Points::AFTER_TURN) {
            listener.after_turn(&self.facts).await;
        }
        self.watch.tell(TurnEvent::Finished {
            report: report.clone(),
        });
        Ok(report)
    }

    /// What people read while it came stays in the chat.
    fn keep_unfinished(&mut self) -> Option<Change> {
        let text = std::mem::take(&mut self.state.unfinished).trim().to_owned();
        (!text.is_empty()).then(|| Change::Unfinished {
            session: self.facts.session.clone(),
            text,
        })
    }

    /// Somebody else sends the answer, or has done so before a crash.
    async fn is_delivered(&self, stop: TurnStop, answer: &[Part]) -> Result<bool, TurnError> {
        let is_taken = self.hand_over(stop, answer).await;
        Ok(is_taken || self.earlier.handed_over && self.has_spoken().await?)
    }

    pub(super) fn report(&self, stop: Option<TurnStop>, text: String) -> TurnReport {
        TurnReport {
            turn: self.facts.turn,
            rounds: self.state.round,
            stop,
            calls: self.state.calls,
            text,
            failure: self.progress.failure.clone(),
        }
    }
}

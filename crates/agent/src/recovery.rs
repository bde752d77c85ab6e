//! After a restart: what was under way goes on, what was stored is answered, what was written goes
//! out. Only the owner of the data directory does this.

use callgate_contract::{JournalId, TurnStop};
use callgate_store::{ApprovalState, LogRow, StoreError, TurnEnd};
use jiff::Timestamp;
use serde_json::json;

use crate::{Agent, Arrived, TurnError, Watch, commands::Command, texts};

/// What a restart found to do.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Turns that went on.
    pub turns: Vec<JournalId>,
    /// Messages that had no turn yet.
    pub messages: usize,
}

impl Agent {
    pub async fn recover(&self) -> Result<Recovered, TurnError> {
        self.recover_before(Timestamp::now()).await
    }

    /// Leaves alone what began after `start`, for an owner that answers others meanwhile.
    pub async fn recover_before(&self, start: Timestamp) -> Result<Recovered, TurnError> {
        let mut recovered = Recovered::default();
        for (run, result) in self.coder().recover_before(start).await? {
            if let Err(error) = result {
                tracing::warn!(run = %run.0, %error, "a run could not be executed again");
            }
        }
        let mut unfinished = self.store().turns().unfinished().await?;
        unfinished.retain(|turn| turn.started_at <= start);
        for turn in unfinished {
            let id = turn.start.id;
            if turn.start.parent.is_some() || turn.start.plan["returned"] == true {
                // The turn above is told that its agent's outcome is unknown; and whoever waited
                // for an answer of its own is gone.
                self.abandon(id).await?;
            } else if turn.start.model.is_empty() {
                if let Err(error) = self.obey_again(&turn.start).await {
                    tracing::warn!(turn = %id.0, %error, "a command has no answer");
                }
            } else if !self.waits_for_approval(id).await? {
                match self.resume(id, Watch::default()).await {
                    Ok(_) => recovered.turns.push(id),
                    // One that cannot go on must not keep the others from it.
                    Err(error) => tracing::warn!(turn = %id.0, %error, "a turn cannot go on"),
                }
            }
        }
        let mut offered = self.store().log().offered().await?;
        offered.retain(|row| row.at <= start);
        for row in offered {
            // Listeners are never given a message twice: nobody knows how far they came.
            let turn = self.begin_command(&row, self.role_at_arrival(&row)).await?;
            self.reply(&turn, texts::HANDLING_CUT_OFF.to_owned())
                .await?;
        }
        for session in self.store().log().waiting().await? {
            let mut waiting = self.store().log().unanswered(&session).await?;
            waiting.retain(|row| row.at <= start);
            for row in waiting {
                match self.take_up(&row).await {
                    Ok(Arrived::Turn(_)) => recovered.messages += 1,
                    Ok(_) => {}
                    Err(error) => tracing::warn!(row = row.id, %error, "a message has no answer"),
                }
            }
        }
        let everywhere = self.store().outbox().pending(None).await?;
        for pending in everywhere {
            self.deliver(&pending.message.session).await;
        }
        Ok(recovered)
    }

    /// A message that was stored and no more.
    async fn take_up(&self, row: &LogRow) -> Result<Arrived, TurnError> {
        // A timer's text is the model's: it is never a command of the person it was set for.
        let is_timer = |id: &String| id.starts_with("timer:");
        if !row.message_id.as_ref().is_some_and(is_timer)
            && let Some(command) = Command::read(&row.parts)
        {
            let role = self.role_at_arrival(row);
            self.obey(command, row, role, Watch::default()).await?;
            return Ok(Arrived::Command);
        }
        self.answer_stored(row, Watch::default()).await
    }

    async fn abandon(&self, turn: JournalId) -> Result<(), TurnError> {
        let end = TurnEnd {
            stop: TurnStop::Cancelled,
            report: &json!({ "error": "the process ended while it ran" }),
            messages: &[],
            changes: &[],
            elapsed: std::time::Duration::ZERO,
        };
        match self.store().turns().finish(turn, end).await {
            // It came to its own end meanwhile.
            Ok(()) | Err(StoreError::TurnFinished(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn waits_for_approval(&self, turn: JournalId) -> Result<bool, TurnError> {
        let pending = Some(ApprovalState::Pending);
        let pending = self.store().approvals().list(pending).await?;
        let runs = self.store().turns().runs(turn).await?;
        let ours = |id: JournalId| id == turn || runs.iter().any(|run| run.start.id == id);
        Ok(pending.iter().any(|approval| ours(approval.ask.journal)))
    }

    /// Goes on with whatever waited for this approval.
    pub async fn go_on_after(&self, approval: i64, watch: Watch) -> Result<(), TurnError> {
        let journal = self.store().approvals().get(approval).await?.ask.journal;
        let turn = match self.store().journal().run(journal).await {
            Ok(run) => match run.start.turn {
                Some((turn, _)) => turn,
                None => {
                    self.coder().resume(journal, watch.output()).await?;
                    return Ok(());
                }
            },
            // Calls of tool mode are journaled under the turn itself.
            Err(_) => journal,
        };
        match self.resume(turn, watch).await {
            Ok(_) => Ok(()),
            // It was still waiting and went on by itself.
            Err(TurnError::Ended { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

//! After a restart: what was under way goes on, what was stored is answered, what was written goes
//! out. Only the owner of the data directory does this; of instances that share a database each also
//! takes over what one that is gone has left.

mod others;

use std::{collections::HashSet, time::Duration};

use callgate_contract::{Change, JournalId, Message, Part, Points, SessionKey, TurnStop};
use callgate_store::{ApprovalState, LeftBy, LeftRow, LogRow, StoreError, TurnEnd, TurnStart};
use serde_json::json;
use tokio::task::JoinSet;

use self::others::Others;
use crate::{
    Agent, Arrived, TurnError, Watch, commands::Command, session::LiveSession, texts,
    turn::TurnPlan,
};

/// Between two looks at other instances, at the most: what one has left is taken up soon after its term.
const LOOK: Duration = Duration::from_secs(1);

/// What a restart found to do.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// Turns that went on.
    pub turns: Vec<JournalId>,
    /// Messages that had no turn yet.
    pub messages: usize,
}

impl Agent {
    pub async fn recover(&self) -> Result<Recovered, TurnError> {
        self.recover_code(LeftBy::Anyone).await?;
        self.recover_left(LeftBy::Anyone).await
    }

    /// Turns and messages. What nobody of those left is let alone, for an owner that answers others
    /// meanwhile.
    pub async fn recover_left(&self, by: LeftBy) -> Result<Recovered, TurnError> {
        let mut going = JoinSet::new();
        for session in self.sessions_left(by).await? {
            let agent = self.clone();
            going.spawn(async move { agent.take_up_session(&session).await });
        }
        let mut recovered = Recovered::default();
        while let Some(one) = going.join_next().await {
            let one = one.unwrap_or_default();
            recovered.turns.extend(one.turns);
            recovered.messages += one.messages;
        }
        let outbox = self.store().outbox();
        let waiting = match by {
            LeftBy::Others => outbox.left_behind().await?,
            LeftBy::Anyone | LeftBy::Earlier => outbox.sessions().await?,
        };
        for session in waiting {
            self.deliver(&session).await;
        }
        Ok(recovered)
    }

    /// Goes on with what other instances have left that are gone.
    pub async fn take_over(&self) -> Result<Recovered, TurnError> {
        self.recover_code(LeftBy::Others).await?;
        self.recover_left(LeftBy::Others).await
    }

    /// The same again and again until `stop`; what it has begun comes to its end. Nothing waits for what
    /// takes long: another instance may have gone meanwhile.
    pub async fn look_after_others(&self, stop: impl Future<Output = ()>) {
        let Some(term) = self.store().term() else {
            return;
        };
        let pause = (term / 4).min(LOOK);
        let mut stop = std::pin::pin!(stop);
        let mut others = Others::default();
        loop {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = &mut stop => break,
            }
            if let Err(error) = others.look(self).await {
                tracing::warn!(%error, "could not check other instances");
            }
        }
        others.end().await;
    }

    async fn sessions_left(&self, by: LeftBy) -> Result<HashSet<SessionKey>, TurnError> {
        let log = self.store().log();
        let rows = [log.left_unanswered(by).await?, log.left_offered(by).await?];
        let turns = self.store().turns().cut_off(by).await?;
        let of_rows = rows.into_iter().flatten().map(|row| row.session);
        let of_turns = turns.into_iter().map(|turn| turn.start.session);
        Ok(of_rows.chain(of_turns).collect())
    }

    async fn recover_code(&self, by: LeftBy) -> Result<(), TurnError> {
        for (run, result) in self.coder().recover_left(by).await? {
            if let Err(error) = result {
                tracing::warn!(run = %run.0, %error, "could not re-execute a run");
            }
        }
        Ok(())
    }

    /// Listeners or the judge were dealing with the message. They are not given it twice, since nobody knows how far they
    /// came: whatever they have said stands; where that is nothing, the message is answered without them.
    async fn answer_without_listeners(&self, row: &LogRow) -> Result<Arrived, TurnError> {
        let log = self.store().log();
        let has_answer = self.store().has_answer_beside_turns(row).await?;
        if self.listeners(Points::ARRIVED).next().is_some() {
            tracing::warn!(
                row = row.id, session = %row.session, has_answer,
                "plugins were cut off over a message and are not given it again"
            );
        }
        let mut wake = self.wake(row).await?;
        if !has_answer {
            self.decide(row, &mut wake).await?;
        }
        if has_answer || !wake.wanted {
            log.dealt_with(row.id).await?;
            return Ok(Arrived::Taken);
        }
        log.release(row).await?;
        self.answer_stored(row, Watch::default()).await
    }

    /// True if a turn that was cut off went on to its end, under its session's lease.
    pub(crate) async fn go_on_with(
        &self,
        id: JournalId,
        session: &LiveSession,
    ) -> Result<bool, TurnError> {
        let turn: TurnStart = self.store().turns().get(id).await?.start;
        if turn.model.is_empty() || turn.parent.is_some() || TurnPlan::of(&turn).returned {
            if !self.store().leases().adopt(id).await? {
                return Ok(false);
            }
            if turn.model.is_empty() {
                self.run_command_again(&turn).await?;
            } else {
                // The turn above is told that its agent's outcome is unknown; and whoever waited
                // for an answer of its own is gone.
                self.abandon(id).await?;
            }
            return Ok(false);
        }
        if self.waits_for_approval(id).await? {
            return Ok(false);
        }
        match self.go_on(id, session, Watch::default()).await {
            Ok(_) => Ok(true),
            // Another was faster.
            Err(TurnError::Ended { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A message that was stored and no more.
    pub(crate) async fn take_up(&self, row: i64) -> Result<Arrived, TurnError> {
        let row = match self.store().left_row(row).await? {
            // A turn that went on has taken it along.
            None => return Ok(Arrived::Joined),
            Some(LeftRow::Offered(row)) => return self.answer_without_listeners(&row).await,
            Some(LeftRow::Unanswered(row)) => row,
        };
        // A timer's text is the model's: it is never a command of the person it was set for.
        let is_timer = |id: &String| id.starts_with("timer:");
        if !row.message_id.as_ref().is_some_and(is_timer)
            && let Some(command) = Command::read(&row.parts)
        {
            let role = self.role_at_arrival(&row);
            self.run_command(command, &row, role, Watch::default())
                .await?;
            return Ok(Arrived::Command);
        }
        self.answer_stored(&row, Watch::default()).await
    }

    async fn abandon(&self, turn: JournalId) -> Result<(), TurnError> {
        let end = TurnEnd {
            calls: true,
            tainted: true,
            stop: TurnStop::Cancelled,
            report: &json!({ "error": "the process ended while it ran" }),
            messages: &[],
            changes: &[],
            elapsed: Duration::ZERO,
        };
        match self.store().turns().finish(turn, end).await {
            // It came to its own end meanwhile.
            Ok(_) | Err(StoreError::TurnFinished(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A turn that can never go on ends, so that those after it can; whoever asked is told.
    pub(crate) async fn give_up_turn(
        &self,
        turn: JournalId,
        session: &SessionKey,
        why: &str,
    ) -> Result<(), TurnError> {
        let message = Message {
            session: session.clone(),
            parts: vec![Part::text(texts::cannot_go_on(why))],
        };
        let end = TurnEnd {
            calls: true,
            tainted: true,
            stop: TurnStop::Error,
            report: &json!({ "error": why }),
            messages: &[],
            changes: &[Change::Send { message }],
            elapsed: Duration::ZERO,
        };
        match self.store().turns().finish(turn, end).await {
            Ok(_) => {
                self.deliver(session).await;
                Ok(())
            }
            Err(StoreError::TurnFinished(_) | StoreError::Elsewhere(_)) => Ok(()),
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
    pub async fn resume_after_approval(
        &self,
        approval: i64,
        watch: Watch,
    ) -> Result<(), TurnError> {
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
            Err(StoreError::UnknownRun(_)) => journal,
            Err(error) => return Err(error.into()),
        };
        match self.resume(turn, watch).await {
            Ok(_) => Ok(()),
            // It was still waiting and went on by itself.
            Err(TurnError::Ended { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

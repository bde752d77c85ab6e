//! After a restart: what was under way goes on, what was stored is answered, what was written goes
//! out. Only the owner of the data directory does this; of instances that share a database each also
//! takes over what one that is gone has left.

use std::collections::HashMap;

use callgate_contract::{Change, JournalId, Message, Part, SessionKey, TurnStop};
use callgate_store::{ApprovalState, LogRow, StoreError, TurnEnd, TurnStart};
use jiff::Timestamp;
use serde_json::json;
use tokio::task::{JoinError, JoinSet};

use crate::{
    Agent, Arrived, TurnError, Watch, arrival::Answering, commands::Command, language::Language,
    texts, turn::TurnPlan,
};

/// What a restart found to do.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Turns that went on.
    pub turns: Vec<JournalId>,
    /// Messages that had no turn yet.
    pub messages: usize,
}

impl Recovered {
    fn add(&mut self, one: Option<Result<Recovered, JoinError>>) {
        match one {
            Some(Ok(one)) => {
                self.turns.extend(one.turns);
                self.messages += one.messages;
            }
            Some(Err(error)) => tracing::error!(%error, "could not resume an interrupted session"),
            None => {}
        }
    }
}

/// Sessions that are taken up side by side: one whose turn takes long holds up few others.
const SIDE_BY_SIDE: usize = 16;

/// In one session, each oldest first.
#[derive(Default)]
struct Left {
    turns: Vec<TurnStart>,
    offered: Vec<LogRow>,
    unanswered: Vec<LogRow>,
}

impl Agent {
    pub async fn recover(&self) -> Result<Recovered, TurnError> {
        self.recover_before(Timestamp::now()).await
    }

    /// Leaves alone what began after `start`, for an owner that answers others meanwhile.
    pub async fn recover_before(&self, start: Timestamp) -> Result<Recovered, TurnError> {
        let recovered = self.take_up_all(start).await?;
        let everywhere = self.store().outbox().pending(None).await?;
        for pending in everywhere {
            self.deliver(&pending.message.session).await;
        }
        Ok(recovered)
    }

    /// Goes on with what other instances have left that are gone; again and again, for an owner that
    /// stays.
    pub async fn take_over(&self) -> Result<Recovered, TurnError> {
        // Nothing of our own was under way at that time.
        let recovered = self.take_up_all(Timestamp::MIN).await?;
        for session in self.store().outbox().left_behind().await? {
            self.deliver(&session).await;
        }
        Ok(recovered)
    }

    /// [`Agent::take_over`] until `stop`; what it has begun comes to its end.
    pub async fn look_after_others(&self, stop: impl Future<Output = ()>) {
        let Some(term) = self.store().term() else {
            return;
        };
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = tokio::time::sleep(term / 4) => {}
                () = &mut stop => return,
            }
            match self.take_over().await {
                Ok(recovered) => {
                    for turn in recovered.turns {
                        tracing::info!(turn = %turn.0, "resumed a turn of another instance");
                    }
                }
                Err(error) => tracing::warn!(%error, "could not check other instances"),
            }
        }
    }

    async fn take_up_all(&self, start: Timestamp) -> Result<Recovered, TurnError> {
        let log = self.store().log();
        // Looked for in the reverse order: an instance may be gone from one look to the next, and its
        // turn comes before the messages that waited for it.
        let unanswered = log.left_unanswered(start).await?;
        let offered = log.left_offered(start).await?;
        let turns = self.store().turns().cut_off(start).await?;
        for (run, result) in self.coder().recover_before(start).await? {
            if let Err(error) = result {
                tracing::warn!(run = %run.0, %error, "could not re-execute a run");
            }
        }
        let mut sessions: HashMap<SessionKey, Left> = HashMap::new();
        for turn in turns {
            let session = turn.start.session.clone();
            sessions.entry(session).or_default().turns.push(turn.start);
        }
        for row in offered {
            let session = row.session.clone();
            sessions.entry(session).or_default().offered.push(row);
        }
        for row in unanswered {
            let session = row.session.clone();
            sessions.entry(session).or_default().unanswered.push(row);
        }
        let mut recovered = Recovered::default();
        let mut going = JoinSet::new();
        for left in sessions.into_values() {
            if going.len() >= SIDE_BY_SIDE {
                recovered.add(going.join_next().await);
            }
            let agent = self.clone();
            going.spawn(async move { agent.take_up_in_order(left).await });
        }
        while !going.is_empty() {
            recovered.add(going.join_next().await);
        }
        Ok(recovered)
    }

    /// What one session was left with. One thing that cannot go on keeps no other from it.
    async fn take_up_in_order(&self, left: Left) -> Recovered {
        let mut recovered = Recovered::default();
        for turn in left.turns {
            let id = turn.id;
            match self.go_on_with(turn, None).await {
                Ok(true) => recovered.turns.push(id),
                Ok(false) => {}
                Err(error) => tracing::warn!(turn = %id.0, %error, "could not resume a turn"),
            }
        }
        for row in left.offered {
            if let Err(error) = self.tell_cut_off(&row).await {
                tracing::warn!(row = row.id, %error, "message not answered");
            }
        }
        for row in left.unanswered {
            match self.take_up(&row).await {
                Ok(Arrived::Turn(_)) => recovered.messages += 1,
                Ok(_) => {}
                Err(error) => tracing::warn!(row = row.id, %error, "message not answered"),
            }
        }
        recovered
    }

    /// Listeners are never given a message twice: nobody knows how far they came.
    pub(crate) async fn tell_cut_off(&self, row: &LogRow) -> Result<(), TurnError> {
        match self.begin_command(row, self.role_at_arrival(row)).await {
            Ok((turn, work)) => {
                let text = texts::handling_cut_off(Language::of_parts(&row.parts)).to_owned();
                work.ends_with(self.reply(&turn, text).await)
            }
            // Another was faster.
            Err(TurnError::Store(StoreError::NotToTake { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// True if a turn that was cut off went on to its end. `under`: where the session's lease is held.
    pub(crate) async fn go_on_with(
        &self,
        turn: TurnStart,
        under: Option<&Answering>,
    ) -> Result<bool, TurnError> {
        let id = turn.id;
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
        let resumed = match under {
            Some(answering) => self.go_on(id, answering, Watch::default()).await,
            None => self.resume(id, Watch::default()).await,
        };
        match resumed {
            Ok(_) => Ok(true),
            // Another was faster.
            Err(TurnError::Ended { .. } | TurnError::Store(StoreError::Elsewhere(_))) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A message that was stored and no more.
    pub(crate) async fn take_up(&self, row: &LogRow) -> Result<Arrived, TurnError> {
        let now = self.store().log().get(row.id).await?;
        if now.is_none_or(|row| row.turn.is_some()) {
            // A turn that went on has taken it along.
            return Ok(Arrived::Joined);
        }
        // A timer's text is the model's: it is never a command of the person it was set for.
        let is_timer = |id: &String| id.starts_with("timer:");
        if !row.message_id.as_ref().is_some_and(is_timer)
            && let Some(command) = Command::read(&row.parts)
        {
            let role = self.role_at_arrival(row);
            self.run_command(command, row, role, Watch::default())
                .await?;
            return Ok(Arrived::Command);
        }
        self.answer_stored(row, Watch::default()).await
    }

    async fn abandon(&self, turn: JournalId) -> Result<(), TurnError> {
        let end = TurnEnd {
            calls: true,
            stop: TurnStop::Cancelled,
            report: &json!({ "error": "the process ended while it ran" }),
            messages: &[],
            changes: &[],
            elapsed: std::time::Duration::ZERO,
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
        error: &TurnError,
    ) -> Result<(), TurnError> {
        tracing::error!(turn = %turn.0, %error, "a turn cannot go on and is ended");
        let message = Message {
            session: session.clone(),
            parts: vec![Part::text(texts::cannot_go_on(error))],
        };
        let end = TurnEnd {
            calls: true,
            stop: TurnStop::Error,
            report: &json!({ "error": error.to_string() }),
            messages: &[],
            changes: &[Change::Send { message }],
            elapsed: std::time::Duration::ZERO,
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

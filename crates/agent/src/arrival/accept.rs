//! [`Accepted`]: a message of somebody who does not wait for the answer, or waits and may leave. It is on
//! disk before anybody is told that it was accepted, and is dealt with whoever listens.

use callgate_contract::Part;
use callgate_store::{Incoming, LogRow};
use tokio::{sync::oneshot, task::JoinHandle};

use super::{Arrived, Override, Received, State};
use crate::{Agent, TurnError, TurnReport, Watch, commands::Command};

/// A message that is on disk and being dealt with.
pub struct Accepted {
    row: LogRow,
    /// A task, so that it goes on when whoever asked has left.
    outcome: JoinHandle<Result<Arrived, TurnError>>,
}

impl Accepted {
    /// Of a message that was delivered before, what was said then.
    pub fn parts(&self) -> &[Part] {
        &self.row.parts
    }

    /// Waits until it has been dealt with.
    pub async fn outcome(self) -> Result<Arrived, TurnError> {
        self.outcome.await.unwrap_or(Err(TurnError::CutOff))
    }

    /// Nobody waits: a failure is told to the log alone.
    pub fn leave(self) {
        tokio::spawn(async move {
            let row = self.row.id;
            if let Err(error) = self.outcome().await {
                tracing::error!(row, %error, "accepted message not answered yet");
            }
        });
    }
}

impl Agent {
    /// Returns when the message is on disk; what is to be done about it is done meanwhile. One that was
    /// delivered before comes to what it came to then.
    pub async fn accept(
        &self,
        incoming: Incoming,
        overrule: Override,
        watch: Watch,
    ) -> Result<Accepted, TurnError> {
        let agent = self.clone();
        // Says that the row is on disk; dropped unsaid, it could not be stored.
        let (tell, told) = oneshot::channel();
        let outcome = tokio::spawn(async move {
            let received = agent.receive(incoming, overrule).await?;
            // Whoever asked may have left.
            let _ = tell.send(received.row.clone());
            agent.respond_or_repeat(received, watch).await
        });
        match told.await {
            Ok(row) => Ok(Accepted { row, outcome }),
            Err(_) => match outcome.await {
                Ok(Err(error)) => Err(error),
                Ok(Ok(_)) | Err(_) => Err(TurnError::CutOff),
            },
        }
    }

    async fn respond_or_repeat(
        &self,
        received: Received,
        watch: Watch,
    ) -> Result<Arrived, TurnError> {
        let row = match received.state {
            State::Repeated => {
                received.claim.end();
                received.row
            }
            State::Stale | State::Command(_) | State::Message { .. } => {
                return self.respond(received, watch).await;
            }
        };
        // The first delivery deals with it. Where that failed, this one does: a row is taken once.
        if Command::read(&row.parts).is_none()
            && let arrived @ Arrived::Turn(_) = self.answer_stored(&row, watch).await?
        {
            return Ok(arrived);
        }
        self.outcome_of(&row).await
    }

    /// What became of a stored message, as far as that is known by now.
    pub(super) async fn outcome_of(&self, row: &LogRow) -> Result<Arrived, TurnError> {
        let now = self.store().log().get(row.id).await?;
        let Some(turn) = now.and_then(|row| row.turn) else {
            return Ok(Arrived::Heard);
        };
        let found = self.store().turns().get(turn).await?;
        if found.start.model.is_empty() {
            return Ok(Arrived::Command);
        }
        let report = found.finish.map(|finish| finish.report);
        let report = report.and_then(|report| serde_json::from_value(report).ok());
        Ok(Arrived::Turn(report.unwrap_or(TurnReport {
            turn,
            rounds: 0,
            stop: None,
            calls: 0,
            text: String::new(),
            failure: None,
        })))
    }
}

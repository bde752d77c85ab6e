//! Setting the stage for one act of a replay: its rows as they stood just before it ended, with runs
//! of code open, so that going on with it executes them again.

use callgate_contract::{JournalId, SessionKey, Stop};
use callgate_store::{Persona, Store};

use super::{
    CapsuleError,
    format::{CallRecord, Capsule, RunRecord, TurnRecord},
};

impl RunRecord {
    /// Why it cannot be executed again; what it did is taken from the record then.
    pub(super) fn obstacle(&self) -> Option<&'static str> {
        let Some(finish) = &self.finish else {
            return Some("it has not ended");
        };
        if self.threaded || self.calls.iter().any(|call| call.threaded) {
            return Some("it used threads, or read clocks too often");
        }
        match finish.stop {
            Stop::Finished | Stop::Agent | Stop::Multimodal | Stop::Inspect | Stop::Error => None,
            Stop::Approval => Some("it waits for an approval"),
            Stop::Cancelled => Some("it was stopped from outside"),
            _ => Some("it met a limit, which depends on the machine"),
        }
    }
}

pub(super) async fn personas(store: &Store, capsule: &Capsule) -> Result<(), CapsuleError> {
    let known = store.personas().list().await?;
    for new in &capsule.personas {
        let is_known = known.iter().any(|known| known.name == new.name);
        if new.name != Persona::built_in().name && !is_known {
            store.personas().create_unchecked(new).await?;
        }
    }
    Ok(())
}

pub(super) async fn turn(
    store: &Store,
    session: &SessionKey,
    turn: &TurnRecord,
) -> Result<(), CapsuleError> {
    if let Some(conversation) = turn.conversation {
        store
            .capsules()
            .put_conversation(conversation, session)
            .await?;
    }
    store.turns().begin(&turn.start(session), &[]).await?;
    for round in &turn.rounds {
        store.capsules().put_round(turn.id, &round.round()).await?;
    }
    calls(store, turn.id, &turn.calls).await?;
    for (place, value) in &turn.altered {
        store.turns().alter(turn.id, place, value).await?;
    }
    for one in &turn.runs {
        run(store, session, one, Some(turn.id)).await?;
    }
    Ok(())
}

pub(super) async fn run(
    store: &Store,
    session: &SessionKey,
    run: &RunRecord,
    turn: Option<JournalId>,
) -> Result<(), CapsuleError> {
    let Some((start, tail)) = run.start(session, turn) else {
        let reason = "it has no seed of 16 bytes";
        return Err(CapsuleError::NotOne(format!("run {}: {reason}", run.id.0)));
    };
    store.capsules().put_run(&start, &tail).await?;
    calls(store, run.id, &run.calls).await?;
    if let (Some(_), Some(finish)) = (run.obstacle(), &run.finish) {
        let journal = store.journal();
        journal
            .finish_with(run.id, finish.stop, &finish.report, &tail)
            .await?;
    }
    Ok(())
}

async fn calls(
    store: &Store,
    journal: JournalId,
    calls: &[CallRecord],
) -> Result<(), CapsuleError> {
    for call in calls {
        let recorded = call.call(journal);
        match &recorded.outcome {
            Some(outcome) => {
                let journal = store.journal();
                journal.record(&recorded.intent, outcome, &[]).await?;
            }
            None => store.journal().intent(&recorded.intent).await?,
        }
    }
    Ok(())
}

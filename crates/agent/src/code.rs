//! [`Coder`]: runs code in the sandbox with the methods its caller holds, and journals the run so
//! that it can be executed again from its record.

use std::sync::Arc;

use callgate_contract::{
    BoxFuture, Budget, Caller, Cancel, Effect, Grant, JournalId, Limits, OutputListener,
    RunFolders, RunSpec, Sandbox, Stop,
};
use callgate_gate::{CallError, Gate};
use callgate_store::{
    ApprovalState, CallOutcome, LeftBy, RecordedCall, Run, RunStart, Store, StoreError, Tail,
};
use tracing::{Instrument, field::Empty};

use crate::{RunError, RunReport, Watch, follow::Follower};

/// Messages one run may send.
const MESSAGES: u64 = 1_000;

#[derive(Clone)]
pub struct Coder {
    pub gate: Gate,
    pub store: Store,
    pub sandbox: Arc<dyn Sandbox>,
    /// What a run may use unless its task says otherwise.
    pub limits: Limits,
}

/// Code to run, and how.
pub struct Task {
    pub code: String,
    /// `None`: the coder's.
    pub limits: Option<Limits>,
    /// Hears output as it arrives.
    pub output: Option<OutputListener>,
    /// Sees calls as they are answered.
    pub watch: Watch,
    pub cancel: Cancel,
    /// Told when the code has put a message on its way, which need not wait for the end of the run.
    pub sent: Option<SentListener>,
    /// The turn and round the code was written in.
    pub turn: Option<(JournalId, u32)>,
}

/// The code goes on once it has returned.
pub type SentListener = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

impl Task {
    pub fn new(code: impl Into<String>) -> Self {
        Task {
            code: code.into(),
            limits: None,
            output: None,
            watch: Watch::default(),
            cancel: Cancel::default(),
            sent: None,
            turn: None,
        }
    }
}

/// What came of a run that was executed again.
pub type Resumed = (JournalId, Result<RunReport, RunError>);

impl Coder {
    /// Runs `task` for `caller`; the run is journaled under the caller's journal id.
    pub async fn run(&self, caller: Caller, task: Task) -> Result<RunReport, RunError> {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).map_err(RunError::Randomness)?;
        let start = RunStart {
            id: caller.journal,
            session: caller.session.clone(),
            principal: caller.principal.clone(),
            role: caller.role,
            surface: caller.surface,
            code: Some(task.code.clone()),
            allowed: caller.grant.methods.clone(),
            seed,
            turn: task.turn,
        };
        self.store.journal().begin(&start).await?;
        let id = caller.journal;
        let nothing = (Vec::new(), Tail::default());
        let report = self.execute(caller, task, seed, nothing).await?;
        self.unless_answered(id, report).await
    }

    /// An answer may arrive while the run that waited for it is being ended; it would wait for
    /// ever if nobody looked again.
    async fn unless_answered(
        &self,
        id: JournalId,
        report: RunReport,
    ) -> Result<RunReport, RunError> {
        if report.stop != Stop::Approval {
            return Ok(report);
        }
        let pending = Some(ApprovalState::Pending);
        let waiting = self.store.approvals().list(pending).await?;
        if waiting.iter().any(|approval| approval.ask.journal == id) {
            Ok(report)
        } else {
            Box::pin(self.resume(id, None)).await
        }
    }

    /// Executes a run again that waits for an approval or was cut off: what is recorded is not
    /// done again, what comes after it is done now.
    pub async fn resume(
        &self,
        id: JournalId,
        output: Option<OutputListener>,
    ) -> Result<RunReport, RunError> {
        let watch = Watch::default();
        self.resume_within(id, output, watch, None, None).await
    }

    /// The same within a turn that goes on: with the turn's budget, for all who have spoken in it, and
    /// stopped with it.
    pub(crate) async fn resume_within(
        &self,
        id: JournalId,
        output: Option<OutputListener>,
        watch: Watch,
        within: Option<&Grant>,
        sent: Option<SentListener>,
    ) -> Result<RunReport, RunError> {
        let journal = self.store.journal();
        let Run {
            start,
            finish,
            mut tail,
            ..
        } = journal.run(id).await?;
        let code = start.code.clone().ok_or(RunError::NoCode(id))?;
        match finish.map(|finish| finish.stop) {
            None if !self.store.leases().adopt(id).await? => {
                return Err(StoreError::Elsewhere(id).into());
            }
            None => {}
            Some(Stop::Approval) => {
                // Read on the way out, which it does not go this time.
                tail = Tail::default();
                journal.reopen(id).await?;
            }
            Some(stop) => return Err(RunError::Ended { id, stop }),
        }
        let recorded = (journal.recorded(id).await?, tail);
        let seed = start.seed;
        let mut task = Task::new(code);
        task.output = output;
        task.watch = watch;
        task.sent = sent;
        let grant = match within {
            Some(grant) => grant.clone(),
            None => Grant {
                budget: Budget::new(self.limits.calls, MESSAGES),
                ..Grant::everything()
            },
        };
        task.cancel = grant.budget.cancel().child_token();
        let caller = caller_of(start, grant);
        let report = self.execute(caller, task, seed, recorded).await?;
        self.unless_answered(id, report).await
    }

    /// Executes again every run that a crash cut off. For the owner of the data directory, at its
    /// start; gives what came of each.
    pub async fn recover(&self) -> Result<Vec<Resumed>, RunError> {
        self.recover_left(LeftBy::Anyone).await
    }

    /// What nobody of those left is let alone, for an owner that runs others' code meanwhile.
    pub async fn recover_left(&self, by: LeftBy) -> Result<Vec<Resumed>, RunError> {
        let mut unfinished = self.store.journal().cut_off(by).await?;
        // Runs of a turn go on with their turn.
        unfinished.retain(|run| run.start.code.is_some() && run.start.turn.is_none());
        let mut recovered = Vec::new();
        for run in unfinished {
            let id = run.start.id;
            match self.resume(id, None).await {
                // Another instance was faster.
                Err(RunError::Store(StoreError::Elsewhere(_))) => {}
                result => recovered.push((id, result)),
            }
        }
        Ok(recovered)
    }

    /// The call that a run was stopped in will never say how it ended.
    async fn close_calls(&self, id: JournalId) -> Result<(), RunError> {
        let journal = self.store.journal();
        for call in journal.recorded(id).await? {
            if call.outcome.is_none() {
                let stopped = CallError::Cancelled {
                    method: call.intent.method,
                    effectful: call.intent.effect == Effect::Effectful,
                };
                let outcome = CallOutcome {
                    result: Err(stopped.to_string()),
                    detail: None,
                    micros: 0,
                };
                let sequence = call.intent.sequence;
                journal.outcome(id, sequence, &outcome, &[]).await?;
            }
        }
        Ok(())
    }

    async fn execute(
        &self,
        caller: Caller,
        task: Task,
        seed: [u8; 16],
        (recorded, tail): (Vec<RecordedCall>, Tail),
    ) -> Result<RunReport, RunError> {
        let id = caller.journal;
        let session = self.store.sessions().open(&caller.session).await?;
        self.store.files().session(&session)?;
        let clocks = recorded.iter().flat_map(|call| call.intent.clocks.clone());
        let spec = RunSpec {
            code: task.code,
            stubs: self.gate.stubs(&caller),
            folders: RunFolders {
                id: session.id,
                number: session.number,
            },
            chat_key: caller.session.chat_key(),
            seed,
            clocks: clocks.chain(tail.clocks).collect(),
            limits: task.limits.unwrap_or_else(|| self.limits.clone()),
            output: task.output,
            cancel: task.cancel,
        };
        let sent = task.sent.map(|sent| (self.store.clone(), sent));
        let follower = Follower::new(self.gate.clone(), caller, recorded, task.watch, sent);
        let host = follower.clone();
        let span = tracing::info_span!("run", run = %id.0, stop = Empty);
        // Calls are answered on the run's own thread, which knows nothing of where it began.
        let within = span.clone();
        let answer = move |call| -> callgate_contract::BoxFuture<'static, _> {
            Box::pin(host.clone().answer(call).instrument(within.clone()))
        };
        let running = self.sandbox.run(spec, Box::new(answer));
        let report = match running.instrument(span.clone()).await {
            Ok(report) => report,
            Err(error) => {
                // Ended, so that the next start does not try it again and again.
                let json = serde_json::json!({ "error": error.to_string() });
                self.store.journal().finish(id, Stop::Killed, &json).await?;
                return Err(error.into());
            }
        };
        let progress = follower.take_progress();
        if let Some(error) = progress.unrecorded {
            return Err(error.into());
        }
        if report.stop == Stop::Cancelled {
            self.close_calls(id).await?;
        }
        let tail = Tail {
            clocks: report.clocks.clone(),
            threaded: report.threaded,
        };
        let report = RunReport::new(
            id,
            report,
            progress.calls,
            progress.observation,
            progress.diverged,
        );
        span.record("stop", tracing::field::display(report.stop));
        let json = serde_json::to_value(&report).unwrap_or_default();
        let journal = self.store.journal();
        journal.finish_with(id, report.stop, &json, &tail).await?;
        Ok(report)
    }
}

/// The rights of the user who began the run, as they were then.
fn caller_of(start: RunStart, grant: Grant) -> Caller {
    Caller {
        session: start.session,
        principal: start.principal,
        role: start.role,
        surface: start.surface,
        journal: start.id,
        depth: 0,
        grant: Arc::new(Grant {
            methods: start.allowed,
            ..grant
        }),
    }
}

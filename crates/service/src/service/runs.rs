//! Runs of code, and which of them this process is executing. A run is executed once at a time:
//! its end and the answer to an approval may come together, and only one of them continues it.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use callgate_agent::{CallReport, RunReport, Task, TurnEvent, Watch};
use callgate_contract::{Cancel, JournalId, SessionKey, Stop, Surface};
use callgate_store::ApprovalState;
use parking_lot::Mutex;

use super::{Observer, Service};
use crate::{
    News, Requester, RunNews, ServiceError,
    operations::{ContinuedReport, RunCode},
};

/// How often a run at the terminal looks whether it waits for an approval.
const LOOK: Duration = Duration::from_millis(250);
/// That a run may be allowed.
const MAX_SECONDS: u64 = 3_600;

type Announce = dyn Fn(Option<&str>, Option<CallReport>) + Send + Sync;

/// A mutex, since runs begin and end on any thread; held for a map operation only.
#[derive(Default)]
pub(super) struct ActiveRuns(Mutex<HashMap<JournalId, Cancel>>);

/// While it lives, nobody else executes the run.
pub(super) struct RunGuard {
    run: JournalId,
    running: Arc<ActiveRuns>,
}

impl ActiveRuns {
    /// `None` if it is being executed already.
    pub(super) fn enter(self: &Arc<Self>, run: JournalId, cancel: Cancel) -> Option<RunGuard> {
        let mut running = self.0.lock();
        if running.contains_key(&run) {
            return None;
        }
        running.insert(run, cancel);
        let running = Arc::clone(self);
        Some(RunGuard { run, running })
    }

    pub(super) fn cancel(&self, run: JournalId) -> bool {
        let cancel = self.0.lock().get(&run).cloned();
        cancel.inspect(Cancel::cancel).is_some()
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.running.0.lock().remove(&self.run);
    }
}

impl Service {
    /// Runs code in the sandbox. What it prints and calls is told to the observer, and to whoever
    /// listens at this process.
    pub async fn run_code(
        &self,
        requester: &Requester,
        request: RunCode,
        observer: Observer,
    ) -> Result<RunReport, ServiceError> {
        self.wait_for_methods(requester, None).await?;
        let id = request.run.unwrap_or_else(JournalId::fresh);
        let Some(held) = self.code.running.enter(id, observer.cancel.clone()) else {
            let message = format!("run {} is being executed", id.0);
            return Err(ServiceError::conflict(message, "leave out its id"));
        };
        let session = match request.session {
            Some(session) => session,
            None => requester.session()?,
        };
        let acting = requester.acting(&session, request.user.as_deref());
        let acting = (acting, requester.role());
        let caller = self.caller(session.clone(), acting, Surface::Code, id);
        let cancel = observer.cancel.clone();
        let _ends = self
            .key_of(requester)
            .map(|key| key.at_end(move || cancel.cancel()));
        let limits = request.timeout_seconds.map(|seconds| {
            let mut limits = self.config().limits();
            limits.wall = Duration::from_secs(seconds.clamp(1, MAX_SECONDS));
            // Who allows that much time means code that uses it.
            limits.cpu = limits.cpu.max(limits.wall);
            limits
        });
        let announce = self.announcing(id, session);
        let (on_call, mut output) = (announce.clone(), observer.output);
        let task = Task {
            limits,
            output: Some(Box::new(move |text| {
                announce(Some(text), None);
                if let Some(output) = &mut output {
                    output(text);
                }
            })),
            watch: Watch::new(move |event| {
                if let TurnEvent::Call { call } = &event {
                    on_call(None, Some(call.clone()));
                }
                observer.watch.tell(event);
            }),
            cancel: observer.cancel,
            ..Task::new(request.code)
        };
        let running = self.code.coder.run(caller, task);
        let report = match observer.asked {
            None => running.await?,
            Some(asked) => tokio::select! {
                report = running => report?,
                never = self.tell_asked(id, asked) => match never {},
            },
        };
        drop(held);
        if report.stop == Stop::Approval
            && let Some(continued) = self.continue_answered(id).await
            && let ContinuedReport::Run(report) = continued?
        {
            return Ok(*report);
        }
        Ok(report)
    }

    /// Tells those who listen what a run prints and calls.
    fn announcing(&self, run: JournalId, session: SessionKey) -> Arc<Announce> {
        let live = self.live.clone();
        Arc::new(move |output, call| {
            live.announce(&News::Run(RunNews {
                run: run.0.to_string(),
                session: session.clone(),
                output: output.map(str::to_owned),
                call,
            }));
        })
    }

    /// False if it does not run here.
    pub(crate) fn cancel_run(&self, run: JournalId) -> bool {
        self.code.running.cancel(run)
    }

    /// Executes `id` again if all it stopped to wait for is answered by now; `None` if it still
    /// waits, has ended, or somebody else executes it.
    pub(super) async fn continue_answered(
        &self,
        id: JournalId,
    ) -> Option<Result<ContinuedReport, ServiceError>> {
        let mut last = None;
        loop {
            let Some(_held) = self.code.running.enter(id, Cancel::default()) else {
                return last;
            };
            match self.is_answered(id).await {
                Ok(true) => last = Some(self.execute_again(id).await),
                Ok(false) => return last,
                Err(failure) => return Some(Err(failure)),
            }
            if matches!(last, Some(Err(_))) {
                return last;
            }
        }
    }

    async fn is_answered(&self, id: JournalId) -> Result<bool, ServiceError> {
        let run = self.store.journal().run(id).await?;
        let waits = run
            .finish
            .is_some_and(|finish| finish.stop == Stop::Approval);
        Ok(waits && !self.is_asked(id).await?)
    }

    /// Does an approval of this run wait for an answer?
    pub(super) async fn is_asked(&self, id: JournalId) -> Result<bool, ServiceError> {
        let pending = Some(ApprovalState::Pending);
        let pending = self.store.approvals().list(pending).await?;
        Ok(pending.iter().any(|approval| approval.ask.journal == id))
    }

    async fn execute_again(&self, id: JournalId) -> Result<ContinuedReport, ServiceError> {
        let run = self.store.journal().run(id).await?;
        if run.start.code.is_none() {
            let called = self.call_again(run.start).await?;
            return Ok(ContinuedReport::Call(called));
        }
        let report = self.code.coder.resume(id, None).await?;
        Ok(ContinuedReport::Run(Box::new(report)))
    }

    /// Never returns: it is raced against the run.
    async fn tell_asked(&self, id: JournalId, asked: fn(i64, &str)) -> Infallible {
        if self.config().approval.ask.is_empty() {
            return std::future::pending().await;
        }
        let mut told = BTreeSet::new();
        loop {
            tokio::time::sleep(LOOK).await;
            let pending = Some(ApprovalState::Pending);
            // If it cannot be read, the run itself will say so.
            let pending = self.store.approvals().list(pending).await;
            for approval in pending.unwrap_or_default() {
                if approval.ask.journal == id && told.insert(approval.id) {
                    asked(approval.id, &approval.ask.method);
                }
            }
        }
    }
}

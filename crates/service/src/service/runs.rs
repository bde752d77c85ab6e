//! Runs of code, and which of them this process is executing. A run is executed once at a time:
//! its end and the answer to an approval may come together, and only one of them continues it.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    sync::Arc,
    time::Duration,
};

use callgate_agent::{RunReport, Task};
use callgate_contract::{Cancel, JournalId, Stop, Surface};
use callgate_store::ApprovalState;
use parking_lot::Mutex;

use super::{Observer, Service};
use crate::{ServiceError, operations::ContinuedReport, request::RunCode};

/// How often a run at the terminal looks whether it waits for an approval.
const LOOK: Duration = Duration::from_millis(250);

/// A mutex, since runs begin and end on any thread; held for a map operation only.
#[derive(Default)]
pub(super) struct Running(Mutex<HashMap<JournalId, Cancel>>);

/// While it lives, nobody else executes the run.
pub(super) struct Held {
    run: JournalId,
    running: Arc<Running>,
}

impl Running {
    /// `None` if it is being executed already.
    pub(super) fn enter(self: &Arc<Self>, run: JournalId, cancel: Cancel) -> Option<Held> {
        let mut running = self.0.lock();
        if running.contains_key(&run) {
            return None;
        }
        running.insert(run, cancel);
        let running = Arc::clone(self);
        Some(Held { run, running })
    }

    pub(super) fn cancel(&self, run: JournalId) -> bool {
        let cancel = self.0.lock().get(&run).cloned();
        cancel.inspect(Cancel::cancel).is_some()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.running.0.lock().remove(&self.run);
    }
}

impl Service {
    pub async fn run(
        &self,
        request: RunCode,
        observer: Observer,
    ) -> Result<RunReport, ServiceError> {
        let id = request.run;
        let Some(held) = self.running.enter(id, observer.cancel.clone()) else {
            return Err(ServiceError::refused(
                format!("run {} is being executed", id.0),
                "leave out its id",
            ));
        };
        self.offer_personas().await?;
        let caller = self.caller(request.session, request.user, Surface::Code, id);
        let limits = request.timeout_seconds.map(|seconds| {
            let mut limits = self.config.limits();
            limits.wall = Duration::from_secs(seconds);
            // Who allows that much time means code that uses it.
            limits.cpu = limits.cpu.max(limits.wall);
            limits
        });
        let task = Task {
            limits,
            output: observer.output,
            watch: observer.watch,
            cancel: observer.cancel,
            ..Task::new(request.code)
        };
        let running = self.coder.run(caller, task);
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

    /// Executes `id` again if all it stopped to wait for is answered by now; `None` if it still
    /// waits, has ended, or somebody else executes it.
    pub(super) async fn continue_answered(
        &self,
        id: JournalId,
    ) -> Option<Result<ContinuedReport, ServiceError>> {
        let mut last = None;
        loop {
            let Some(_held) = self.running.enter(id, Cancel::default()) else {
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
        let report = self.coder.resume(id, None).await?;
        Ok(ContinuedReport::Run(Box::new(report)))
    }

    /// Never returns: it is raced against the run.
    async fn tell_asked(&self, id: JournalId, asked: fn(i64, &str)) -> Infallible {
        if self.config.approval.ask.is_empty() {
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

//! [`Jobs`]: work that takes a while, with what it says meanwhile and how far it is. Whoever may begin one may cancel
//! it. Jobs are of this start of the server; what they did is not.

mod progress;

use std::{collections::VecDeque, sync::Arc};

use callgate_contract::Cancel;
use jiff::Timestamp;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use progress::{JobPhase, JobProgress};

use crate::{JobNews, Live, News, ServiceError, operations::InstallResult};

/// Jobs that are remembered, and lines of each.
const JOBS: usize = 50;
const LINES: usize = 500;

/// Told what happens at the moment.
pub type ProgressFn = dyn Fn(&str) + Send + Sync;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    Install,
    Upload,
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    Running,
    Done,
    Failed,
    Cancelled,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub id: String,
    pub kind: JobKind,
    pub title: String,
    pub state: JobState,
    pub progress: JobProgress,
    /// What it said, the newest last.
    pub lines: VecDeque<String>,
    pub result: Option<InstallResult>,
    pub error: Option<JobError>,
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JobError {
    pub error: String,
    pub hint: String,
}

/// Clones share everything.
#[derive(Clone)]
pub struct Jobs {
    /// A mutex held for a look: jobs speak from any thread.
    jobs: Arc<Mutex<VecDeque<(Job, Cancel)>>>,
    live: Arc<Live>,
}

impl Jobs {
    pub fn new(live: Arc<Live>) -> Self {
        Jobs {
            jobs: Arc::default(),
            live,
        }
    }

    /// The newest first.
    pub fn list(&self) -> Vec<Job> {
        let jobs = self.jobs.lock();
        jobs.iter().rev().map(|(job, _)| job.clone()).collect()
    }

    pub fn get(&self, id: &str) -> Option<Job> {
        let jobs = self.jobs.lock();
        let mut jobs = jobs.iter().map(|(job, _)| job);
        jobs.find(|job| job.id == id).cloned()
    }

    /// Nobody wants it any more. It ends soon, unless it is over or too far; `None` if there is no such job.
    pub fn cancel(&self, id: &str) -> Option<Job> {
        let jobs = self.jobs.lock();
        let (job, cancel) = jobs.iter().find(|(job, _)| job.id == id)?;
        cancel.cancel();
        Some(job.clone())
    }

    /// Begins a job; it goes on when whoever asked has left.
    pub fn begin<Working>(
        &self,
        kind: JobKind,
        title: String,
        work: impl FnOnce(Arc<ProgressFn>, Cancel) -> Working,
    ) -> Job
    where
        Working: Future<Output = Result<InstallResult, ServiceError>> + Send + 'static,
    {
        let job = Job {
            id: Uuid::now_v7().to_string(),
            kind,
            title,
            state: JobState::Running,
            progress: JobProgress::default(),
            lines: VecDeque::new(),
            result: None,
            error: None,
            started_at: Timestamp::now(),
            ended_at: None,
        };
        let cancel = Cancel::new();
        self.remember(job.clone(), cancel.clone());
        self.tell(&job, None);
        let (jobs, id) = (self.clone(), job.id.clone());
        let say = move |line: &str| jobs.say(&id, line);
        let working = work(Arc::new(say), cancel);
        let (jobs, id) = (self.clone(), job.id.clone());
        tokio::spawn(async move {
            let broken = |_| {
                let error = "the work broke off";
                Err(ServiceError::refused(error, "the server's log says why"))
            };
            let result = tokio::spawn(working).await;
            jobs.end(&id, result.unwrap_or_else(broken));
        });
        job
    }

    fn remember(&self, job: Job, cancel: Cancel) {
        let mut jobs = self.jobs.lock();
        jobs.push_back((job, cancel));
        let ended = |(job, _): &(Job, Cancel)| job.state != JobState::Running;
        if jobs.len() > JOBS
            && let Some(oldest) = jobs.iter().position(ended)
        {
            jobs.remove(oldest);
        }
    }

    fn say(&self, id: &str, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        self.change(id, |job, _| {
            if job.progress.hear(line) {
                // It counts: only how far it is has changed.
                return None;
            }
            job.lines.push_back(line.to_owned());
            if job.lines.len() > LINES {
                job.lines.pop_front();
            }
            Some(line)
        });
    }

    fn end(&self, id: &str, result: Result<InstallResult, ServiceError>) {
        self.change(id, |job, cancel| {
            job.ended_at = Some(Timestamp::now());
            job.state = match result {
                Ok(_) => JobState::Done,
                Err(_) if cancel.is_cancelled() => JobState::Cancelled,
                Err(_) => JobState::Failed,
            };
            match result {
                Ok(result) => job.result = Some(result),
                Err(error) => {
                    job.error = Some(JobError {
                        hint: error.hint.to_string(),
                        error: error.message,
                    });
                }
            }
            None
        });
    }

    /// Tells of it after it can be read, with the line that `change` gives.
    fn change<'a>(&self, id: &str, change: impl FnOnce(&mut Job, &Cancel) -> Option<&'a str>) {
        let (job, line) = {
            let mut jobs = self.jobs.lock();
            let Some((job, cancel)) = jobs.iter_mut().find(|(job, _)| job.id == id) else {
                return;
            };
            let line = change(job, cancel);
            (job.clone(), line)
        };
        self.tell(&job, line);
    }

    fn tell(&self, job: &Job, line: Option<&str>) {
        self.live.announce(&News::Job(JobNews {
            id: job.id.clone(),
            state: job.state,
            title: job.title.clone(),
            progress: job.progress.clone(),
            line: line.map(str::to_owned),
        }));
    }
}

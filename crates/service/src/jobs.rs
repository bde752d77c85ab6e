//! [`Jobs`]: work that takes a while, with what it says meanwhile. Jobs are of this start of the
//! server; what they did is not.

use std::{collections::VecDeque, sync::Arc};

use jiff::Timestamp;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

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
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub id: String,
    pub kind: JobKind,
    pub title: String,
    pub state: JobState,
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
    jobs: Arc<Mutex<VecDeque<Job>>>,
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
        self.jobs.lock().iter().rev().cloned().collect()
    }

    pub fn get(&self, id: &str) -> Option<Job> {
        self.jobs.lock().iter().find(|job| job.id == id).cloned()
    }

    /// Begins a job; it goes on when whoever asked has left.
    pub fn begin<Working>(
        &self,
        kind: JobKind,
        title: String,
        work: impl FnOnce(Arc<ProgressFn>) -> Working,
    ) -> Job
    where
        Working: Future<Output = Result<InstallResult, ServiceError>> + Send + 'static,
    {
        let job = Job {
            id: Uuid::now_v7().to_string(),
            kind,
            title,
            state: JobState::Running,
            lines: VecDeque::new(),
            result: None,
            error: None,
            started_at: Timestamp::now(),
            ended_at: None,
        };
        self.remember(job.clone());
        self.tell(&job.id, job.state, None);
        let (jobs, id) = (self.clone(), job.id.clone());
        let working = work(Arc::new(move |line: &str| jobs.say(&id, line)));
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

    fn remember(&self, job: Job) {
        let mut jobs = self.jobs.lock();
        jobs.push_back(job);
        let ended = |job: &Job| job.state != JobState::Running;
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
        self.change(id, Some(line), |job| {
            job.lines.push_back(line.to_owned());
            if job.lines.len() > LINES {
                job.lines.pop_front();
            }
        });
    }

    fn end(&self, id: &str, result: Result<InstallResult, ServiceError>) {
        self.change(id, None, |job| {
            job.ended_at = Some(Timestamp::now());
            job.state = match result {
                Ok(_) => JobState::Done,
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
        });
    }

    /// Tells of it after it can be read.
    fn change(&self, id: &str, line: Option<&str>, change: impl FnOnce(&mut Job)) {
        let state = {
            let mut jobs = self.jobs.lock();
            let Some(job) = jobs.iter_mut().find(|job| job.id == id) else {
                return;
            };
            change(job);
            job.state
        };
        self.tell(id, state, line);
    }

    fn tell(&self, id: &str, state: JobState, line: Option<&str>) {
        self.live.announce(&News::Job(JobNews {
            id: id.to_owned(),
            state,
            line: line.map(str::to_owned),
        }));
    }
}

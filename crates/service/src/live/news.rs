//! [`News`]: what happens outside of turns, by topic.

use callgate_agent::CallReport;
use callgate_contract::SessionKey;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{JobProgress, JobState, LogLine, operations::ApprovalView};

/// What a reader can choose to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Turns,
    Runs,
    Jobs,
    Approvals,
    Changes,
    Logs,
}

impl Topic {
    pub const ALL: [(Topic, &str); 6] = [
        (Topic::Turns, "turns"),
        (Topic::Runs, "runs"),
        (Topic::Jobs, "jobs"),
        (Topic::Approvals, "approvals"),
        (Topic::Changes, "changes"),
        (Topic::Logs, "logs"),
    ];
}

/// A set of topics; by default all but the log, which is much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topics(u8);

impl Default for Topics {
    fn default() -> Self {
        let chosen = Topic::ALL.iter().map(|(topic, _)| *topic);
        chosen.filter(|topic| *topic != Topic::Logs).collect()
    }
}

impl FromIterator<Topic> for Topics {
    fn from_iter<T: IntoIterator<Item = Topic>>(topics: T) -> Self {
        let bits = topics.into_iter().map(|topic| 1 << topic as u8);
        Topics(bits.fold(0, |all, bit: u8| all | bit))
    }
}

impl Topics {
    pub fn contain(self, topic: Topic) -> bool {
        self.0 & (1 << topic as u8) != 0
    }

    /// As `turns,jobs`; the word that is no topic where there is one.
    pub fn read(text: &str) -> Result<Topics, &str> {
        let words = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        words
            .map(|word| {
                let known = Topic::ALL.iter().find(|(_, name)| *name == word);
                known.map(|(topic, _)| *topic).ok_or(word)
            })
            .collect()
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// It was asked or answered.
    Approval(Box<ApprovalView>),
    /// Of code in the playground.
    Run(RunNews),
    Job(JobNews),
    /// Something changed there: read again.
    Clients {},
    Plugins {},
    Models {},
    Rules {},
    Platforms {},
    Log(LogLine),
}

/// A new line of a job, or its new state.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobNews {
    pub id: String,
    pub state: JobState,
    pub title: String,
    pub progress: JobProgress,
    pub line: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunNews {
    pub run: String,
    #[serde(skip)]
    pub session: SessionKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// One that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallReport>,
}

impl News {
    pub fn topic(&self) -> Topic {
        match self {
            News::Approval(_) => Topic::Approvals,
            News::Run(_) => Topic::Runs,
            News::Job(_) => Topic::Jobs,
            News::Clients {}
            | News::Plugins {}
            | News::Models {}
            | News::Rules {}
            | News::Platforms {} => Topic::Changes,
            News::Log(_) => Topic::Logs,
        }
    }

    pub fn session(&self) -> Option<&SessionKey> {
        match self {
            News::Approval(approval) => Some(&approval.session),
            News::Run(run) => Some(&run.session),
            _ => None,
        }
    }
}

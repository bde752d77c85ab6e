//! The machine and the process: what they are busy with, and whether they are sound.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Machine {
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    /// `sqlite` or `postgres`.
    pub database: String,
    pub sandbox: Pool,
    pub memory: Vec<Process>,
    pub plugins: usize,
    pub plugins_failed: usize,
    pub models: usize,
}

/// Processes for runs of code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pool {
    /// Warm ones that wait for a run.
    pub waiting: usize,
    /// How many are to wait.
    pub pool: usize,
    /// How many runs may compute at once.
    pub concurrent: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Process {
    pub process: String,
    pub pid: u32,
    /// Its share of what is resident, shared pages divided among those who share them.
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Checks {
    pub checks: Vec<Check>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub status: CheckStatus,
    pub detail: String,
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Ok,
    Warn,
    Fail,
}

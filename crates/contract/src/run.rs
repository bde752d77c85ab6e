//! [`Sandbox`]: one execution of untrusted code. A backend promises isolation and honest limits;
//! what the code may call, and what it is told, is decided by the host callback alone.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Arguments, BoxFuture, Cancel, Value};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Finished,
    Agent,
    Multimodal,
    /// `exit(9)`: the code asks that its output be looked at.
    Inspect,
    Error,
    Timeout,
    Memory,
    Disk,
    Output,
    Calls,
    Approval,
    Diverged,
    Cancelled,
    Killed,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// Bytes, seconds and counts one run may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Not counting time inside host calls.
    pub wall: Duration,
    pub cpu: Duration,
    pub memory: u64,
    pub threads: u32,
    /// Output beyond this stops the run.
    pub output: u64,
    /// Output kept for the report, half from the head and half from the tail.
    pub output_kept: usize,
    /// Of the session's shared folder, over all its runs.
    pub disk: u64,
    pub calls: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MB: u64 = 1 << 20;
        Limits {
            wall: Duration::from_secs(120),
            cpu: Duration::from_secs(60),
            memory: 512 * MB,
            threads: 64,
            output: 16 * MB,
            output_kept: MB as usize,
            disk: 256 * MB,
            calls: 10_000,
        }
    }
}

/// A granted method as the code sees it: a predefined function with a real signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stub {
    pub name: String,
    /// `(text: str, times: int = 1) -> str`, valid Python.
    pub signature: String,
    pub doc: String,
}

/// User id of session number 0 where the backend can give each session its own: the session's
/// folder belongs to `UID_BASE + number`, and so does its code inside the jail.
pub const UID_BASE: u32 = 200_000;

/// Which session's folders the run gets; they lie under the backend's sessions directory, named
/// by `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFolders {
    pub id: Uuid,
    /// Small number unique to the session: its user id inside the jail where the backend has many.
    pub number: u32,
}

/// Hears what a run prints, in pieces of whole characters.
pub type OutputListener = Box<dyn FnMut(&str) + Send>;

pub struct RunSpec {
    pub code: String,
    pub stubs: Vec<Stub>,
    pub folders: RunFolders,
    /// Compat(nekro): the value of the predefined `_ck`. It grants nothing.
    pub chat_key: String,
    /// Randomness of the run comes from here, so that a replay repeats it.
    pub seed: [u8; 16],
    /// Clock readings of the run being replayed, in nanoseconds, in order; empty for a first run.
    pub clocks: Vec<i64>,
    pub limits: Limits,
    /// Hears output as it arrives.
    pub output: Option<OutputListener>,
    pub cancel: Cancel,
}

impl RunSpec {
    pub fn new(code: impl Into<String>, folders: RunFolders) -> Self {
        RunSpec {
            code: code.into(),
            stubs: Vec::new(),
            folders,
            chat_key: String::new(),
            seed: *Uuid::now_v7().as_bytes(),
            clocks: Vec::new(),
            limits: Limits::default(),
            output: None,
            cancel: Cancel::default(),
        }
    }
}

/// One call that the code made.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeCall {
    /// Counts from 1 without gaps.
    pub sequence: u64,
    pub method: String,
    pub arguments: Arguments,
    /// Clock readings since the call before, in nanoseconds.
    pub clocks: Vec<i64>,
    /// The code has used threads, or read clocks more often than is recorded: it cannot be
    /// replayed.
    pub threaded: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CodeReply {
    Value(Value),
    /// Raised as `MethodError` in the code.
    Error(String),
    /// The run is over: the code gets a second to unwind, further calls are refused.
    End(Stop),
}

/// Answers calls, one at a time and in order.
pub type HostCall = Box<dyn FnMut(CodeCall) -> BoxFuture<'static, CodeReply> + Send>;

#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub stop: Stop,
    /// stdout and stderr as printed, cut in the middle beyond `Limits::output_kept`.
    pub stdout: String,
    pub stdout_total: u64,
    /// Traceback or reason, whenever `stop` is not the code's own choice.
    pub error: Option<String>,
    /// Line of the code the error points at.
    pub line: Option<u32>,
    pub calls: u64,
    pub wall: Duration,
    pub cpu: Duration,
    pub memory_peak: u64,
    /// Clock readings after the last call.
    pub clocks: Vec<i64>,
    pub threaded: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine lacks a wall; nothing was run.
    #[error("the sandbox cannot start: {reason}\nhint: {hint}")]
    Unavailable { reason: String, hint: String },
    #[error("the sandbox failed: {0}")]
    Failed(String),
}

/// Implement this only for a new kind of wall. Dropping the returned future kills the run.
pub trait Sandbox: Send + Sync {
    fn run(&self, spec: RunSpec, host: HostCall) -> BoxFuture<'_, Result<Report, SandboxError>>;
}

//! [`Operations`]: what the owner of the data directory does for callers over HTTP, so that runs,
//! direct calls and answers go the very same way as from its own command line.

use std::sync::Arc;

use callgate_contract::{BoxFuture, JournalId, Role, SessionKey};
use callgate_store::Decision;
use serde_json::Value as Json;

/// Told in words, with what to do about it.
#[derive(Clone, Debug)]
pub struct Refused {
    pub error: String,
    pub hint: String,
}

type Operation<Ask> = Arc<dyn Fn(Ask) -> BoxFuture<'static, Result<Json, Refused>> + Send + Sync>;

/// The answers are what `callgate --json` prints.
#[derive(Clone)]
pub struct Operations {
    pub call: Operation<CallAsk>,
    pub run: Operation<RunAsk>,
    pub settle: Operation<SettleAsk>,
}

/// One method, called directly.
#[derive(Clone, Debug)]
pub struct CallAsk {
    pub method: String,
    pub arguments: Json,
    pub session: SessionKey,
    pub user: String,
    pub role: Role,
}

/// Code to run in the sandbox.
#[derive(Clone, Debug)]
pub struct RunAsk {
    pub run: JournalId,
    pub code: String,
    pub session: SessionKey,
    pub user: String,
    pub timeout_seconds: Option<u64>,
}

/// The operator's word on an approval.
#[derive(Clone, Copy, Debug)]
pub struct SettleAsk {
    pub approval: i64,
    pub decision: Decision,
    pub always: bool,
}

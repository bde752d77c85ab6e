//! Runs: the playground. Code goes into the sandbox as it would from a model, and what it did comes
//! back.

use callgate_service::operations::{CancelRun, RunCode};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<RunCode>(Post, "/api/runs", "Run Python in the sandbox");
    routes.operation::<CancelRun>(Post, "/api/runs/{run}/cancel", "Cancel a run");
}

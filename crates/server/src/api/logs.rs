//! The log's newest lines; new ones are heard at /api/events.

use callgate_service::operations::ListLogs;

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListLogs>(Get, "/api/logs", "Lines of the log, the newest first");
}

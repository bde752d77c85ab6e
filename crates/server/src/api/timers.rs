//! Timers, of a session and of all.

use callgate_service::operations::{CancelTimer, ListSessionTimers, ListTimers, PlanTimer};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListTimers>(
        Get,
        "/api/timers",
        "Timers that wait in all sessions, the next one first",
    );
    routes.operation::<ListSessionTimers>(
        Get,
        "/api/sessions/{session}/timers",
        "Timers that wait",
    );
    routes.operation::<PlanTimer>(
        Post,
        "/api/sessions/{session}/timers",
        "Have the bot speak at a time",
    );
    routes.operation::<CancelTimer>(
        Delete,
        "/api/sessions/{session}/timers/{id}",
        "Cancel a timer",
    );
}

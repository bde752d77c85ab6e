//! Turns and their journal: what was asked, what was answered, what was called.

use callgate_service::operations::{GetTurn, ListTurns};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListTurns>(Get, "/api/turns", "Turns, the latest first");
    routes.operation::<GetTurn>(Get, "/api/turns/{id}", "One turn with its journal");
}

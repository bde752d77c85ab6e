//! Limits: how much people may ask for.

use callgate_service::operations::{AddLimit, ListLimits, RemoveLimit};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListLimits>(Get, "/api/limits", "How much people may ask for");
    routes.operation::<AddLimit>(Post, "/api/limits", "Limit or ban somebody");
    routes.operation::<RemoveLimit>(Delete, "/api/limits/{id}", "Remove a limit or a ban");
}

//! Rules: who may call what.

use callgate_service::operations::{AddRule, ListRules, RemoveRule};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListRules>(
        Get,
        "/api/rules",
        "Who may call what, in the order in which rules are looked at",
    );
    routes.operation::<AddRule>(Post, "/api/rules", "Add a rule, before all others");
    routes.operation::<RemoveRule>(
        Delete,
        "/api/rules/{id}",
        "Remove a rule or a standing answer",
    );
}

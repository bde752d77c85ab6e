//! What the product is busy with, and whether its machine is sound.

use callgate_service::operations::{GetOverview, RunDoctor};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<GetOverview>(Get, "/api/overview", "How everything is and was");
    routes.operation::<RunDoctor>(
        Get,
        "/api/doctor",
        "Whether this machine is sound; takes a moment",
    );
}

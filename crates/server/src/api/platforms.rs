//! Chat platforms: which there are, how they stand, and connecting another.

use callgate_service::operations::{AddPlatform, ListPlatforms, RemovePlatform, TestPlatform};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListPlatforms>(Get, "/api/platforms", "Chat platforms and how they stand");
    routes.operation::<AddPlatform>(Post, "/api/platforms", "Connect a chat platform");
    routes.operation::<RemovePlatform>(Delete, "/api/platforms/{id}", "Leave a chat platform");
    routes.operation::<TestPlatform>(
        Post,
        "/api/platforms/{id}/test",
        "Wait until a bot is connected, for ten seconds at most",
    );
}

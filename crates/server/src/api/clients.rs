//! Remote clients: who asks to be let in, who is connected, what they offer, and their rooms.

use callgate_service::operations::{DecideClient, ListClients, ListRooms};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListClients>(
        Get,
        "/api/clients",
        "Remote clients: asking, known, connected",
    );
    routes.operation::<DecideClient>(Post, "/api/clients/{id}", "Let it in, or keep it out");
    routes.operation::<ListRooms>(Get, "/api/rooms", "Rooms and their members");
}

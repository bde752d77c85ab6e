//! Conversations: the model's histories of a session.

use callgate_service::operations::{
    CreateConversation, DeleteConversation, ForkConversation, GetConversation, ListConversations,
    SwitchConversation, UpdateConversation,
};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    const ALL: &str = "/api/conversations";
    const ONE: &str = "/api/conversations/{id}";
    routes.operation::<ListConversations>(Get, ALL, "Conversations, the latest first");
    routes.operation::<CreateConversation>(Post, ALL, "Begin a new one in a session");
    routes.operation::<GetConversation>(Get, ONE, "One with its history");
    routes.operation::<UpdateConversation>(Patch, ONE, "Rename it, give it a persona");
    routes.operation::<DeleteConversation>(Delete, ONE, "Erase it");
    routes.operation::<ForkConversation>(Post, "/api/conversations/{id}/fork", "Go on in a copy");
    routes.operation::<SwitchConversation>(
        Post,
        "/api/conversations/{id}/switch",
        "Make it the session's current one",
    );
}

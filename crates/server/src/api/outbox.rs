//! Messages that were not delivered.

use callgate_service::operations::{ListUndelivered, ResolveUndelivered};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListUndelivered>(Get, "/api/outbox", "Messages that were not delivered");
    let resolve = "Send a message that was not delivered again, or drop it";
    routes.operation::<ResolveUndelivered>(Post, "/api/outbox/{id}", resolve);
}

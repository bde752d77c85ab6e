//! Methods: which there are, and calling one.

use callgate_service::operations::{CallMethod, GetMethod, ListMethods};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListMethods>(Get, "/api/methods", "Methods that can be called");
    routes.operation::<GetMethod>(Get, "/api/methods/{name}", "One method");
    routes
        .operation::<CallMethod>(Post, "/api/methods/{name}/call", "Call a method")
        .most(16 << 20);
}

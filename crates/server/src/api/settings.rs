//! The operator's configuration.

use callgate_service::operations::{ChangeSettings, ListSettings};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListSettings>(
        Get,
        "/api/settings",
        "Every setting, what it is and where that is said",
    );
    routes.operation::<ChangeSettings>(
        Put,
        "/api/settings",
        "Write settings into the configuration file",
    );
}

//! How methods fare.

use callgate_service::operations::ListStatistics;

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListStatistics>(
        Get,
        "/api/statistics",
        "How methods fared in the newest 10000 recorded calls, the most called first",
    );
}

//! What models have cost.

use callgate_service::operations::ReportCost;

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ReportCost>(Get, "/api/cost", "What models have cost");
}

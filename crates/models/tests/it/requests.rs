//! Requests as they are written on the wire.

use callgate_contract::ModelRequest;
use callgate_models::{Dialect, Wire};

use crate::fixtures::cases;

#[test]
fn every_request_is_written_as_expected() {
    for wire in Wire::ALL {
        for case in cases(&format!("{wire}/requests")) {
            let read = |field: &str| case.expect[field].clone();
            let dialect: Dialect = serde_json::from_value(read("dialect")).unwrap();
            let request: ModelRequest = serde_json::from_value(read("request")).unwrap();
            let found = wire.body(&dialect, &request);
            assert_eq!(found, case.expect["body"], "{wire} {}", case.name);
        }
    }
}

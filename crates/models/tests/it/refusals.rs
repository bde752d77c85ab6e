//! Responses other than 200, sorted by what a loop can do.

use std::time::Duration;

use callgate_models::refused;
use serde_json::{Value as Json, json};

use crate::fixtures::cases;

#[test]
fn every_refusal_is_sorted() {
    for case in cases("refusals") {
        let status = case.expect["status"].as_u64().unwrap();
        let retry_after = case.expect["retry_after"].as_f64();
        let found = refused(
            u16::try_from(status).unwrap(),
            retry_after.map(Duration::from_secs_f64),
            &String::from_utf8(case.sent).unwrap(),
        );
        let found: Json = json!(found);
        assert_eq!(found, case.expect["error"], "{}", case.name);
    }
}

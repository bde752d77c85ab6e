//! Requests as they are written on the wire.

use callgate_contract::ModelRequest;
use callgate_models::openai::{Dialect, body};

use crate::fixtures::cases;

#[test]
fn every_request_is_written_as_expected() {
    for case in cases("requests") {
        let dialect = &case.expect["dialect"];
        let dialect = Dialect {
            model: dialect["model"].as_str().unwrap().to_owned(),
            max_completion_tokens: dialect["max_completion_tokens"].as_bool().unwrap(),
            return_reasoning: dialect["return_reasoning"].as_bool().unwrap(),
        };
        let request: ModelRequest = serde_json::from_value(case.expect["request"].clone()).unwrap();
        let found = body(&dialect, &request);
        assert_eq!(found, case.expect["body"], "{}", case.name);
    }
}

//! Names of events. Compat(newage): before March 2025 clients used numbers, which newer servers
//! and some libraries answer by ending the connection; and its extension emits an event without a
//! name when it cleans up.

use serde_json::Value as Json;

/// The number that each name had.
const NUMBERED: &[(u64, &str)] = &[
    (9, "LLM_REQUEST"),
    (10, "LLM_RESPONSE"),
    (11, "IDENTIFY_SILLYTAVERN"),
    (12, "CLIENT_SETTINGS"),
    (13, "CREATE_ROOM"),
    (14, "DELETE_ROOM"),
    (15, "ADD_CLIENT_TO_ROOM"),
    (16, "REMOVE_CLIENT_FROM_ROOM"),
    (17, "GENERATE_CLIENT_KEY"),
    (18, "REMOVE_CLIENT_KEY"),
    (19, "GET_ROOMS"),
    (21, "ERROR"),
    (22, "FUNCTION_CALL"),
    (23, "LOGIN"),
    (24, "GET_CLIENT_LIST"),
    (25, "GET_CLIENTS_IN_ROOM"),
    (26, "GET_CLIENT_KEY"),
    (27, "CLIENT_DISCONNECTED"),
    (28, "CLIENT_KEY_ASSIGNED"),
    (29, "GET_ALL_CLIENT_KEYS"),
    (30, "WARNING"),
    (31, "CONNECTED_CLIENTS_UPDATE"),
    (32, "UPDATE_CONNECTED_CLIENTS"),
];

/// `None` for an event that has no name.
pub fn event_name(name: Json) -> Option<String> {
    match name {
        Json::String(name) => Some(name),
        Json::Number(number) => {
            let named = NUMBERED
                .iter()
                .find(|(old, _)| number.as_u64() == Some(*old));
            Some(named.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn old_numbers_are_the_names_of_today() {
        assert_eq!(event_name(json!(22)).as_deref(), Some("FUNCTION_CALL"));
        assert_eq!(event_name(json!("22")).as_deref(), Some("22"));
        assert_eq!(event_name(json!(999)).as_deref(), Some("999"));
        assert_eq!(event_name(json!(null)), None);
        assert_eq!(event_name(json!({ "a": 1 })), None);
    }
}

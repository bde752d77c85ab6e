//! What a OneBot program answers to an action.

use serde_json::Value as Json;

use super::segment::text_of;
use crate::ActionError;

/// The action's data, or why it was not done.
pub(super) fn read(mut answer: Json) -> Result<Json, ActionError> {
    let code = answer.get("retcode").and_then(Json::as_i64).unwrap_or(0);
    let status = answer.get("status").and_then(Json::as_str);
    // "async": accepted, and its outcome is never told.
    if matches!(status, Some("ok" | "async")) || status.is_none() && code == 0 {
        return Ok(answer.get_mut("data").map_or(Json::Null, Json::take));
    }
    let words = ["wording", "message", "msg"].into_iter();
    let mut words = words.filter_map(|name| answer.get(name).and_then(text_of));
    let reason = words.find(|text| !text.is_empty());
    Err(ActionError::Refused {
        reason: reason.unwrap_or_else(|| format!("it failed with code {code}")),
        code,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_data_or_a_reason() {
        let ok = json!({"status": "ok", "retcode": 0, "data": {"message_id": 5}});
        assert_eq!(read(ok).unwrap(), json!({"message_id": 5}));
        let failed =
            json!({"status": "failed", "retcode": 100, "message": "", "wording": "群已解散"});
        let error = read(failed).unwrap_err();
        assert!(matches!(&error, ActionError::Refused { code: 100, .. }));
        assert_eq!(error.to_string(), "群已解散");
        let bare = json!({"status": "failed", "retcode": 1404});
        assert!(read(bare).unwrap_err().to_string().contains("1404"));
    }
}

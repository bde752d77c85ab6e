//! What models were asked, in full, from a record that keeps what each round added.

use callgate_store::Round;
use serde_json::Value as Json;

/// The request of each round.
///
/// # Panics
/// Where one was not kept.
pub fn whole_requests(rounds: &[Round]) -> Vec<Json> {
    let mut whole: Vec<Json> = Vec::new();
    for round in rounds {
        let mut kept = round.request.clone().expect("a kept request");
        if let Some(after) = kept["after"].as_u64() {
            let mut request = whole.last().expect("a request before").clone();
            let messages = request["messages"].as_array_mut().expect("messages");
            messages.truncate(usize::try_from(after).expect("a count"));
            messages.append(kept["messages"].as_array_mut().expect("messages"));
            if !kept["tools"].is_null() {
                request["tools"] = kept["tools"].take();
            }
            kept = request;
        }
        whole.push(kept);
    }
    whole
}

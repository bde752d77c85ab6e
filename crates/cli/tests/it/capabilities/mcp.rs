//! Every verb of the Model Context Protocol.

use callgate_service::{Capability, Surface};
use serde_json::{Value as Json, json};

use super::{entries, site::Site};

/// All that the protocol knows and a client can ask a server; what is not in the table is not answered.
const OTHERS: [&str; 4] = [
    "tasks/get",
    "tasks/list",
    "roots/list",
    "sampling/createMessage",
];
/// Of a method that there is not.
const UNKNOWN: i64 = -32_601;

fn request(verb: &str, id: usize) -> Json {
    let parameters = match verb {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
        "tools/call" | "prompts/get" => json!({ "name": "now" }),
        verb if verb.starts_with("resources/") => json!({ "uri": "callgate://none" }),
        "completion/complete" => json!({
            "ref": { "type": "ref/prompt", "name": "none" },
            "argument": { "name": "user", "value": "" },
        }),
        "logging/setLevel" => json!({ "level": "info" }),
        _ => json!({}),
    };
    json!({ "jsonrpc": "2.0", "id": id, "method": verb, "params": parameters })
}

fn ask(site: &Site, verb: &str, key: &str) -> (u16, Json) {
    let body = request(verb, 1);
    let headers = [("Accept", "application/json, text/event-stream")];
    let asked = site
        .server
        .try_api("POST", "/mcp", key, &headers, Some(&body));
    asked.unwrap()
}

#[test]
fn no_verb_is_answered_without_what_it_needs() {
    let mut site = Site::start("");
    let verbs = entries(Surface::Mcp);
    let lacking = site.lacking(&[Capability::Call]);
    let before = site.witness();
    for (verb, needs) in &verbs {
        assert_eq!(
            needs,
            &[Capability::Call],
            "{verb}: the door asks for it already"
        );
        let (status, answer) = ask(&site, verb, &lacking);
        assert_eq!((status, &answer["type"]), (403, &json!("scope")), "{verb}");
        for (state, key) in &site.locked {
            let (status, answer) = ask(&site, verb, key);
            assert!(matches!(status, 401 | 429), "{verb}, {state}: {answer}");
        }
    }
    assert_eq!(
        site.witness(),
        before,
        "somebody who may do nothing did something"
    );
}

#[test]
fn what_is_answered_is_in_the_table() {
    let scene = crate::scene::Scene::new();
    let verbs = entries(Surface::Mcp);
    let known = |verb: &str| verbs.iter().any(|(name, _)| name == verb);
    let hello = request("initialize", 0);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let mut asked: Vec<&str> = verbs.iter().map(|(name, _)| name.as_str()).collect();
    // They end it, or begin what goes on for ever.
    asked.retain(|verb| !["initialize", "subscriptions/listen"].contains(verb));
    asked.extend(OTHERS);
    let lines = asked
        .iter()
        .enumerate()
        .map(|(place, verb)| format!("{}\n", request(verb, place + 1)));
    let lines: String = lines.collect();
    let said = scene.given(&format!("{hello}\n{ready}\n{lines}"), &["mcp"]);
    let answers = said.lines();
    for (place, verb) in asked.iter().enumerate() {
        let answer = answers.iter().find(|answer| answer["id"] == place + 1);
        let answer = answer.unwrap_or_else(|| panic!("{verb}: {}", said.stdout));
        let is_unknown = answer["error"]["code"] == UNKNOWN;
        assert_eq!(is_unknown, !known(verb), "{verb}: {answer}");
    }
}

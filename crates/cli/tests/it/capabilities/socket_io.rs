//! Every event of Socket.IO.

use callgate_service::{Capability, Surface};
use serde_json::json;

use super::{entries, site::Site};
use crate::connection::{Connection, UPGRADE};

/// An id belongs to the key that used it first.
fn client_id(key: &str) -> String {
    key.chars().rev().take(12).collect()
}

fn connect(site: &Site, namespace: &str, key: &str) -> (Connection, bool) {
    let host = &site.server.address;
    let engine = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {host}\r\n{UPGRADE}\r\n"
    );
    let mut client = Connection::open("client", host, &engine, "\"sid\"");
    let auth = json!({ "clientId": client_id(key), "key": key });
    client.say(&format!("40{namespace},{auth}"));
    let (seated, refused) = (format!("40{namespace},{{"), format!("44{namespace},"));
    crate::scene::wait_until(|| {
        let heard = client.heard();
        heard.contains(&seated) || heard.contains(&refused)
    });
    let is_in = client.heard().contains(&seated);
    (client, is_in)
}

/// The ack of an event, if the client may sit there.
fn ask(site: &Site, entry: &str, key: &str) -> Option<String> {
    let (namespace, event) = entry.split_once(' ').unwrap();
    let (mut client, is_in) = connect(site, namespace, key);
    if !is_in {
        return None;
    }
    let own = client_id(key);
    let data = json!({
        "requestId": "r", "functionName": "none", "clientId": own, "roomName": own,
        "targetClientId": "other",
    });
    let data = json!([event, data]);
    client.say(&format!("42{namespace},7{data}"));
    client.wait_for(&format!("43{namespace},7["));
    Some(client.heard())
}

fn lacks_scope(answer: &Option<String>) -> bool {
    let Some(ack) = answer else { return true };
    ack.contains("\"Unauthorized\"") || ack.contains("needs a key of scope")
}

#[test]
fn no_event_does_anything_without_what_it_needs() {
    let mut site = Site::start("");
    let events = entries(Surface::SocketIo);
    let guarded = |needs: &[Capability]| needs != [Capability::Anyone];
    let guarded: Vec<_> = events.iter().filter(|(_, needs)| guarded(needs)).collect();
    assert!(guarded.len() > 40, "{}", guarded.len());
    let lacking: Vec<String> = guarded
        .iter()
        .map(|(_, needs)| site.lacking(needs))
        .collect();
    // Made before wrong keys are shown from here, after which unknown ones wait their turn.
    let holding: Vec<String> = guarded
        .iter()
        .map(|(_, needs)| site.holding(needs))
        .collect();
    // That a client came by its name is on record; nothing else may be.
    for ((event, _), key) in guarded.iter().zip(&lacking) {
        connect(&site, event.split(' ').next().unwrap(), key);
    }
    let before = site.witness();
    for ((event, _), lacking) in guarded.iter().zip(&lacking) {
        let answer = ask(&site, event, lacking);
        assert!(lacks_scope(&answer), "{event}: {answer:?}");
        for (state, key) in &site.locked {
            let answer = ask(&site, event, key);
            assert!(answer.is_none(), "{event}, {state}: {answer:?}");
        }
    }
    assert_eq!(
        site.witness(),
        before,
        "somebody who may do nothing did something"
    );
    for ((event, _), holding) in guarded.iter().zip(&holding) {
        let answer = ask(&site, event, holding);
        assert!(!lacks_scope(&answer), "{event}: {answer:?}");
    }
}

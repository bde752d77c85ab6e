//! Messages of which nobody knows whether they were sent: shown at the terminal, by the doctor and over the
//! API; never sent by themselves; and sent again or dropped at the operator's word.

use callgate_contract::{
    BoxFuture, DeliveryError, JournalId, Message, Outbox, Part, Piece, Receipt,
};
use serde_json::{Value as Json, json};

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const SESSION: &str = "web:FriendMessage:ann";
const WHY: &str = "no answer came";

/// A platform that took each message, or did not.
struct Silent;

impl Outbox for Silent {
    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let reason = WHY.to_owned();
        Box::pin(std::future::ready(Err(DeliveryError::Unknown { reason })))
    }
}

pub fn leave_in_doubt(scene: &Scene, texts: &[&str]) {
    scene.stored(async |store| {
        for text in texts {
            let message = Message {
                session: SESSION.parse().unwrap(),
                parts: vec![Part::text(*text)],
            };
            let outbox = store.outbox();
            let sent = outbox.send(JournalId::fresh(), &message, false).await;
            sent.unwrap();
            outbox.deliver_pending(None, &Silent).await.unwrap();
        }
    });
}

fn list(scene: &Scene, options: &[&str]) -> Json {
    let arguments = [&["outbox", "list", "--json"], options].concat();
    scene.callgate(&arguments).succeeded().json()
}

#[test]
fn what_nobody_knows_is_shown_and_sent_again_only_at_your_word() {
    let scene = Scene::new();
    leave_in_doubt(&scene, &["first", "second"]);
    let listed = list(&scene, &["--state", "unknown"]);
    let texts: Vec<&Json> = listed.as_array().unwrap().iter().collect();
    assert_eq!(texts.len(), 2);
    assert_eq!(texts[0]["text"], "first");
    assert_eq!(texts[0]["reason"], WHY);
    assert_eq!(texts[0]["session"], SESSION);
    assert_eq!(list(&scene, &["--state", "queued"]), json!([]));
    let said = scene.callgate(&["outbox", "list"]).succeeded();
    assert!(
        said.stdout.contains("unknown: no answer came"),
        "{}",
        said.stdout
    );
    let doctor = scene.callgate(&["doctor", "--json"]).succeeded().json();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "outbox");
    let detail = check.unwrap()["detail"].as_str().unwrap();
    assert!(
        detail.contains(&format!("1 in {SESSION}, 2 in {SESSION}")),
        "{detail}"
    );

    scene.callgate(&["outbox", "resend", "1"]).succeeded();
    assert_eq!(scene.outbox(), ["first"]);
    scene.callgate(&["outbox", "drop", "2"]).succeeded();
    assert_eq!(list(&scene, &["--state", "unknown"]), json!([]));
    let again = scene.callgate(&["outbox", "drop", "2"]);
    assert_eq!(again.code, Some(1));
    assert!(
        again.stderr.contains("callgate outbox list"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_server_sends_what_is_in_doubt_when_it_is_told_to_and_not_before() {
    let scene = Scene::new();
    leave_in_doubt(&scene, &["first", "second"]);
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start(&scene);
    let unknown = || {
        let (status, list) = server.api("GET", "/api/outbox?state=unknown", &key, None);
        assert_eq!(status, 200, "{list}");
        let items = list["items"].as_array().unwrap();
        items
            .iter()
            .map(|item| item["id"].clone())
            .collect::<Vec<_>>()
    };
    // A message that goes out after it does, and that one stays where it is.
    let body = json!({ "text": "/help", "user": "ann", "wait": true });
    let path = format!("/api/sessions/{SESSION}/messages");
    let (status, answer) = server.api("POST", &path, &key, Some(&body));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(unknown(), [json!(1), json!(2)]);

    let resend = json!({ "action": "resend" });
    let (status, answer) = server.api("POST", "/api/outbox/1", &key, Some(&resend));
    let expected = json!({ "id": 1, "session": SESSION, "action": "resend" });
    assert_eq!((status, answer), (200, expected));
    wait_until(|| {
        let (_, list) = server.api("GET", "/api/outbox", &key, None);
        list["items"].as_array().unwrap().len() == 1
    });
    assert_eq!(unknown(), [json!(2)]);
    let odd = json!({ "action": "forget" });
    assert_eq!(server.api("POST", "/api/outbox/2", &key, Some(&odd)).0, 400);
}

//! Words on their way to people: a plugin's own and the model's, as those see them who look on.

use callgate_agent::TurnEvent;

use super::*;
use crate::{hosting::turns::taking, stage::incoming};

/// Answers every message by itself, piece by piece.
struct Streaming {
    agent: Mutex<Option<callgate_agent::Agent>>,
    plugin: Plugin,
    /// The last row it was offered.
    row: Mutex<i64>,
}

impl Listener for Streaming {
    fn points(&self) -> Points {
        Points::ARRIVED
    }

    fn arrived<'a>(&'a self, message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        let agent = self.agent.lock().unwrap().clone().unwrap();
        *self.row.lock().unwrap() = message.row;
        Box::pin(async move {
            let row = message.row;
            for piece in [
                json!({"row": row, "text": "hm", "thought": true}),
                json!({"row": row, "text": "one "}),
                json!({"row": row, "text": "two"}),
            ] {
                let shown = self.plugin.calls(agent.gate(), "message_piece", piece);
                assert_eq!(shown.await.unwrap(), Json::Null);
            }
            let whole = json!({"parts": [{"type": "text", "text": "one two"}]});
            let sent = self.plugin.calls(agent.gate(), "message_send", whole);
            sent.await.unwrap();
            Verdict::Taken
        })
    }
}

/// What the watch of one message sees, each with a sign of what it is.
fn looking_on() -> (Watch, Arc<Mutex<Vec<String>>>) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = seen.clone();
    let watch = Watch::new(move |event| {
        let shown = match event {
            TurnEvent::Text { text } => format!("+{text}"),
            TurnEvent::Thought { text } => format!("?{text}"),
            TurnEvent::Round { number, .. } => format!("round {number}"),
            _ => return,
        };
        kept.lock().unwrap().push(shown);
    });
    (watch, seen)
}

#[tokio::test]
async fn a_plugins_words_are_seen_as_they_come_and_kept_once() {
    let home = Home::sqlite();
    let listener = Arc::new(Streaming {
        agent: Mutex::default(),
        plugin: Plugin::silent(),
        row: Mutex::default(),
    });
    let stage = Stage::heard_by(
        home.open().await,
        Scripted::default(),
        vec![listener.clone()],
    );
    stage.agent.register_host().unwrap();
    *listener.agent.lock().unwrap() = Some(stage.agent.clone());
    let (watch, seen) = looking_on();
    let said = incoming("ann", "count");
    let arrived = stage.agent.arrive(said, Override::default(), watch).await;
    assert!(matches!(arrived, Ok(Arrived::Taken)), "{arrived:?}");
    assert_eq!(*seen.lock().unwrap(), ["?hm", "+one ", "+two"]);
    assert_eq!(stage.sent(), ["one two"]);
    let rows = stage.agent.store().log().list(&session(), 9).await.unwrap();
    let kept = rows.iter().filter(|row| row.role == LogRole::Assistant);
    assert_eq!(kept.count(), 1, "pieces are kept nowhere");
    let late = json!({"row": *listener.row.lock().unwrap(), "text": "late"});
    let gate = stage.agent.gate();
    let shown = listener.plugin.calls(gate, "message_piece", late).await;
    assert_eq!(shown.unwrap(), Json::Null);
    assert_eq!(seen.lock().unwrap().len(), 3, "nobody looks on any more");
}

/// Its number is no right to a message of another session, whether somebody looks on there or not.
#[tokio::test]
async fn a_row_of_another_session_is_refused() {
    let home = Home::sqlite();
    let stage = stage(&home, Scripted::default().says("An answer.")).await;
    let gate = stage.agent.gate();
    stage.hears_from("ann", "hello", None).await;
    let rows = stage.agent.store().log().list(&session(), 9).await.unwrap();
    let row = rows.last().unwrap().id;
    let conversations = stage.agent.store().conversations();
    let theirs = conversations.current(&session()).await.unwrap().unwrap();
    let plugin = Plugin::silent();
    let here = "in cli:FriendMessage:bob";
    for (method, named, reason) in [
        (
            "message_piece",
            json!({"row": row, "text": "forged"}),
            "no row",
        ),
        (
            "message_piece",
            json!({"row": row + 99, "text": "none"}),
            "no row",
        ),
        ("turn_run", json!({"row": row, "ref": "e"}), "no row"),
        // Also where it says that it means the other session.
        (
            "turn_run",
            json!({"row": row, "ref": "e", "session": session().to_string()}),
            "no row",
        ),
        (
            "turn_run",
            json!({"ref": "e", "request": {"conversation": theirs.to_string(), "prompt": "?"}}),
            "no conversation",
        ),
    ] {
        let mut elsewhere = caller(0, Budget::new(100, 100));
        elsewhere.session = "cli:FriendMessage:bob".parse().unwrap();
        let refused = plugin.calls_as(gate, &elsewhere, method, named).await;
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains(reason) && refused.contains(here),
            "{refused}"
        );
    }
    assert_eq!(stage.model.requests().len(), 1, "nobody was answered again");
}

#[tokio::test]
async fn the_models_words_are_seen_as_they_come_though_a_plugin_delivers_them() {
    let home = Home::sqlite();
    let model = Scripted::default().says("An answer.");
    let run = json!({"ref": "e1", "request": {"own": true}});
    let (stage, _) = taking(&home, model, Plugin::silent(), run).await;
    let (watch, seen) = looking_on();
    let said = incoming("ann", "hello");
    let arrived = stage.agent.arrive(said, Override::default(), watch).await;
    assert!(matches!(arrived, Ok(Arrived::Taken)), "{arrived:?}");
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen[0], "round 1");
    let words: String = seen[1..]
        .iter()
        .filter_map(|piece| piece.get(1..))
        .collect();
    assert_eq!(words, "An answer.");
}

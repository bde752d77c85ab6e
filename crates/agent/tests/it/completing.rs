//! Answers that go back to whoever asked: how they differ from those of a chat.

use callgate_agent::{Completion, Watch};
use callgate_contract::{
    Allowed, Cancel, JournalId, ModelMessage, ModelRequest, Role, ToolSpec, TurnStop,
};
use callgate_testkit::Home;
use serde_json::json;

use crate::stage::{Scripted, Stage, incoming, session};

fn asked(text: &str) -> Completion {
    Completion {
        id: JournalId::fresh(),
        session: session(),
        principal: "cli:ann".parse().unwrap(),
        role: Role::Member,
        persona: None,
        model: String::new(),
        methods: Allowed::All,
        request: ModelRequest::new(vec![ModelMessage::user(text)]),
        parent: None,
        keep: None,
        streamed: false,
        watch: Watch::default(),
        cancel: Cancel::default(),
    }
}

#[tokio::test]
async fn nobody_in_the_chat_hears_it_and_it_hears_nobody() {
    let home = Home::sqlite();
    let model = Scripted::default().calls(&[("act", "now")]).says("Done.");
    let stage = Stage::new(home.open().await, model);
    let waiting = incoming("ann", "not for you");
    stage
        .agent
        .store()
        .log()
        .append_incoming(&waiting)
        .await
        .unwrap();
    let done = stage.agent.complete(asked("go")).await.unwrap();
    assert_eq!(
        (done.stop, done.text.as_str(), done.rounds),
        (TurnStop::Answered, "Done.", 2)
    );
    assert_eq!(stage.sent(), [""; 0]);
    let requests = stage.model.requests();
    assert_eq!(
        requests[0].messages.len(),
        1,
        "what was brought, and no more"
    );
    assert_eq!(requests[1].messages.len(), 3, "a call and its result");
}

#[tokio::test]
async fn a_call_of_the_askers_tool_ends_it() {
    let home = Home::sqlite();
    let model = Scripted::default().calls(&[("mine", "a"), ("act", "b")]);
    let stage = Stage::new(home.open().await, model);
    let mut asked = asked("go");
    let id = asked.id;
    asked.request.tools.push(ToolSpec {
        name: "mine".into(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    });
    let done = stage.agent.complete(asked).await.unwrap();
    let [call] = done.calls.as_slice() else {
        panic!("{done:?}")
    };
    assert_eq!(call.id, format!("call_{}_0", id.0.simple()));
    assert_eq!(stage.ran.counts(), (0, 1), "ours was made");
    let kept = stage.agent.exchange(&session(), id).await.unwrap();
    let (_, kept) = kept.unwrap();
    assert!(kept.answer.is_none());
    let [
        ModelMessage::Assistant { tool_calls, .. },
        ModelMessage::Tool { tool_call_id, .. },
    ] = kept.added.as_slice()
    else {
        panic!("{kept:?}")
    };
    assert_eq!(
        (&tool_calls[0].id, &tool_calls[1].id),
        (&call.id, tool_call_id)
    );
    let elsewhere = "cli:FriendMessage:bob".parse().unwrap();
    assert!(
        stage
            .agent
            .exchange(&elsewhere, id)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn after_a_crash_nobody_waits_for_it_any_more() {
    let home = Home::sqlite();
    let store = home.open().await;
    let stage = Stage::new(store.clone(), Scripted::default().says("!hang"));
    let (agent, asked) = (stage.agent.clone(), asked("go"));
    let id = asked.id;
    let running = tokio::spawn(async move { agent.complete(asked).await });
    while stage.model.requests().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    running.abort();
    let next = Stage::new(store.clone(), Scripted::default());
    let recovered = next.agent.recover().await.unwrap();
    assert!(recovered.turns.is_empty() && next.model.requests().is_empty());
    let turn = store.turns().get(id).await.unwrap();
    assert_eq!(turn.finish.unwrap().stop, TurnStop::Cancelled);
}

//! Requests of a plugin's own: in a conversation or apart from all of them, with the tools it names and no
//! others.

use callgate_store::NewConversation;

use super::{
    turns::{hears, taking},
    *,
};

fn said(stage: &Stage, place: usize) -> Vec<String> {
    let requests = stage.model.requests();
    let messages = requests[place].messages.iter();
    let words = messages.filter_map(|message| match message {
        ModelMessage::User { parts } => parts[0].words().map(|text| text.to_string()),
        _ => None,
    });
    words.collect()
}

#[tokio::test]
async fn a_request_may_stand_apart_from_the_conversation() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|_, of| {
        assert!(of["request"]["conversation"].is_null(), "{of}");
        Json::Null
    });
    let request = json!({
        "own": true, "apart": true, "prompt": "alone", "system_prompt": "Be brief.", "tools": [],
    });
    let run = json!({"hooks": ["request"], "request": request, "deliver": "host"});
    let model = Scripted::default().says("Yes.");
    let (stage, _) = taking(&home, model, plugin, run).await;
    let conversations = stage.agent.store().conversations();
    let begun = NewConversation {
        messages: vec![json!({"role": "user", "content": "before"})],
        ..NewConversation::default()
    };
    let id = conversations.create(&session(), begun).await.unwrap().id;
    hears(&stage, "first").await;
    assert_eq!(said(&stage, 0), ["alone"]);
    let asked = &stage.model.requests()[0];
    assert!(asked.tools.is_empty());
    let ModelMessage::System { text } = &asked.messages[0] else {
        panic!("{asked:?}");
    };
    assert!(text.starts_with("Be brief.\n\n"), "{text}");
    let kept = conversations.history(id).await.unwrap();
    assert_eq!(kept.len(), 1, "nothing of it is kept");
}

#[tokio::test]
async fn a_request_names_its_conversation() {
    let home = Home::sqlite();
    let store = home.open().await;
    let conversations = store.conversations();
    let boats = NewConversation {
        title: Some("Boats".into()),
        messages: vec![json!({"role": "user", "content": "long ago"})],
        ..NewConversation::default()
    };
    let other = conversations.create(&session(), boats).await.unwrap().id;
    let empty = NewConversation::default();
    let current = conversations.create(&session(), empty).await.unwrap().id;
    drop(store);
    let plugin = Plugin::new(|_, of| {
        assert_eq!(of["request"]["conversation"]["title"], "Boats", "{of}");
        Json::Null
    });
    let request = json!({"own": true, "prompt": "and now", "conversation": other.to_string()});
    let run = json!({"hooks": ["request"], "request": request, "deliver": "host"});
    let (stage, _) = taking(&home, Scripted::default().says("Yes."), plugin, run).await;
    hears(&stage, "hello").await;
    assert_eq!(said(&stage, 0), ["long ago", "and now"]);
    let conversations = stage.agent.store().conversations();
    let kept = conversations.history(other).await.unwrap();
    assert_eq!(kept.len(), 3);
    let words = json!([{"type": "text", "text": "Yes."}]);
    assert_eq!(kept[2].message["content"], words, "as plugins know it");
    assert_eq!(conversations.history(current).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_tool_that_a_plugin_left_out_cannot_be_called() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|_, _| json!({"tools": [tool("say", Some("h1"))]}));
    let model = Scripted::default().calls(&[("look", "up")]).says("Oh.");
    let run = json!({"hooks": ["request"], "request": {"own": true}});
    let (stage, _) = taking(&home, model, plugin, run).await;
    hears(&stage, "hello").await;
    let Some(ModelMessage::Tool { parts, .. }) = stage.model.requests()[1].messages.last().cloned()
    else {
        panic!("{:?}", stage.model.requests()[1]);
    };
    let told = "error: there is no tool look. The tools are: say";
    assert_eq!(parts, [Part::text(told)]);
}

#[tokio::test]
async fn a_loop_ends_in_the_plugins_words() {
    let home = Home::sqlite();
    let model = Scripted::default().calls(&[("look", "up")]).says("Done.");
    let stage = stage(&home, model).await;
    let plugin = Plugin::silent();
    let asked = json!({
        "messages": [{"role": "user", "content": "go"}], "tools": [tool("look", None)],
        "max_steps": 1, "last_words": "Come to an end.",
    });
    plugin
        .calls(stage.agent.gate(), "agent_loop", asked)
        .await
        .unwrap();
    assert_eq!(said(&stage, 1), ["go", "Come to an end."]);
}

/// Has commands of names of ours; what it heard, and whether that was done already.
#[derive(Default)]
struct Owner(Mutex<Vec<bool>>);

impl Listener for Owner {
    fn points(&self) -> Points {
        Points::ARRIVED
    }

    fn has_command(&self, _: &callgate_contract::SessionKey, text: &str) -> bool {
        text.starts_with("/model") || text.starts_with("/reset")
    }

    fn arrived<'a>(&'a self, message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        self.0.lock().unwrap().push(message.obeyed);
        Box::pin(async { Verdict::Taken })
    }
}

#[tokio::test]
async fn commands_of_listeners_with_names_of_ours() {
    let home = Home::sqlite();
    let owner = Arc::new(Owner::default());
    let stage = Stage::heard_by(home.open().await, Scripted::default(), vec![owner.clone()]);
    let theirs = stage.hears_from("ann", "/model list", None).await;
    assert!(matches!(theirs, Arrived::Taken), "{theirs:?}");
    for ours in ["/stats", "/reset"] {
        let arrived = stage.hears_from("ann", ours, None).await;
        assert!(matches!(arrived, Arrived::Command), "{ours}: {arrived:?}");
    }
    let heard = owner.0.lock().unwrap();
    assert_eq!(*heard, [false, true], "one in our place, one beside ours");
}

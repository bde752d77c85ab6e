//! Answers, whole and in chunks, and what becomes of them on our side.

use callgate_agent::{AgentSettings, Allowance};
use callgate_contract::{FinishReason, Mode, ModelReply, Part, ToolChoice, TurnStop};
use callgate_gate::GatePolicy;
use callgate_store::NewPersona;
use serde_json::{Value as Json, json};

use super::scene::{BREAKS, BUSY, HANGS, Scene, calls, says};

#[tokio::test]
async fn an_answer_has_all_that_belongs_to_it() {
    let mut scene = Scene::new(vec![ModelReply {
        reasoning: "Hm.".into(),
        finish: FinishReason::Length,
        ..says("Hello there")
    }])
    .await;
    let id = scene.takes_key(&["chat"]).await;
    let asked = scene
        .chat(json!({
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "hi"}], "name": "x"},
                {"role": "assistant", "content": "yes?"},
                {"role": "user", "content": "again"},
            ],
            "temperature": 0.25, "top_p": 0.5, "max_tokens": 9, "stop": ["end"], "seed": 4,
            "response_format": {"type": "json_object"}, "user": "operator", "unheard_of": {"a": 1},
        }))
        .await;
    assert_eq!(asked.status, 200, "{}", asked.text);
    let answer = asked.json();
    let choice = &answer["choices"][0];
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "bare");
    assert_eq!(choice["message"]["role"], "assistant");
    assert_eq!(choice["message"]["content"], "Hello there");
    assert_eq!(choice["message"]["reasoning_content"], "Hm.");
    assert_eq!(choice["finish_reason"], "length");
    let usage = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    });
    assert_eq!(answer["usage"], usage);
    let said = [
        "system: Be brief.",
        "user: hi",
        "assistant: yes?",
        "user: again",
    ];
    assert_eq!(scene.model.last(), said);
    let options = scene.model.requests()[0].options.clone();
    assert_eq!(
        (options.temperature, options.top_p),
        (Some(0.25), Some(0.5))
    );
    assert_eq!((options.max_tokens, options.seed), (Some(9), Some(4)));
    assert_eq!(options.stop, ["end"]);
    assert_eq!(
        options.response_format,
        Some(json!({"type": "json_object"}))
    );
    assert!(options.extra.is_empty());

    let turns = scene.turns().await;
    let [turn] = turns.as_slice() else {
        panic!("{turns:?}")
    };
    let id_of_answer = format!("chatcmpl-{}", turn.start.id.0.simple());
    assert_eq!(answer["id"], id_of_answer);
    assert_eq!(
        turn.start.session.to_string(),
        format!("api:FriendMessage:{id}")
    );
    assert_eq!(turn.start.principal.user(), format!("key-{id}"));
    assert_eq!(turn.finish.as_ref().unwrap().stop, TurnStop::Answered);
    assert!(turn.start.conversation.is_none());
    let log = scene
        .store
        .log()
        .list(&turn.start.session, 10)
        .await
        .unwrap();
    assert!(log.is_empty() && scene.store.outbox().pending(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_persona_speaks_first_and_bare_adds_nothing() {
    let scene = Scene::new(vec![says("Arr"), says("Hi"), says("raw")]).await;
    let pirate = NewPersona {
        name: "pirate".into(),
        system_prompt: "You are a pirate.".into(),
        begin_dialogs: Some(vec!["Who are you?".into(), "A pirate.".into()]),
        methods: Some(vec!["look".into()]),
        model: Some("second".into()),
        mode: Mode::Tools,
    };
    scene.store.personas().create(&pirate).await.unwrap();
    let messages =
        json!([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]);
    scene
        .chat(json!({"model": "pirate", "messages": messages}))
        .await;
    let said = scene.model.last();
    assert!(
        said[0].starts_with("system: ") && said[0].contains("You are a pirate."),
        "{said:?}"
    );
    assert_eq!(
        said[1..],
        [
            "user: Who are you?",
            "assistant: A pirate.",
            "system: Be kind.",
            "user: hi"
        ]
    );
    let tools = |scene: &Scene| {
        let requests = scene.model.requests();
        let tools = requests
            .last()
            .unwrap()
            .tools
            .iter()
            .map(|tool| tool.name.clone());
        tools.collect::<Vec<_>>()
    };
    assert_eq!(tools(&scene), ["look"]);
    scene
        .chat(json!({"model": "bare", "messages": messages}))
        .await;
    assert_eq!(scene.model.last(), ["system: Be kind.", "user: hi"]);
    assert!(
        tools(&scene).contains(&"act".to_owned()),
        "{:?}",
        tools(&scene)
    );
    let mut scene = scene;
    scene.takes_key(&["models"]).await;
    scene
        .chat(json!({"model": "model/second", "messages": messages}))
        .await;
    assert_eq!((scene.model.last().len(), tools(&scene).len()), (2, 0));
    let turns = scene.turns().await;
    let models: Vec<&str> = turns.iter().map(|turn| turn.start.model.as_str()).collect();
    assert_eq!(models, ["second", "first", "second"]);
    assert_eq!(turns[0].start.persona.as_deref(), Some("pirate"));
}

#[tokio::test]
async fn chunks_come_as_openai_sends_them() {
    let scene = Scene::new(vec![
        ModelReply {
            reasoning: "Hm.".into(),
            ..calls(&[("look", "there")])
        },
        says("It is fine"),
    ])
    .await;
    let asked = scene
        .chat(json!({
            "messages": [{"role": "user", "content": "look"}],
            "stream": true, "stream_options": {"include_usage": true},
        }))
        .await;
    assert!(asked.head.contains("text/event-stream"), "{}", asked.head);
    assert!(asked.text.ends_with("data: [DONE]\n\n"), "{}", asked.text);
    let chunks = asked.events();
    let deltas: Vec<&Json> = chunks.iter().map(|it| &it["choices"][0]["delta"]).collect();
    assert_eq!(*deltas[0], json!({"role": "assistant", "content": ""}));
    assert_eq!(*deltas[1], json!({"reasoning_content": "Hm."}));
    let texts = deltas.iter().filter_map(|it| it["content"].as_str());
    assert_eq!(texts.collect::<Vec<_>>(), ["", "It ", "is ", "fine"]);
    let [.., ended, counted] = chunks.as_slice() else {
        panic!("{chunks:?}")
    };
    assert_eq!(ended["choices"][0]["finish_reason"], "stop");
    assert_eq!(
        (&ended["usage"], &ended["choices"][0]["delta"]),
        (&Json::Null, &json!({}))
    );
    assert_eq!(
        (&counted["choices"], &counted["usage"]["total_tokens"]),
        (&json!([]), &json!(30))
    );
    let same = |field: &str| chunks.iter().all(|it| it[field] == chunks[0][field]);
    assert!(same("id") && same("created") && chunks[0]["object"] == "chat.completion.chunk");
    let turns = scene.turns().await;
    let calls = scene
        .store
        .journal()
        .recorded(turns[0].start.id)
        .await
        .unwrap();
    assert_eq!(calls.len(), 1, "the call is on record");
}

#[tokio::test]
async fn words_of_several_rounds_are_paragraphs() {
    let replies = || {
        let first = ModelReply {
            text: "Let me say it.".into(),
            ..calls(&[("say", "Said by a method.")])
        };
        vec![first, says("That was it.")]
    };
    let scene = Scene::new([replies(), replies()].concat()).await;
    let all = "Let me say it.\n\nSaid by a method.\n\nThat was it.";
    assert_eq!(scene.says("speak").await["content"], all);
    let messages = json!([{"role": "user", "content": "speak"}]);
    let asked = scene
        .chat(json!({"messages": messages, "stream": true}))
        .await;
    let chunks = asked.events();
    let texts = chunks
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    assert_eq!(texts.collect::<String>(), all);
    assert!(scene.store.outbox().pending(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn media_go_to_the_model() {
    let scene = Scene::new(vec![says("seen")]).await;
    let parts = json!([
        {"type": "text", "text": "what is it"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://there/cat.png"}},
        {"type": "input_audio", "input_audio": {"data": "BBBB", "format": "mp3"}},
        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}},
    ]);
    let asked = scene
        .chat(json!({"messages": [{"role": "user", "content": parts}]}))
        .await;
    assert_eq!(asked.status, 200, "{}", asked.text);
    let request = scene.model.requests().remove(0);
    let callgate_contract::ModelMessage::User { parts } = &request.messages[0] else {
        panic!("{request:?}")
    };
    let image = |url: &str| Part::Image { url: url.into() };
    assert_eq!(parts[1], image("data:image/png;base64,AAAA"));
    assert_eq!(parts[2], image("data:image/png;base64,iVBORw0KGgo="));
    let url = "data:audio/mpeg;base64,BBBB".to_owned();
    assert_eq!(parts[3], Part::Audio { url });
    assert_eq!(parts[4], Part::text("a.txt:\nhi"));
}

#[tokio::test]
async fn a_failure_has_its_status_also_where_chunks_were_wanted() {
    let budgets = callgate_agent::Budgets {
        user_day: Allowance {
            tokens: Some(100_000),
            ..Allowance::default()
        },
        ..Default::default()
    };
    let settings = AgentSettings {
        budgets,
        ..AgentSettings::default()
    };
    let half = |text: &str| callgate_contract::ModelReply {
        usage: Some(callgate_contract::Usage {
            input: 50_000,
            ..Default::default()
        }),
        ..says(text)
    };
    let replies = vec![says(BUSY), says(BUSY), half("one"), half("two")];
    let scene = Scene::with(replies, settings, GatePolicy::default()).await;
    let messages = json!([{"role": "user", "content": "hi"}]);
    for streams in [false, true] {
        let body = json!({"messages": messages, "stream": streams});
        let busy = scene.chat(body).await;
        assert_eq!(busy.error().1, "rate_limit_exceeded");
        assert_eq!(busy.status, 429);
        assert!(busy.head.contains("retry-after: 7"), "{}", busy.head);
    }
    scene.says("hi").await;
    scene.says("hi").await;
    let spent = scene.chat(json!({"messages": messages})).await.error();
    assert_eq!((spent.0, spent.1.as_str()), (429, "insufficient_quota"));
    let stops = scene
        .turns()
        .await
        .into_iter()
        .map(|turn| turn.finish.unwrap().stop);
    let (error, answered) = (TurnStop::Error, TurnStop::Answered);
    let expected = [error, error, answered, answered, TurnStop::Budget];
    assert_eq!(stops.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn an_answer_that_begins_anew_is_never_sent_twice() {
    let scene = Scene::new(vec![says(BREAKS), says(BREAKS), says("gone")]).await;
    assert_eq!(scene.says("hi").await["content"], BREAKS);
    let messages = json!([{"role": "user", "content": "hi"}]);
    let asked = scene
        .chat(json!({"messages": messages, "stream": true}))
        .await;
    let chunks = asked.events();
    assert_eq!(chunks[1]["choices"][0]["delta"]["content"], "half of it");
    assert_eq!(chunks[2]["error"]["type"], "server_error");
    assert_eq!(chunks.len(), 3, "{chunks:?}");
}

#[tokio::test]
async fn hanging_up_cancels_the_turn() {
    let scene = Scene::new(vec![says(HANGS), says(HANGS)]).await;
    for streams in [false, true] {
        let body = json!({
            "model": "bare", "stream": streams, "messages": [{"role": "user", "content": "hi"}],
        });
        let path = "/v1/chat/completions";
        let asked = scene
            .open(&scene.address, "POST", path, &body.to_string())
            .await;
        let before = scene.model.requests().len();
        let was_asked = || scene.model.requests().len() > before;
        wait_until(async || was_asked()).await;
        drop(asked);
        wait_until(async || {
            let turns = scene.turns().await;
            let mut stops = turns
                .iter()
                .map(|turn| turn.finish.as_ref().map(|it| it.stop));
            stops.next_back() == Some(Some(TurnStop::Cancelled))
        })
        .await;
    }
}

/// Asks again until it holds; a test that hangs is ended from outside.
async fn wait_until(holds: impl AsyncFn() -> bool) {
    while !holds().await {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_demand_for_a_call_is_made_once() {
    let scene = Scene::new(vec![calls(&[("look", "up")]), says("sky")]).await;
    let body = json!({
        "messages": [{"role": "user", "content": "look up"}], "tool_choice": "required",
    });
    assert_eq!(scene.chat(body).await.status, 200);
    let choices = scene
        .model
        .requests()
        .into_iter()
        .map(|it| it.options.tool_choice);
    assert_eq!(
        choices.collect::<Vec<_>>(),
        [Some(ToolChoice::Required), None]
    );
}

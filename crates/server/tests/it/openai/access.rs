//! Who may ask for what, and how they are told that they may not.

use callgate_agent::{AgentSettings, Allowance, Budgets, CostReport};
use callgate_contract::TurnStop;
use callgate_gate::GatePolicy;
use callgate_store::{CostBy, NewPersona};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::scene::{Scene, says};

async fn names(scene: &Scene) -> Vec<String> {
    let listed = scene.get("/v1/models").await.json();
    assert_eq!(listed["object"], "list");
    let rows = listed["data"].as_array().unwrap().iter();
    let rows = rows.inspect(|row| assert_eq!(row["object"], "model"));
    rows.map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn each_key_sees_the_models_of_its_scopes() {
    let mut scene = Scene::new(Vec::new()).await;
    let pirate = NewPersona {
        name: "pirate".into(),
        system_prompt: "Arr.".into(),
        ..NewPersona::default()
    };
    scene.store.personas().create(&pirate).await.unwrap();
    assert_eq!(names(&scene).await, ["default", "pirate", "bare"]);
    let one = scene.get("/v1/models/pirate").await.json();
    assert_eq!(
        (&one["id"], &one["object"]),
        (&json!("pirate"), &json!("model"))
    );
    scene.takes_key(&["models"]).await;
    assert_eq!(names(&scene).await, ["model/first", "model/second"]);
    let one = scene.get("/v1/models/model/second").await.json();
    assert_eq!(one["id"], "model/second");
    scene.takes_key(&["operator"]).await;
    assert_eq!(names(&scene).await.len(), 5);
}

#[tokio::test]
async fn refusals_are_in_openais_shape() {
    let mut scene = Scene::new(vec![says("hi")]).await;
    let messages = json!([{"role": "user", "content": "hi"}]);
    let ask = |model: &str| json!({"model": model, "messages": messages});
    let nobody = json!(null);
    let chat = "/v1/chat/completions";

    let unknown = scene.post(chat, ask("nobody")).await.error();
    assert_eq!(unknown, (404, "model_not_found".into(), json!("model")));
    let raw = scene.post(chat, ask("model/first")).await.error();
    assert_eq!(
        raw,
        (403, "insufficient_permissions".into(), nobody.clone())
    );
    let embeds = json!({"model": "first", "input": "x"});
    assert_eq!(scene.post("/v1/embeddings", embeds).await.status, 403);
    let elsewhere = scene.get("/v1/files").await.error();
    assert_eq!((elsewhere.0, elsewhere.1.as_str()), (404, "unknown_url"));
    assert_eq!(scene.get(chat).await.error().0, 405);

    scene.takes_key(&["models"]).await;
    let persona = scene.post(chat, ask("default")).await.error();
    assert_eq!(
        (persona.0, persona.1.as_str()),
        (403, "insufficient_permissions")
    );
    scene.takes_key(&["methods"]).await;
    assert_eq!(scene.get("/v1/models").await.error().0, 403);
    scene.key = "callgate_wrong".into();
    let wrong = scene.get("/v1/models").await.error();
    assert_eq!(wrong, (401, "invalid_api_key".into(), nobody));
    assert!(scene.model.requests().is_empty() && scene.turns().await.is_empty());
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told_by_its_place() {
    let scene = Scene::new(Vec::new()).await;
    let user = |content: Json| json!({"messages": [{"role": "user", "content": content}]});
    let image = |url: &str| user(json!([{"type": "image_url", "image_url": {"url": url}}]));
    for (body, place) in [
        (json!({}), "messages"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": [{"role": "ghost"}]}), "messages[0].role"),
        (user(json!(7)), "messages[0].content"),
        (
            user(json!([{"type": "smell"}])),
            "messages[0].content[0].type",
        ),
        (
            image("/app/shared/secret.png"),
            "messages[0].content[0].image_url.url",
        ),
        (
            image("file:///etc/passwd"),
            "messages[0].content[0].image_url.url",
        ),
        (
            image("http://there/a.jpg"),
            "messages[0].content[0].image_url.url",
        ),
        (
            json!({"messages": [{"role": "tool", "content": "x"}]}),
            "messages[0].tool_call_id",
        ),
        (
            json!({"messages": [{"role": "user"}], "temperature": "hot"}),
            "temperature",
        ),
        (json!({"messages": [{"role": "user"}], "n": 2}), "n"),
        (
            json!({"messages": [{"role": "user"}], "tools": [{"type": "x"}]}),
            "tools[0].type",
        ),
        (
            json!({"messages": [{"role": "user"}], "model": ""}),
            "model",
        ),
    ] {
        let (status, _, param) = scene.chat(body.clone()).await.error();
        assert_eq!((status, param), (400, json!(place)), "{body}");
    }
    let garbled = scene
        .ask(&scene.address, "POST", "/v1/chat/completions", "{")
        .await;
    assert_eq!(garbled.error().0, 400);
    assert!(scene.model.requests().is_empty());
}

#[tokio::test]
async fn vectors_come_as_numbers_or_as_bytes() {
    let mut scene = Scene::new(Vec::new()).await;
    scene.takes_key(&["models"]).await;
    let asked = json!({"model": "model/first", "input": ["ab", "c"], "dimensions": 1});
    let made = scene.post("/v1/embeddings", asked).await.json();
    assert_eq!(made["data"][0]["embedding"], json!([2.0]));
    assert_eq!(
        (&made["data"][1]["index"], &made["usage"]["prompt_tokens"]),
        (&json!(1), &json!(3))
    );
    let asked = json!({"model": "gpt-test", "input": "ab", "encoding_format": "base64"});
    let made = scene.post("/v1/embeddings", asked).await.json();
    assert_eq!(made["data"][0]["embedding"], "AAAAQAAAAD8=");
    let unknown = json!({"model": "none", "input": "ab"});
    assert_eq!(scene.post("/v1/embeddings", unknown).await.error().0, 404);
}

#[tokio::test]
async fn vectors_are_paid_for() {
    let tokens = Some(5);
    let user_day = Allowance {
        tokens,
        ..Allowance::default()
    };
    let budgets = Budgets {
        user_day,
        ..Budgets::default()
    };
    let settings = AgentSettings {
        budgets,
        ..AgentSettings::default()
    };
    let mut scene = Scene::with(Vec::new(), settings, GatePolicy::default()).await;
    scene.takes_key(&["models"]).await;
    let asked = json!({"model": "model/first", "input": "ab"});
    // Three tokens each.
    for _ in 0..2 {
        assert_eq!(
            scene.post("/v1/embeddings", asked.clone()).await.status,
            200
        );
    }
    let spent = scene.post("/v1/embeddings", asked).await.error();
    assert_eq!((spent.0, spent.1.as_str()), (429, "insufficient_quota"));
    let stops = scene.turns().await.into_iter();
    let stops: Vec<TurnStop> = stops.map(|turn| turn.finish.unwrap().stop).collect();
    let answered = TurnStop::Answered;
    assert_eq!(stops, [answered, answered, TurnStop::Budget]);
}

#[tokio::test]
async fn vectors_are_on_record() {
    let mut scene = Scene::new(Vec::new()).await;
    let id = scene.takes_key(&["models"]).await;
    let asked = json!({"model": "second", "input": ["ab", "c"]});
    assert_eq!(scene.post("/v1/embeddings", asked).await.status, 200);
    let turns = scene.turns().await;
    let [turn] = turns.as_slice() else {
        panic!("{turns:?}")
    };
    assert_eq!(turn.start.principal.user(), format!("key-{id}"));
    assert_eq!(turn.start.model, "second");
    let rounds = scene.store.turns().rounds(turn.start.id).await.unwrap();
    let [round] = rounds.as_slice() else {
        panic!("{rounds:?}")
    };
    let request = round.request.as_ref().unwrap();
    assert_eq!(request["messages"][1]["parts"][0]["text"], "c");
    let answer = round.answer.as_ref().unwrap();
    assert_eq!(answer.usage.unwrap().input, 3);
    assert_eq!(answer.reply["text"], "[2 vectors of 2 numbers]");
    let spent = CostReport::of(&scene.store, CostBy::Turn, Timestamp::UNIX_EPOCH).await;
    let spent = spent.unwrap();
    assert_eq!(spent.rows[0].key, Some(turn.start.id.0.to_string()));
    assert_eq!(spent.rows[0].sum.requests, 1, "and no more than once");
}

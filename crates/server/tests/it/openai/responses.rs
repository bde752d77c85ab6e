//! Responses, whole and as events, and going on from them.

use callgate_contract::{ModelMessage, ModelReply, Part};
use serde_json::{Value as Json, json};

use super::scene::{Asked, Scene, calls, says};

async fn asked(scene: &Scene, mut body: Json) -> Asked {
    body["model"] = body.get("model").cloned().unwrap_or(json!("bare"));
    scene.post("/v1/responses", body).await
}

fn mine() -> Json {
    json!([{"type": "function", "name": "mine", "parameters": {"type": "object"}, "strict": true}])
}

#[tokio::test]
async fn a_response_has_its_items_in_order() {
    let scene = Scene::new(vec![
        ModelReply {
            text: "Looking.".into(),
            reasoning: "Hm.".into(),
            ..calls(&[("look", "up")])
        },
        says("Blue."),
    ])
    .await;
    let response = asked(
        &scene,
        json!({
            "instructions": "Be brief.", "max_output_tokens": 50, "metadata": {"a": "b"},
            "input": [{"role": "user", "content": [
                {"type": "input_text", "text": "colour?"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            ]}],
        }),
    )
    .await
    .json();
    assert_eq!(scene.model.requests()[0].options.max_tokens, Some(50));
    assert_eq!(
        scene.model.last()[..2],
        ["system: Be brief.", "user: colour?"]
    );
    assert_eq!(
        (&response["object"], &response["status"]),
        (&json!("response"), &json!("completed"))
    );
    assert_eq!(
        (&response["store"], &response["metadata"]["a"]),
        (&json!(true), &json!("b"))
    );
    let items = response["output"].as_array().unwrap();
    let kinds: Vec<&Json> = items.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["reasoning", "message", "message"]);
    assert_eq!(items[0]["summary"][0]["text"], "Hm.");
    assert_eq!(items[2]["content"][0]["text"], "Blue.");
    assert_eq!(response["usage"]["total_tokens"], 30);
    assert_eq!(
        response["usage"]["output_tokens_details"]["reasoning_tokens"],
        4
    );
}

#[tokio::test]
async fn events_tell_a_response_step_by_step() {
    let scene = Scene::new(vec![ModelReply {
        text: "I call".into(),
        ..calls(&[("mine", "a")])
    }])
    .await;
    let told = asked(
        &scene,
        json!({"input": "go", "tools": mine(), "stream": true}),
    )
    .await;
    let events = told.events();
    let names: Vec<&str> = events
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names, expected);
    for (event, name) in events.iter().zip(names) {
        assert!(told.text.contains(&format!("event: {name}\n")), "{name}");
        assert!(event["sequence_number"].is_u64());
    }
    let numbers: Vec<u64> = events
        .iter()
        .map(|it| it["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..14).collect::<Vec<u64>>());
    assert_eq!(events[6]["text"], "I call");
    assert_eq!(events[11]["arguments"], r#"{"text":"a"}"#);
    let whole = &events[13]["response"];
    assert_eq!(whole["id"], events[0]["response"]["id"]);
    assert_eq!(whole["output"][0]["id"], events[4]["item_id"]);
    assert_eq!(whole["output"][1]["type"], "function_call");
}

#[tokio::test]
async fn a_stored_response_is_gone_on_from() {
    let mut scene = Scene::new(vec![
        says("Hello Ann"),
        calls(&[("look", "up"), ("mine", "a")]),
        says("Done"),
        says("unstored"),
    ])
    .await;
    let first = asked(
        &scene,
        json!({"input": "I am Ann", "instructions": "Be kind."}),
    )
    .await
    .json();
    let body = json!({"input": "go", "previous_response_id": first["id"], "tools": mine()});
    let second = asked(&scene, body).await.json();
    assert_eq!(second["previous_response_id"], first["id"]);
    assert_eq!(
        scene.model.last(),
        ["user: I am Ann", "assistant: Hello Ann", "user: go"]
    );
    let call = &second["output"][0];
    let output =
        json!([{"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}]);
    let body = json!({"input": output, "previous_response_id": second["id"], "store": false});
    let third = asked(&scene, body).await.json();
    assert_eq!(third["output"][0]["content"][0]["text"], "Done");
    let said = scene.model.last();
    assert_eq!(said[3..], ["assistant: ", "tool: saw up", "tool: ok"]);

    let from = |id: &Json| json!({"input": "and?", "previous_response_id": id});
    let unknown = (
        404,
        "previous_response_not_found".to_owned(),
        json!("previous_response_id"),
    );
    for id in [&third["id"], &json!("resp_1234"), &json!("elsewhere")] {
        assert_eq!(asked(&scene, from(id)).await.error(), unknown, "{id}");
    }
    scene.takes_key(&["chat"]).await;
    assert_eq!(
        asked(&scene, from(&first["id"])).await.error(),
        unknown,
        "of another key"
    );
    assert_eq!(scene.model.requests().len(), 3);
}

#[tokio::test]
async fn items_of_an_asker_that_keeps_its_own_history_are_read() {
    let scene = Scene::new(vec![calls(&[("look", "up"), ("mine", "a")]), says("Done")]).await;
    let first = asked(
        &scene,
        json!({"input": "go", "tools": mine(), "store": false}),
    )
    .await
    .json();
    let mut input = vec![json!({"role": "user", "content": "go"})];
    input.extend(first["output"].as_array().unwrap().iter().cloned());
    let call = &first["output"][0]["call_id"];
    input.push(json!({"type": "function_call_output", "call_id": call, "output": "ok"}));
    let second = asked(
        &scene,
        json!({"input": input, "tools": mine(), "store": false}),
    )
    .await;
    assert_eq!(second.json()["output"][0]["content"][0]["text"], "Done");
    assert_eq!(
        scene.model.last(),
        ["user: go", "assistant: ", "tool: saw up", "tool: ok"]
    );
}

#[tokio::test]
async fn what_is_not_known_is_refused() {
    let scene = Scene::new(Vec::new()).await;
    for (body, place) in [
        (json!({}), "input"),
        (json!({"input": []}), "input"),
        (
            json!({"input": [{"type": "item_reference", "id": "x"}]}),
            "input[0].type",
        ),
        (
            json!({"input": "x", "tools": [{"type": "web_search"}]}),
            "tools[0].type",
        ),
        (json!({"input": "x", "background": true}), "background"),
        (json!({"input": "x", "stream": "yes"}), "stream"),
    ] {
        let (status, _, param) = asked(&scene, body.clone()).await.error();
        assert_eq!((status, param), (400, json!(place)), "{body}");
    }
    let failed = asked(&scene, json!({"input": "x"})).await;
    assert_eq!(failed.error().0, 500, "the script has no answer");
}

#[tokio::test]
async fn a_stored_response_is_found_again_as_it_was_given() {
    let mut scene = Scene::new(vec![
        ModelReply {
            text: "Looking.".into(),
            reasoning: "Hm.".into(),
            ..calls(&[("say", "Said by a method."), ("mine", "a")])
        },
        says("unstored"),
    ])
    .await;
    let body = json!({
        "input": [{"role": "user", "content": [
            {"type": "input_text", "text": "go"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        ]}],
        "instructions": "Be kind.", "metadata": {"a": "b"}, "tools": mine(), "stream": true,
    });
    let told = asked(&scene, body).await.events();
    let given = &told.last().unwrap()["response"];
    let id = given["id"].as_str().unwrap();
    let path = format!("/v1/responses/{id}");
    let found = scene.get(&path).await.json();
    let mut differences = found.as_object().unwrap().iter();
    // The turn began a moment after the response.
    assert!(differences.all(|(name, it)| name == "created_at" || *it == given[name]));
    assert_eq!(found["output"].as_array().unwrap().len(), 3, "{found}");

    let again = scene.get(&format!("{path}?stream=true")).await.events();
    assert_eq!(again.last().unwrap()["response"]["output"], given["output"]);
    let later = format!("{path}?stream=true&starting_after=1");
    let later = scene.get(&later).await.events();
    assert_eq!(later[0]["sequence_number"], 2);
    assert_eq!(later[0]["type"], "response.output_item.added");

    let unstored = asked(&scene, json!({"input": "x", "store": false})).await;
    let unstored = unstored.json()["id"].as_str().unwrap().to_owned();
    let key = std::mem::take(&mut scene.key);
    for (mine, id) in [(true, unstored.as_str()), (true, "resp_1"), (false, id)] {
        if mine {
            scene.key.clone_from(&key)
        } else {
            drop(scene.takes_key(&["chat"]).await)
        }
        let (status, _, param) = scene.get(&format!("/v1/responses/{id}")).await.error();
        assert_eq!((status, param), (404, json!("response_id")), "{id}");
    }
}

#[tokio::test]
async fn what_a_response_was_made_from_is_listed_a_page_at_a_time() {
    let scene = Scene::new(vec![
        says("Hello Ann"),
        calls(&[("mine", "a")]),
        says("Done"),
    ])
    .await;
    let first = asked(&scene, json!({"input": "I am Ann"})).await.json();
    let body = json!({"input": "go", "previous_response_id": first["id"], "tools": mine()});
    let second = asked(&scene, body).await.json();
    let output = json!([{
        "type": "function_call_output", "call_id": second["output"][0]["call_id"], "output": "ok",
    }]);
    let body = json!({"input": output, "previous_response_id": second["id"]});
    let third = asked(&scene, body).await.json();
    let path = format!(
        "/v1/responses/{}/input_items",
        third["id"].as_str().unwrap()
    );
    let listed = scene.get(&format!("{path}?order=asc")).await.json();
    let items = listed["data"].as_array().unwrap();
    let kinds: Vec<&Json> = items.iter().map(|item| &item["type"]).collect();
    let (message, call) = ("message", "function_call");
    let all = [message, message, message, call, "function_call_output"];
    assert_eq!(kinds, all);
    assert_eq!(items[0]["content"][0]["text"], "I am Ann");
    assert_eq!(items[1], first["output"][0]);
    assert_eq!(
        (&items[4]["output"], &listed["has_more"]),
        (&json!("ok"), &json!(false))
    );

    let mut seen = Vec::new();
    let mut page = scene.get(&format!("{path}?limit=2")).await.json();
    loop {
        seen.extend(page["data"].as_array().unwrap().iter().rev().cloned());
        if page["has_more"] == false {
            break;
        }
        let after = page["last_id"].as_str().unwrap();
        let next = format!("{path}?limit=2&after={after}");
        page = scene.get(&next).await.json();
    }
    let ids: std::collections::BTreeSet<&str> = seen
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!((seen.len(), ids.len()), (5, 5));
    for wrong in ["limit=0", "limit=x", "order=up", "after=nothing"] {
        let refused = scene.get(&format!("{path}?{wrong}")).await.error();
        assert_eq!(refused.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_response_that_is_deleted_leaves_no_text() {
    let mut scene = Scene::new(vec![says("a secret"), says("more of it")]).await;
    let first = asked(&scene, json!({"input": "tell me the secret"}))
        .await
        .json();
    let body = json!({"input": "and?", "previous_response_id": first["id"]});
    let second = asked(&scene, body).await.json();
    let path = |response: &Json| format!("/v1/responses/{}", response["id"].as_str().unwrap());
    let own = scene.key.clone();
    scene.takes_key(&["chat"]).await;
    let deleted = scene.ask(&scene.address, "DELETE", &path(&first), "").await;
    assert_eq!(deleted.error().0, 404, "of another key");
    scene.key = own;
    let deleted = scene.ask(&scene.address, "DELETE", &path(&first), "").await;
    let told = json!({"id": first["id"], "object": "response", "deleted": true});
    assert_eq!(deleted.json(), told);
    for verb in ["GET", "DELETE"] {
        let gone = scene.ask(&scene.address, verb, &path(&first), "").await;
        assert_eq!(gone.error().0, 404, "{verb}");
    }
    assert_eq!(scene.get(&path(&second)).await.status, 200);
    let body = json!({"input": "go on", "previous_response_id": second["id"]});
    let lost = asked(&scene, body).await.error();
    assert_eq!(
        lost.1, "previous_response_not_found",
        "it went on from what is gone"
    );
    let turns = scene.turns().await;
    assert_eq!(turns[0].finish.as_ref().unwrap().report, Json::Null);
    let rounds = scene.store.turns().rounds(turns[0].start.id).await.unwrap();
    assert!(rounds[0].request.is_none());
    assert_eq!(rounds[0].answer.as_ref().unwrap().reply, Json::Null);
}

#[tokio::test]
async fn pictures_that_a_model_makes_are_items_and_go_back() {
    let url = "data:image/png;base64,AAAA".to_owned();
    let picture = Part::Image { url };
    let made = ModelReply {
        media: vec![picture.clone()],
        ..says("Here you are")
    };
    let scene = Scene::new(vec![made, says("A cat")]).await;
    let first = asked(&scene, json!({"input": "draw", "store": false})).await;
    let first = first.json();
    let item = &first["output"][1];
    assert_eq!(item["type"], "image_generation_call");
    assert_eq!(
        (&item["result"], &item["status"]),
        (&json!("AAAA"), &json!("completed"))
    );
    let mut input = first["output"].as_array().unwrap().clone();
    input.push(json!({"role": "user", "content": "what is it?"}));
    let second = asked(&scene, json!({"input": input, "store": false})).await;
    assert_eq!(second.json()["output"][0]["content"][0]["text"], "A cat");
    let request = scene.model.requests().pop().unwrap();
    let ModelMessage::Assistant { media, .. } = &request.messages[1] else {
        panic!("{request:?}")
    };
    assert_eq!(*media, [picture]);
}

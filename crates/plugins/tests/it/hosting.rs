//! What plugins ask of the host, as plugin code asks it.

use std::{sync::Arc, time::Duration};

use callgate_contract::{Kind, Part, Value, json};
use callgate_store::{Incoming, LogRole, Sender};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::scene::{Scene, session};

const ASKING: &str = "\
from callgate_worker import host
async def ask(name, arguments):
    return await host.call(name, **arguments)
async def ask_now(name, arguments):
    return host.call_now(name, **arguments)
async def items(name, upto):
    stream = host.stream(name)
    taken = []
    async for item in stream:
        taken.append(item)
        if len(taken) == upto:
            await stream.aclose()
            break
    return taken, stream.result
async def nested(depth):
    if depth == 0: return 0
    answer = await host.call('method_call', name='nested', positional=[depth - 1])
    return answer['value'] + 1
";

async fn scene() -> Scene {
    let scene = Scene::new().await;
    scene.load("asking", ASKING).await.unwrap();
    scene
}

async fn ask(scene: &Scene, name: &str, arguments: Json) -> Json {
    let arguments = json::from_json(arguments).unwrap();
    json::to_json(&scene.value("ask", vec![name.into(), arguments]).await)
}

async fn say(scene: &Scene, user: &str, text: &str) {
    let incoming = Incoming {
        session: session(),
        sender: Sender {
            id: user.to_owned(),
            name: user.to_uppercase(),
        },
        parts: vec![Part::text(text)],
        message_id: None,
        hidden: false,
        mentioned: true,
        sent_at: None,
    };
    scene.store.log().append_incoming(&incoming).await.unwrap();
}

#[tokio::test]
async fn conversations_and_personas() {
    let scene = scene().await;
    let umo = session().to_string();
    let none = ask(&scene, "conversation_current", json!({"session": umo})).await;
    assert_eq!(none, Json::Null);
    let history = json!([{"role": "user", "content": "hi"}]);
    let new = json!({"session": umo, "history": history, "title": "first", "persona": null});
    let id = ask(&scene, "conversation_new", new).await;
    assert_eq!(
        ask(&scene, "conversation_current", json!({"session": umo})).await,
        id
    );
    let pair = json!({"id": id, "user": {"role": "user", "content": "a"},
                      "assistant": {"role": "assistant", "content": "b"}});
    ask(&scene, "conversation_append_pair", pair).await;
    let found = ask(
        &scene,
        "conversation_get",
        json!({"session": null, "id": id}),
    )
    .await;
    assert_eq!(found["title"], "first");
    let messages: Json = serde_json::from_str(found["history"].as_str().unwrap()).unwrap();
    assert_eq!(messages.as_array().unwrap().len(), 3);
    let update = json!({"session": umo, "id": id, "history": "[]", "title": "second"});
    assert_eq!(
        ask(&scene, "conversation_update", update).await,
        json!(true)
    );
    let listed = ask(&scene, "conversation_list", json!({"session": umo})).await;
    assert_eq!(
        (&listed[0]["title"], &listed[0]["history"]),
        (&json!("second"), &json!("[]"))
    );
    ask(
        &scene,
        "conversation_delete",
        json!({"session": umo, "id": id}),
    )
    .await;
    let gone = ask(
        &scene,
        "conversation_get",
        json!({"session": umo, "id": id}),
    )
    .await;
    assert_eq!(gone, Json::Null);

    let cat =
        json!({"name": "cat", "system_prompt": "purr", "begin_dialogs": null, "methods": ["now"]});
    assert_eq!(
        ask(&scene, "persona_create", cat).await["methods"],
        json!(["now"])
    );
    ask(
        &scene,
        "persona_update",
        json!({"name": "cat", "system_prompt": "meow"}),
    )
    .await;
    let cat = ask(&scene, "persona_get", json!({"name": "cat"})).await;
    assert_eq!(
        (&cat["system_prompt"], &cat["methods"]),
        (&json!("meow"), &json!(["now"]))
    );
    let cat = ask(
        &scene,
        "persona_update",
        json!({"name": "cat", "methods": null}),
    )
    .await;
    assert_eq!(cat["methods"], Json::Null);
    assert_eq!(
        ask(&scene, "persona_default", json!({"session": umo})).await,
        "default"
    );
    assert_eq!(
        ask(&scene, "persona_get", json!({"name": "dog"})).await,
        Json::Null
    );
}

#[tokio::test]
async fn rows_under_upstreams_names() {
    let scene = scene().await;
    for (user, text) in [("u1", "one"), ("u2", "two"), ("u1", "three")] {
        say(&scene, user, text).await;
    }
    let session = session();
    let part = [Part::text("four")];
    scene
        .store
        .log()
        .append(&session, LogRole::Assistant, None, &part)
        .await
        .unwrap();
    let query = async |more: Json| {
        let mut asked = json!({"model": "chat_message", "verb": "list"});
        asked
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ask(&scene, "query", asked).await
    };
    let texts = |rows: &Json| -> Vec<String> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["content_text"].as_str().unwrap().to_owned())
            .collect()
    };
    let chat = session.chat_key();
    let newest = json!({"filters": {"chat_key": chat}, "order": ["-send_timestamp"], "limit": 2});
    assert_eq!(texts(&query(newest).await), ["four", "three"]);
    let of_ada =
        json!({"filters": {"chat_key": chat, "sender_id": "u1", "send_timestamp__gte": 0}});
    assert_eq!(texts(&query(of_ada).await), ["one", "three"]);
    let found =
        json!({"filters": {"content_text__icontains": "T"}, "excludes": [{"sender_id": "u2"}]});
    assert_eq!(texts(&query(found).await), ["three"]);
    let counted = query(json!({"verb": "count", "filters": {"sender_id": "-1"}})).await;
    assert_eq!(counted, json!(1));
    let row = query(json!({"verb": "first", "filters": {"content_text": "two"}})).await;
    assert_eq!(
        (&row["chat_type"], &row["sender_nickname"]),
        (&json!("private"), &json!("U2"))
    );
    let hidden = query(json!({"verb": "delete", "filters": {"id": row["id"]}})).await;
    assert_eq!(hidden, json!(1));
    assert_eq!(query(json!({"verb": "count"})).await, json!(3));

    let preset = json!({"model": "preset", "verb": "create",
                        "values": {"name": "cat", "content": "purr", "title": "The cat", "tags": "x"}});
    let preset = query(preset).await;
    assert_eq!(
        (&preset["title"], &preset["content"]),
        (&json!("The cat"), &json!("purr"))
    );
    scene.store.sessions().open(&session).await.unwrap();
    let channel = json!({"model": "chat_channel", "verb": "update", "filters": {"chat_key": chat},
                         "values": {"preset_id": preset["id"], "is_active": false, "data": "{\"a\":1}"}});
    assert_eq!(query(channel).await, json!(1));
    let channel =
        json!({"model": "chat_channel", "verb": "first", "filters": {"is_active": false}});
    let channel = query(channel).await;
    assert_eq!(
        (&channel["preset_id"], &channel["data"]),
        (&preset["id"], &json!("{\"a\":1}"))
    );
    let user =
        query(json!({"model": "user", "verb": "get", "filters": {"platform_userid": "u2"}})).await;
    assert_eq!(user["username"], "U2");
    for (asked, expect) in [
        (json!({"model": "secrets"}), "there is no table 'secrets'"),
        (json!({"verb": "drop"}), "a query cannot 'drop'"),
        (
            json!({"filters": {"id__regex": "1"}}),
            "a query cannot use the lookup 'regex'",
        ),
        (
            json!({"filters": {"colour": "1"}}),
            "there is no column 'colour'",
        ),
    ] {
        let mut arguments = json!({"model": "chat_message", "verb": "list"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(asked.as_object().unwrap().clone());
        let arguments = json::from_json(arguments).unwrap();
        let error = scene
            .call("ask", vec!["query".into(), arguments])
            .await
            .unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    }
}

#[tokio::test]
async fn folders_timers_and_preferences_also_from_synchronous_code() {
    let scene = scene().await;
    let now = async |name: &str, arguments: Json| {
        let arguments = json::from_json(arguments).unwrap();
        json::to_json(&scene.value("ask_now", vec![name.into(), arguments]).await)
    };
    let chat = session().chat_key();
    let folders = now("session_folders", json!({"session": chat})).await;
    assert!(std::path::Path::new(folders["shared"].as_str().unwrap()).is_dir());
    let set = json!({"scope": "umo", "scope_id": "a", "key": "k", "value": [1, {"b": null}]});
    now("preference_set", set).await;
    let got = now(
        "preference_get",
        json!({"scope": "umo", "scope_id": "a", "key": "k"}),
    )
    .await;
    assert_eq!(got, json!({"value": [1, {"b": null}]}));
    let timer = json!({"session": chat, "text": "wake up", "due": 4_000_000_000u64});
    let id = now("timer_set", timer).await;
    let listed = now("timer_list", json!({"session": chat})).await;
    assert_eq!(
        (&listed[0]["id"], &listed[0]["due"]),
        (&id, &json!(4_000_000_000u64))
    );
    assert_eq!(
        now("timer_cancel", json!({"session": chat, "id": id})).await,
        json!(true)
    );
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn a_stream_gives_items_as_they_are_wanted() {
    let scene = scene().await;
    let counted = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = counted.clone();
    let count = callgate_gate::method("count_up", Kind::Tool, move |call, _: Nothing| {
        let (peer, counter) = (call.peer.unwrap(), counter.clone());
        async move {
            for number in 0..5 {
                counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                peer.item(number.into()).await?;
            }
            Ok(Value::from("done"))
        }
    });
    scene.gate.register(Arc::new(count)).unwrap();
    let all = scene
        .value("items", vec!["count_up".into(), 100.into()])
        .await;
    let five = Value::List((0..5).map(Value::Int).collect());
    assert_eq!(all, Value::Tuple(vec![five, "done".into()]));
    counted.store(0, std::sync::atomic::Ordering::SeqCst);
    let two = scene
        .value("items", vec!["count_up".into(), 2.into()])
        .await;
    let taken = Value::List(vec![0.into(), 1.into()]);
    assert_eq!(two, Value::Tuple(vec![taken, Value::Null]));
    tokio::time::sleep(Duration::from_millis(100)).await;
    // One more may have been made, and waited for room.
    assert!(counted.load(std::sync::atomic::Ordering::SeqCst) <= 3);
}

#[tokio::test]
async fn calls_within_calls_wait_for_nothing_that_is_held() {
    let scene = scene().await;
    let nested = async |depth: i64| scene.value("nested", vec![depth.into()]).await;
    let (a, b, c) = tokio::join!(nested(5), nested(7), nested(3));
    assert_eq!((a, b, c), (5.into(), 7.into(), 3.into()));
}

#[tokio::test]
async fn a_host_method_asks_its_caller_back() {
    let scene = scene().await;
    let back = callgate_gate::method("back", Kind::Tool, |call, _: Nothing| async move {
        let peer = call.peer.unwrap();
        let arguments = vec![
            ("name".to_owned(), Value::from("echo")),
            ("x".to_owned(), 3.into()),
        ];
        peer.ask("hook", arguments).await
    });
    scene.gate.register(Arc::new(back)).unwrap();
    scene
        .load("echo", "async def on_echo(x): return x * 2\n")
        .await
        .unwrap();
    let answer = ask(&scene, "back", json!({})).await;
    assert_eq!(answer, json!([6]));
}

#[tokio::test]
async fn what_code_ran_is_listed_as_upstream_lists_it() {
    let scene = scene().await;
    let id = callgate_contract::JournalId::fresh();
    let start = callgate_store::RunStart {
        id,
        session: session(),
        principal: "cli:u1".parse().unwrap(),
        role: callgate_contract::Role::Member,
        surface: callgate_contract::Surface::Code,
        code: Some("print(1)".to_owned()),
        allowed: callgate_contract::Allowed::All,
        seed: [0; 16],
        turn: None,
    };
    scene.store.journal().begin(&start).await.unwrap();
    let report = json!({ "stdout": "1\n", "wall_ms": 12.4 });
    let stop = callgate_contract::Stop::Inspect;
    scene
        .store
        .journal()
        .finish(id, stop, &report)
        .await
        .unwrap();
    let mut asked = json!({ "model": "exec_code", "verb": "list", "filters": { "chat_key": "cli-private_u1" } });
    let rows = ask(&scene, "query", asked.clone()).await;
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(
        (&rows[0]["code_text"], &rows[0]["outputs"]),
        (&json!("print(1)"), &json!("1\n"))
    );
    assert_eq!(
        (&rows[0]["stop_type"], &rows[0]["success"]),
        (&json!(9), &json!(true))
    );
    asked["filters"] = json!({ "chat_key": "cli-private_u2" });
    assert_eq!(ask(&scene, "query", asked).await, json!([]));
}

#[tokio::test]
async fn methods_come_and_go_while_a_plugin_runs() {
    let scene = scene().await;
    let names = |listed: &Json| -> Vec<String> {
        let methods = listed["methods"].as_array().unwrap().iter();
        let own = methods.filter(|method| method["origin"] == "plugin:asking");
        own.map(|method| method["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let listed = ask(&scene, "method_list", json!({"version": null})).await;
    assert!(names(&listed).contains(&"items".to_owned()), "{listed}");
    let known = json!({"version": listed["version"]});
    let unchanged = ask(&scene, "method_list", known.clone()).await;
    assert_eq!(unchanged, Json::Null);

    let method = |name: &str| {
        json!({
            "name": name, "aliases": [], "title": name, "description": "", "doc": "",
            "parameters": {"type": "object", "properties": {"name": {}, "arguments": {}}},
            "returns": "Any", "kind": "tool", "effect": "effectful", "exposure": {},
            "deadline": null, "binding": "loose",
        })
    };
    let offer = json!({"plugin": "asking", "methods": [method("ask"), method("later")]});
    assert_eq!(ask(&scene, "plugin_methods", offer).await, json!(true));
    let listed = ask(&scene, "method_list", known).await;
    assert_eq!(names(&listed), ["ask", "later"]);
    assert!(scene.gate.find("items").is_none());
    let other = json!({"plugin": "of_another_worker", "methods": []});
    assert_eq!(ask(&scene, "plugin_methods", other).await, json!(false));
}

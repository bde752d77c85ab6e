//! Timers of plugins: kept by the host, told to the plugin, on record; and what workers are told when
//! the host's settings change.

use std::time::Duration;

use callgate_contract::{Value, json};
use callgate_store::DataKey;
use serde_json::{Value as Json, json};

use crate::scene::{Scene, session};

const WAITING: &str = "\
from callgate_worker import host
async def ask(name, arguments):
    return await host.call(name, **arguments)
async def on_timer(name, payload, session, missed, **_):
    word = f'{name} {payload[\"n\"]} {session} {missed}'
    await host.call('data_set', plugin='waiting', chat='', user='', name=name, value=word)
async def on_settings(told):
    names = ','.join(it['name'] for it in told['personas'])
    await host.call('data_set', plugin='waiting', chat='', user='', name='personas', value=names)
";

async fn ask(scene: &Scene, name: &str, arguments: Json) -> Json {
    let arguments = json::from_json(arguments).unwrap();
    json::to_json(&scene.value("ask", vec![name.into(), arguments]).await)
}

/// Waits until the plugin has kept this under `name`.
async fn kept(scene: &Scene, name: &str, expected: &str) {
    let mut seen = None;
    for _ in 0..600 {
        let key = DataKey {
            plugin: "waiting".to_owned(),
            chat: String::new(),
            user: String::new(),
            name: name.to_owned(),
        };
        seen = scene.store.plugin_data().get(&key).await.unwrap();
        if seen.as_deref() == Some(expected) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{name} is {seen:?}, not {expected:?}");
}

#[tokio::test]
async fn a_timer_of_a_plugin_comes_due_also_when_its_worker_was_down() {
    let scene = Scene::new().await;
    scene.load("waiting", WAITING).await.unwrap();
    let set = json!({
        "name": "tea", "payload": { "n": 3 }, "due": 1000.5, "session": "cli-private_u1",
        "text": "tea is ready",
    });
    let id = ask(&scene, "timer_set", set).await;
    let listed = ask(&scene, "timer_list", json!({ "name": "tea" })).await;
    assert_eq!(listed[0]["id"], id);
    assert_eq!(listed[0]["plugin"], "waiting");
    assert_eq!(
        (&listed[0]["due"], &listed[0]["payload"]),
        (&json!(1000.5), &json!({ "n": 3 }))
    );
    let daily =
        json!({ "name": "daily", "payload": { "n": 1 }, "cron": "0 8 * * *", "timezone": "UTC" });
    let daily = ask(&scene, "timer_set", daily).await;

    // Its process is gone, and nobody has asked for another.
    scene.plugins.worker("probe").unwrap().stop().await;
    assert!(!scene.plugins.worker("probe").unwrap().is_running());
    let plugins = scene.plugins.clone();
    let clock = tokio::spawn(async move { plugins.keep_time(std::future::pending()).await });
    kept(&scene, "tea", &format!("tea 3 {} True", session())).await;
    clock.abort();

    let left = ask(&scene, "timer_list", json!({ "name": "tea" })).await;
    assert_eq!(left, json!([]));
    let left = ask(&scene, "timer_list", json!({ "name": "daily" })).await;
    assert_eq!(left[0]["session"], "plugin:OtherMessage:waiting");
    assert_eq!(
        ask(&scene, "timer_cancel", json!({ "id": daily })).await,
        true
    );
    assert_eq!(
        ask(&scene, "timer_cancel", json!({ "id": daily })).await,
        false
    );
}

#[tokio::test]
async fn a_timer_needs_a_time_that_comes() {
    let scene = Scene::new().await;
    scene.load("waiting", WAITING).await.unwrap();
    for (given, reason) in [
        (json!({ "name": "x" }), "`due` or `cron`"),
        (
            json!({ "name": "x", "cron": "61 * * * *" }),
            "'61' is no minute",
        ),
        (
            json!({ "name": "x", "cron": "* * * * *", "timezone": "Mars" }),
            "no time zone",
        ),
        (json!({ "text": "x" }), "`session`, `due`"),
    ] {
        let given = json::from_json(given).unwrap();
        let refused = scene.call("ask", vec!["timer_set".into(), given]).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}

#[tokio::test]
async fn workers_are_told_what_changes_in_the_host() {
    let scene = Scene::new().await;
    scene.load("waiting", WAITING).await.unwrap();
    let plugins = scene.plugins.clone();
    let clock = tokio::spawn(async move { plugins.keep_time(std::future::pending()).await });
    let persona = json!({ "name": "cat", "system_prompt": "You are a cat." });
    ask(&scene, "persona_create", persona).await;
    let mut now = Vec::new();
    for persona in ask(&scene, "persona_list", json!({}))
        .await
        .as_array()
        .unwrap()
    {
        now.push(persona["name"].as_str().unwrap().to_owned());
    }
    kept(&scene, "personas", &now.join(",")).await;
    clock.abort();
}

#[tokio::test]
async fn what_plugins_do_by_themselves_is_on_record() {
    let scene = Scene::new().await;
    scene.load("waiting", WAITING).await.unwrap();
    let worker = scene.plugins.worker_of("waiting").unwrap();
    let (tell, told) = tokio::sync::oneshot::channel();
    let work = |caller: callgate_contract::Caller| async move {
        let _ = tell.send(caller);
        Ok(Value::Int(200))
    };
    let shown = vec![("path".to_owned(), Value::from("/waiting/page"))];
    let done = scene
        .plugins
        .on_record(&worker, "waiting", "route", shown, work)
        .await;
    assert_eq!(done, Ok(Value::Int(200)));
    let caller = told.await.unwrap();
    assert_eq!(caller.principal.user(), "plugin:waiting");
    let [recorded] = scene.recorded(caller.journal).await.try_into().unwrap();
    assert_eq!(recorded.intent.method, "plugin:waiting/route");
}

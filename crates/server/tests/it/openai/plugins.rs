//! Keys that plugins are lent.

use std::sync::Arc;

use callgate_agent::CostReport;
use callgate_contract::{
    Arguments, Caller, Grant, JournalId, Origin, Principal, Role, Surface, json as value_json,
};
use callgate_store::CostBy;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::scene::{Scene, says};

fn caller(user: &str, surface: Surface) -> Caller {
    Caller {
        session: format!("plugin:OtherMessage:{user}").parse().unwrap(),
        principal: Principal::Plugin(user.to_owned()),
        role: Role::Member,
        surface,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant::everything()),
    }
}

async fn gateway(scene: &Scene, caller: &Caller) -> Json {
    let nothing = Arguments {
        positional: Vec::new(),
        named: Vec::new(),
    };
    let lent = scene.gate.call(caller, 1, "model_gateway", nothing).await;
    value_json::to_json(&lent.unwrap().value)
}

#[tokio::test]
async fn a_plugin_asks_models_by_a_key_of_ours() {
    let mut scene = Scene::new(vec![says("one"), says("two"), says("three")]).await;
    scene
        .gate
        .register(Arc::new(scene.openai.gateway()))
        .unwrap();
    let nekro = caller("nekro", Surface::Plugin);
    let lent = gateway(&scene, &nekro).await;
    assert_eq!(lent["model"], "first");
    assert_eq!(
        lent,
        gateway(&scene, &nekro).await,
        "the same as long as it lives"
    );
    let other = gateway(&scene, &caller("astrbot", Surface::Plugin)).await;
    assert_eq!(lent["base_url"], other["base_url"]);
    assert_ne!(lent["key"], other["key"]);

    let url = lent["base_url"].as_str().unwrap();
    let address = url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    let refused = scene.ask(address, "GET", "/v1/models", "").await;
    assert_eq!(refused.status, 401, "other keys open other listeners");
    scene.key = lent["key"].as_str().unwrap().to_owned();
    let main = scene.address.clone();
    let refused = scene.ask(&main, "GET", "/v1/models", "").await;
    assert_eq!(refused.status, 401, "and a lent one this listener alone");
    let messages = json!([{"role": "user", "content": "hi"}]);
    for (model, answer) in [
        ("first", "one"),
        ("gpt-test", "two"),
        ("model/second", "three"),
    ] {
        let body = json!({"model": model, "messages": messages}).to_string();
        let asked = scene
            .ask(address, "POST", "/v1/chat/completions", &body)
            .await;
        assert_eq!(asked.json()["choices"][0]["message"]["content"], answer);
    }
    let body = json!({"model": "default", "messages": messages}).to_string();
    let asked = scene
        .ask(address, "POST", "/v1/chat/completions", &body)
        .await;
    assert_eq!(asked.error().0, 403, "personas are none of its business");
    assert_eq!(scene.ask(address, "GET", "/api/keys", "").await.status, 404);
    let turns = scene.turns().await;
    assert_eq!(turns.len(), 3);
    for turn in turns {
        assert_eq!(turn.start.principal.user(), "plugin:nekro");
        assert_eq!(turn.start.session, nekro.session);
    }
    assert!(
        scene
            .model
            .requests()
            .iter()
            .all(|request| request.tools.is_empty())
    );
}

/// As plugin code calls within a call of somebody's.
fn within(plugin: &str) -> Caller {
    Caller {
        principal: "cli:ann".parse().unwrap(),
        session: "cli:FriendMessage:ann".parse().unwrap(),
        ..caller(plugin, Surface::Plugin)
    }
    .within(format!("plugin:{plugin}"), Some("method"))
}

#[tokio::test]
async fn each_plugin_pays_for_itself_until_it_is_unloaded() {
    let mut scene = Scene::new(vec![says("one"), says("two"), says("three")]).await;
    scene
        .gate
        .register(Arc::new(scene.openai.gateway()))
        .unwrap();
    let (one, other) = (within("one"), within("other"));
    let lent = [gateway(&scene, &one).await, gateway(&scene, &other).await];
    assert_ne!(
        lent[0]["key"], lent[1]["key"],
        "for one user in one session"
    );
    let url = lent[0]["base_url"].as_str().unwrap().to_owned();
    let address = url
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    let body = json!({"model": "first", "messages": [{"role": "user", "content": "hi"}]});
    let body = body.to_string();
    let path = "/v1/chat/completions";
    let mut statuses = Vec::new();
    for key in [&lent[0], &lent[0], &lent[1]] {
        scene.key = key["key"].as_str().unwrap().to_owned();
        statuses.push(scene.ask(address, "POST", path, &body).await.status);
    }
    assert_eq!(statuses, [200; 3]);
    let spent = CostReport::of(&scene.store, CostBy::Plugin, Timestamp::UNIX_EPOCH).await;
    let mut spent: Vec<_> = spent
        .unwrap()
        .rows
        .into_iter()
        .map(|line| (line.key, line.sum.requests))
        .collect();
    spent.sort();
    let key = |name: &str| Some(format!("plugin:{name}"));
    assert_eq!(spent, [(key("one"), 2), (key("other"), 1)]);

    let origin = Origin::Plugin("one".into());
    scene.gate.unregister_origin(&origin);
    for (lent, status) in [(&lent[0], 401), (&lent[1], 200)] {
        scene.key = lent["key"].as_str().unwrap().to_owned();
        let models = scene.ask(address, "GET", "/v1/models", "").await;
        assert_eq!(models.status, status);
    }
    let anew = gateway(&scene, &one).await;
    assert_ne!(anew["key"], lent[0]["key"]);
}

#[tokio::test]
async fn nobody_but_plugins_is_lent_one() {
    let scene = Scene::new(Vec::new()).await;
    scene
        .gate
        .register(Arc::new(scene.openai.gateway()))
        .unwrap();
    for surface in [Surface::Code, Surface::ToolCall, Surface::Remote] {
        let nothing = Arguments {
            positional: Vec::new(),
            named: Vec::new(),
        };
        let caller = caller("x", surface);
        let asked = scene.gate.call(&caller, 1, "model_gateway", nothing);
        assert!(asked.await.is_err(), "{surface:?}");
    }
}

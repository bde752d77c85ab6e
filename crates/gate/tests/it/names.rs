//! Registration, precedence, spellings, exposure and grants.

use std::{sync::Arc, time::Instant};

use callgate_contract::{Exposure, Grant, Method, Origin, Surface, Value};
use callgate_gate::{CallError, InvalidMethod};
use serde_json::json;

use crate::scene::{Scene, answering, caller, only};

fn plugin(id: &str) -> Origin {
    Origin::Plugin(id.to_owned())
}

fn client(id: &str) -> Origin {
    Origin::Client(id.to_owned())
}

async fn value(scene: &Scene, sequence: u64, name: &str) -> Value {
    scene.call(sequence, name).await.unwrap().value
}

#[tokio::test]
async fn a_bare_name_means_the_origin_of_highest_precedence() {
    let scene = Scene::new().await;
    // Lowest first, so that order of registration cannot be what decides.
    for (sequence, (origin, text)) in [
        (client("c"), "client"),
        (Origin::Agent("a".into()), "agent"),
        (Origin::Mcp("m".into()), "mcp"),
        (Origin::Builtin, "builtin"),
        (plugin("p"), "plugin"),
    ]
    .into_iter()
    .enumerate()
    {
        scene.add(answering("f", text).from(origin));
        assert_eq!(value(&scene, sequence as u64, "f").await, text.into());
    }
    scene.add(answering("f", "late client").from(client("z")));
    assert_eq!(value(&scene, 10, "f").await, "plugin".into());
}

#[tokio::test]
async fn every_method_is_reachable_in_full() {
    let scene = Scene::new().await;
    scene
        .add(answering("f", "builtin"))
        .add(answering("f", "plugin").from(plugin("my-plugin.v2")))
        .add(answering("builtin__f", "impostor").from(client("c")));
    for (sequence, (name, expect)) in [
        ("f", "plugin"),
        ("builtin/f", "builtin"),
        ("builtin__f", "builtin"),
        ("plugin:my-plugin.v2/f", "plugin"),
        ("plugin_my_plugin_v2__f", "plugin"),
        ("client:c/builtin__f", "impostor"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            value(&scene, sequence as u64, name).await,
            expect.into(),
            "{name}"
        );
    }
    assert!(scene.gate.find("plugin:other/f").is_none());
}

#[tokio::test]
async fn the_same_origin_and_name_replaces() {
    let scene = Scene::new().await;
    let first: Arc<dyn Method> = Arc::new(answering("f", "first"));
    assert!(scene.gate.register(first.clone()).unwrap().is_none());
    let replaced = scene
        .gate
        .register(Arc::new(answering("f", "second")))
        .unwrap();
    assert!(Arc::ptr_eq(&replaced.unwrap(), &first));
    assert_eq!(value(&scene, 1, "f").await, "second".into());
}

#[tokio::test]
async fn an_origin_leaves_and_what_it_hid_is_back() {
    let scene = Scene::new().await;
    scene
        .add(answering("f", "builtin"))
        .add(answering("f", "plugin").from(plugin("p")))
        .add(answering("g", "plugin").from(plugin("p")));
    assert_eq!(scene.gate.unregister_origin(&plugin("p")), 2);
    assert_eq!(value(&scene, 1, "f").await, "builtin".into());
    for name in ["g", "plugin:p/g", "plugin_p__f"] {
        assert!(scene.gate.find(name).is_none(), "{name}");
    }
    assert_eq!(scene.gate.unregister_origin(&plugin("p")), 0);
}

#[tokio::test]
async fn what_cannot_be_a_method_is_refused() {
    let scene = Scene::new().await;
    for name in ["", "a-b", "class", "a.b", "1st"] {
        let refused = scene.gate.register(Arc::new(answering(name, "")));
        assert!(matches!(refused, Err(InvalidMethod::Name { .. })), "{name}");
    }
    for parameters in [
        json!([]),
        json!({"type": "nonsense"}),
        json!({"properties": {"a": {"$ref": "https://example.com/schema"}}}),
        // Backtracking, which could run for ever on a chosen text.
        json!({"properties": {"a": {"pattern": "(a+)+\\1$"}}}),
    ] {
        let refused = scene
            .gate
            .register(Arc::new(answering("f", "").taking(parameters)));
        assert!(matches!(refused, Err(InvalidMethod::Schema { .. })));
    }
}

#[tokio::test]
async fn exposure_admits_each_surface_by_itself() {
    let scene = Scene::new().await;
    let none = Exposure {
        code: false,
        tool_calls: false,
        remote: false,
        plugins: false,
    };
    for (name, exposure) in [
        ("for_code", Exposure { code: true, ..none }),
        (
            "for_tools",
            Exposure {
                tool_calls: true,
                ..none
            },
        ),
        (
            "for_remote",
            Exposure {
                remote: true,
                ..none
            },
        ),
        (
            "for_plugins",
            Exposure {
                plugins: true,
                ..none
            },
        ),
    ] {
        let mut method = answering(name, name);
        method.info.exposure = exposure;
        scene.add(method);
    }
    for (surface, admitted) in [
        (Surface::Code, "for_code"),
        (Surface::ToolCall, "for_tools"),
        (Surface::Remote, "for_remote"),
        (Surface::Plugin, "for_plugins"),
    ] {
        let caller = caller(surface, Grant::everything());
        let names = names(&scene, &caller);
        assert_eq!(names, [admitted]);
        for (sequence, name) in ["for_code", "for_tools", "for_remote", "for_plugins"]
            .iter()
            .enumerate()
        {
            let result = scene
                .gate
                .call(&caller, sequence as u64, name, Default::default())
                .await;
            if *name == admitted {
                assert!(result.is_ok())
            } else {
                assert!(matches!(result, Err(CallError::NotExposed { .. })))
            }
        }
    }
}

fn names(scene: &Scene, caller: &callgate_contract::Caller) -> Vec<String> {
    let catalogue = scene.gate.catalogue(caller);
    catalogue
        .iter()
        .map(|method| method.info().name.clone())
        .collect()
}

#[tokio::test]
async fn a_grant_holds_the_methods_its_names_mean() {
    let scene = Scene::new().await;
    scene
        .add(answering("b", "builtin"))
        .add(answering("a", "builtin"))
        .add(answering("b", "client").from(client("c")))
        .add(answering("d", "client").from(client("c")));
    let check = async |granted: &[&str], usable: &[&str], listed: &[&str]| {
        let caller = caller(Surface::Code, only(granted));
        let all = ["a", "b", "d", "builtin/b", "client:c/b", "client_c__d"];
        for (sequence, name) in all.into_iter().enumerate() {
            let result = scene
                .gate
                .call(&caller, sequence as u64, name, Default::default())
                .await;
            if usable.contains(&name) {
                assert!(result.is_ok(), "{granted:?} {name}")
            } else {
                assert!(
                    matches!(result, Err(CallError::NotGranted { .. })),
                    "{granted:?} {name}"
                )
            }
        }
        assert_eq!(names(&scene, &caller), listed);
    };
    check(&["b"], &["b", "builtin/b"], &["b"]).await;
    check(&["builtin/b", "a"], &["a", "b", "builtin/b"], &["a", "b"]).await;
    check(&["client:c/b"], &["client:c/b"], &[]).await;
    check(&["client_c__d"], &["d", "client_c__d"], &["d"]).await;
    check(&[], &[], &[]).await;
    let everything = caller(Surface::Code, Grant::everything());
    assert_eq!(names(&scene, &everything), ["a", "b", "d"]);
}

#[tokio::test]
async fn an_expired_grant_holds_nothing() {
    let scene = Scene::new().await;
    scene.add(answering("f", "never"));
    let grant = Grant {
        expires: Some(Instant::now()),
        others: Arc::default(),
        ..Grant::everything()
    };
    let result = scene
        .gate
        .call(&caller(Surface::Code, grant), 1, "f", Default::default())
        .await;
    assert!(matches!(result, Err(CallError::Expired { .. })));
}

#[tokio::test]
async fn an_unknown_name_suggests_what_the_caller_may_use() {
    let scene = Scene::new().await;
    scene
        .add(answering("send_message", ""))
        .add(answering("send_messages", ""))
        .add(answering("now", ""));
    let caller = caller(Surface::Code, only(&["send_message", "now"]));
    let result = scene
        .gate
        .call(&caller, 1, "send_mesage", Default::default())
        .await;
    assert_eq!(
        result.unwrap_err().to_string(),
        "no method 'send_mesage'; did you mean send_message?"
    );
    let result = scene.gate.call(&caller, 2, "xyz", Default::default()).await;
    assert_eq!(result.unwrap_err().to_string(), "no method 'xyz'");
}

#[tokio::test]
async fn who_lists_everything_finds_each_under_a_name_that_means_it() {
    let scene = Scene::new().await;
    scene
        .add(answering("f", "plugin").from(plugin("p")))
        .add(answering("f", "builtin"))
        .add(answering("g", "builtin"));
    let named = scene.gate.named(&scene.caller);
    let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["builtin__f", "f", "g"]);
    for (name, method) in &named {
        let found = scene.gate.find(name).unwrap();
        assert!(Arc::ptr_eq(&found, method), "{name}");
    }
    let one = caller(Surface::Code, only(&["builtin/f"]));
    let named = scene.gate.named(&one);
    let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["builtin__f"], "what is not granted is not listed");
}

#[tokio::test]
async fn an_origins_methods_are_replaced_at_once_and_others_are_told() {
    let scene = Scene::new().await;
    let origin = Origin::Mcp("m".into());
    let mut changes = scene.gate.changes();
    let methods = |names: &[&str]| -> Vec<Arc<dyn Method>> {
        let from = |name: &&str| answering(name, "x").from(Origin::Mcp("m".into()));
        let methods = names.iter().map(from);
        methods
            .map(|method| Arc::new(method) as Arc<dyn Method>)
            .collect()
    };
    assert!(
        scene
            .gate
            .replace_origin(&origin, methods(&["a", "b"]))
            .is_empty()
    );
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    let refused = scene
        .gate
        .replace_origin(&origin, methods(&["b", "no name"]));
    assert_eq!(refused.len(), 1);
    assert!(changes.has_changed().unwrap());
    let found = |name: &str| scene.gate.find(name).is_some();
    assert!(!found("a") && found("b") && !found("no name"));
}

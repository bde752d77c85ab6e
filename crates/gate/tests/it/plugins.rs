//! What is particular to plugins: loose binding, further names, leaf methods, calls of their code, and
//! methods that are in no registry.

use std::sync::Arc;

use callgate_contract::{
    Arguments, Binding, BoxFuture, CallContext, Caller, Effect, Exposure, Grant, Method,
    MethodError, MethodInfo, Origin, Peer, Reply, Surface, Value,
};
use callgate_gate::{AdHoc, CallError, CallRequest, PluginCallContext};
use serde_json::json;

use crate::scene::{Closure, Scene, answering, only};

fn caller() -> Caller {
    crate::scene::caller(Surface::Code, Grant::everything())
}

/// Gives back what it was given.
struct Loose(MethodInfo);

impl Method for Loose {
    fn info(&self) -> &MethodInfo {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _: CallContext<'a>,
        _: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async { Err(MethodError::new("it binds loosely")) })
    }

    fn call_loosely<'a>(
        &'a self,
        _: CallContext<'a>,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        let named = arguments.named.into_iter();
        let named = named
            .map(|(name, value)| (Value::Str(name), value))
            .collect();
        let given = Value::Tuple(vec![Value::List(arguments.positional), Value::Dict(named)]);
        Box::pin(async { Ok(given.into()) })
    }
}

fn loose(name: &str, aliases: &[&str]) -> Loose {
    let mut method = answering(name, "").from(Origin::Plugin("p".into()));
    method.info.binding = Binding::Loose;
    method.info.aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
    method.info.parameters = json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]});
    Loose(method.info)
}

fn request(name: &str, arguments: Arguments) -> CallRequest<'_> {
    CallRequest::new(1, name, arguments)
}

#[tokio::test]
async fn loose_methods_get_what_was_written() {
    let scene = Scene::new().await;
    scene.gate.register(Arc::new(loose("f", &[]))).unwrap();
    let arguments = Arguments {
        positional: vec!["not an integer".into(), 2.into()],
        named: vec![("b".to_owned(), Value::Null)],
    };
    let outcome = scene.gate.call(&caller(), 1, "f", arguments).await.unwrap();
    let named = Value::Dict(vec![("b".into(), Value::Null)]);
    let positional = Value::List(vec!["not an integer".into(), 2.into()]);
    assert_eq!(outcome.value, Value::Tuple(vec![positional, named]));
}

#[tokio::test]
async fn limits_hold_for_loose_methods_too() {
    let scene = Scene::new().await;
    scene.gate.register(Arc::new(loose("f", &[]))).unwrap();
    let large = Arguments {
        positional: vec![Value::Bytes(vec![0; 9 << 20])],
        named: Vec::new(),
    };
    let error = scene.gate.call(&caller(), 1, "f", large).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("argument '1': the arguments exceed 8 MB"),
        "{error}"
    );
    let record = Arguments {
        positional: vec![Value::Record {
            class: "City".into(),
            fields: Vec::new(),
        }],
        named: Vec::new(),
    };
    let error = scene
        .gate
        .call(&caller(), 2, "f", record)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("cannot pass a 'City'"),
        "{error}"
    );
}

#[tokio::test]
async fn a_further_name_counts_where_it_is_free() {
    let scene = Scene::new().await;
    let names = ["draw", "now", "not a name", "class"];
    scene
        .gate
        .register(Arc::new(loose("make_picture", &names)))
        .unwrap();
    scene.add(answering("now", "noon"));
    let found = |name: &str| {
        scene
            .gate
            .find(name)
            .map(|method| method.info().name.clone())
    };
    assert_eq!(found("draw").as_deref(), Some("make_picture"));
    assert_eq!(found("now").as_deref(), Some("now"));
    assert_eq!(found("not a name"), None);
    let code = caller();
    let stubs: Vec<String> = scene
        .gate
        .stubs(&code)
        .into_iter()
        .map(|stub| stub.name)
        .collect();
    assert_eq!(stubs, ["draw", "make_picture", "now"]);
    let listed = scene.gate.catalogue(&code);
    let listed: Vec<&str> = listed
        .iter()
        .map(|method| method.info().name.as_str())
        .collect();
    assert_eq!(listed, ["make_picture", "now"]);
    // Registered again with other names, the old ones are gone; so they are with their origin.
    scene
        .gate
        .register(Arc::new(loose("make_picture", &["paint"])))
        .unwrap();
    assert_eq!(
        (found("draw"), found("paint").as_deref()),
        (None, Some("make_picture"))
    );
    assert_eq!(scene.gate.unregister_origin(&Origin::Plugin("p".into())), 1);
    assert_eq!(found("paint"), None);
}

fn plugin() -> Caller {
    Caller {
        surface: Surface::Plugin,
        ..caller()
    }
}

fn deaf() -> Peer {
    Peer::new(|_| Box::pin(async { Err(MethodError::new("nobody")) }))
}

#[tokio::test]
async fn while_a_loop_stands_still_only_leaf_methods_answer() {
    let scene = Scene::new().await;
    let mut leaf: Closure = answering("leaf", "at once");
    leaf.info.leaf = true;
    scene.add(leaf).add(answering("slow", ""));
    let peer = deaf();
    let way = PluginCallContext {
        peer: &peer,
        blocking: true,
    };
    let call = async |name: &str| {
        let request = request(name, Arguments::default());
        scene
            .gate
            .dispatch_from_plugin(&plugin(), request, way)
            .await
    };
    assert_eq!(call("leaf").await.unwrap().value, "at once".into());
    assert!(matches!(call("slow").await, Err(CallError::NotLeaf { .. })));
}

#[tokio::test]
async fn what_plugin_code_calls_is_recorded_where_it_has_effects() {
    let scene = Scene::new().await;
    scene
        .add(answering("look", 1))
        .add(answering("act", 2).effect(Effect::Effectful));
    let (caller, peer) = (plugin(), deaf());
    let way = PluginCallContext {
        peer: &peer,
        blocking: false,
    };
    for name in ["look", "act"] {
        let request = request(name, Arguments::default());
        scene
            .gate
            .dispatch_from_plugin(&caller, request, way)
            .await
            .unwrap();
    }
    let recorded = scene
        .store
        .journal()
        .recorded(caller.journal)
        .await
        .unwrap();
    let [act] = recorded.as_slice() else {
        panic!("{recorded:?}")
    };
    assert_eq!(act.intent.method, "builtin/act");
}

#[tokio::test]
async fn plugin_code_holds_what_the_host_offers_and_else_what_its_user_holds() {
    let scene = Scene::new().await;
    let mut host: Closure = answering("host_only", 1);
    host.info.exposure = Exposure::PLUGINS;
    scene
        .add(host)
        .add(answering("other", 2))
        .add(answering("granted", 3));
    let caller = Caller {
        surface: Surface::Plugin,
        ..crate::scene::caller(Surface::Code, only(&["granted"]))
    };
    let call = async |name: &str| {
        scene
            .gate
            .call(&caller, 1, name, Arguments::default())
            .await
    };
    assert!(call("host_only").await.is_ok());
    assert!(call("granted").await.is_ok());
    assert!(matches!(
        call("other").await,
        Err(CallError::NotGranted { .. })
    ));
    // The user's own code does not see it.
    let code = Caller {
        surface: Surface::Code,
        ..caller.clone()
    };
    let refused = scene
        .gate
        .call(&code, 2, "host_only", Arguments::default())
        .await;
    assert!(matches!(refused, Err(CallError::NotExposed { .. })));
}

#[tokio::test]
async fn a_method_in_no_registry_is_called_by_whoever_holds_it() {
    let scene = Scene::new().await;
    let tool = AdHoc::new(Arc::new(loose("ad_hoc", &[]))).unwrap();
    assert!(scene.gate.find("ad_hoc").is_none());
    let caller = caller();
    let call = request("whatever", Arguments::default());
    let outcome = scene
        .gate
        .dispatch_ad_hoc(&caller, call, &tool)
        .await
        .unwrap();
    assert!(matches!(outcome.value, Value::Tuple(_)));
    let recorded = scene
        .store
        .journal()
        .recorded(caller.journal)
        .await
        .unwrap();
    assert_eq!(recorded[0].intent.method, "plugin:p/ad_hoc");
}

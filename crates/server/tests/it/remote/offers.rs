//! Functions that clients offer become methods, for as long as they are there and for whom.

use std::sync::Arc;

use callgate_contract::{
    Arguments, Caller, Grant, JournalId, Kind, Onlooker, Origin, Principal, Progress, Role,
    SessionKey, Surface, Value,
};
use callgate_gate::CallRequest;
use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

fn caller(principal: &Principal, role: Role, surface: Surface) -> Caller {
    Caller {
        session: "remote:FriendMessage:x".parse::<SessionKey>().unwrap(),
        principal: principal.clone(),
        role,
        surface,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant::everything()),
    }
}

fn offer(name: &str) -> Json {
    json!({
        "name": name,
        "description": "Adds.",
        "parameters": { "properties": { "a": { "type": "number" }, "b": { "type": "number" } } },
        "kind": "tool",
    })
}

fn arguments(values: &[i64]) -> Arguments {
    Arguments {
        positional: values.iter().map(|value| Value::from(*value)).collect(),
        named: Vec::new(),
    }
}

/// Code of the client's own user.
fn user_of(scene: &Scene, client: &str) -> Caller {
    let user = scene.remote.roster().of("/function_call", client)[0].principal();
    caller(&user, Role::Member, Surface::Code)
}

/// Answers one call as `add` would.
async fn add(client: &mut Client) {
    let (event, data, id) = client.event().await;
    assert_eq!(event, "FUNCTION_CALL");
    let sum: i64 = data[0]["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_i64().unwrap())
        .sum();
    assert_eq!(data[0]["target"], "adder");
    let answer = json!({ "requestId": data[0]["requestId"], "success": true, "result": sum });
    client.answer(id.unwrap(), answer).await;
}

#[tokio::test]
async fn code_and_tools_of_the_clients_own_user_can_call_them_and_nobody_else() {
    let scene = Scene::new().await;
    let mut client = scene.client("adder").await;
    let ack = client
        .ask(
            "REGISTER_FUNCTIONS",
            &[json!({ "functions": [offer("plus")] })],
        )
        .await;
    assert_eq!(ack["result"]["registered"], json!(["plus"]), "{ack}");
    let own = scene.remote.roster().of("/function_call", "adder")[0].principal();
    let namesake = Principal::Person {
        platform: "web".to_owned(),
        account: own.user().into_owned(),
    };
    for (user, role, sees) in [
        (&own, Role::Member, true),
        (&Principal::Operator, Role::Operator, false),
        (&namesake, Role::Member, false),
    ] {
        for surface in [Surface::Code, Surface::ToolCall, Surface::Remote] {
            let caller = caller(user, role, surface);
            let catalogue = scene.gate.catalogue(&caller);
            let listed = catalogue.iter().find(|method| method.info().name == "plus");
            assert_eq!(listed.is_some(), sees, "{user:?} {surface:?}");
            let calling = scene.gate.call(&caller, 1, "plus", arguments(&[1, 2]));
            if !sees {
                assert!(calling.await.is_err());
                continue;
            }
            let (made, ()) = tokio::join!(calling, add(&mut client));
            assert_eq!(made.unwrap().value, Value::Int(3));
            let info = listed.unwrap().info();
            assert_eq!(
                (info.kind, &info.origin),
                (Kind::Tool, &Origin::Client("adder".into()))
            );
        }
    }
    drop(client);
    let own = caller(&own, Role::Member, Surface::Code);
    while scene.gate.find_for(&own, "plus").is_some() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_client_takes_nobodys_name() {
    let scene = Scene::new().await;
    let mut client = scene.client("adder").await;
    let ack = client
        .ask(
            "REGISTER_FUNCTIONS",
            &[json!([offer("add"), offer("nothing")])],
        )
        .await;
    assert_eq!(ack["success"], true);
    let own = user_of(&scene, "adder");
    for name in ["add", "nothing"] {
        let meant = scene.gate.find_for(&own, name).unwrap();
        assert_eq!(meant.info().origin, Origin::Builtin, "{name}");
    }
    let calling = scene
        .gate
        .call(&own, 1, "client:adder/add", arguments(&[4, 5]));
    let (made, ()) = tokio::join!(calling, add(&mut client));
    assert_eq!(made.unwrap().value, Value::Int(9), "by its full name");

    // A guest offers nothing.
    let mut guest = scene.guest("guest").await;
    let refused = guest
        .ask("REGISTER_FUNCTIONS", &[json!([offer("add")])])
        .await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("key"),
        "{refused}"
    );
}

#[tokio::test]
async fn offering_again_replaces_and_bad_offers_are_refused_with_a_reason() {
    let scene = Scene::new().await;
    let mut client = scene.client("adder").await;
    let own = user_of(&scene, "adder");
    for names in [&["one", "two"][..], &["two", "three"]] {
        let offers: Vec<Json> = names.iter().map(|name| offer(name)).collect();
        let ack = client
            .ask("REGISTER_FUNCTIONS", &[json!({ "functions": offers })])
            .await;
        assert_eq!(ack["success"], true, "{ack}");
    }
    assert!(scene.gate.find_for(&own, "one").is_none());
    assert!(scene.gate.find_for(&own, "three").is_some());
    for bad in [
        json!([{ "name": "no identifier" }]),
        json!([{ "description": "nameless" }]),
        json!([{ "name": "x", "kind": "behavior" }]),
        json!([{ "name": "x", "parameters": { "type": 7 } }]),
        json!([{ "name": "x", "description": "d".repeat(20_000) }]),
        json!(vec![offer("x"); 300]),
        json!("x"),
    ] {
        let ack = client
            .ask("REGISTER_FUNCTIONS", &[json!({ "functions": bad })])
            .await;
        assert_eq!(ack["success"], false, "{ack}");
        assert!(!ack["error"]["message"].as_str().unwrap().is_empty());
        for name in ["two", "three"] {
            let kept = scene.gate.find_for(&own, name).is_some();
            assert!(kept, "what is refused replaces nothing: {name}");
        }
    }
}

#[tokio::test]
async fn a_client_says_how_far_it_is_and_hears_how_far_others_are() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let come = async |id: &str| {
        let auth = json!({ "clientId": id, "clientType": "test", "key": key });
        let come = Client::connect(&scene.address, "/function_call", auth);
        come.await.unwrap()
    };
    let mut client = come("adder").await;
    let offers = json!({ "functions": [offer("plus")] });
    client.ask("REGISTER_FUNCTIONS", &[offers]).await;
    let mut other = scene.client("other").await;
    let heard: Arc<std::sync::Mutex<Vec<Progress>>> = Arc::default();
    let told = heard.clone();
    let request = CallRequest {
        progress: Onlooker::new(move |progress| told.lock().unwrap().push(progress)),
        ..CallRequest::new(1, "plus", arguments(&[1, 2]))
    };
    let own = user_of(&scene, "adder");
    let calling = scene.gate.dispatch(&own, request);
    let serving = async {
        let (_, data, id) = client.event().await;
        let request = &data[0]["requestId"];
        let far =
            |done: u32| json!({ "requestId": request, "done": done, "total": 2, "text": "b" });
        // Anybody could say so, and nonsense is nothing.
        other.ask("FUNCTION_PROGRESS", &[far(9)]).await;
        client
            .ask("FUNCTION_PROGRESS", &[json!({ "done": [] })])
            .await;
        client.ask("FUNCTION_PROGRESS", &[far(1)]).await;
        let answer = json!({ "requestId": request, "success": true, "result": 3 });
        client.answer(id.unwrap(), answer).await;
    };
    let (made, ()) = tokio::join!(calling, serving);
    assert_eq!(made.unwrap().value, Value::Int(3));
    let expected = Progress {
        done: 1.0,
        total: Some(2.0),
        text: "b".to_owned(),
    };
    assert_eq!(*heard.lock().unwrap(), [expected]);

    // A client that looks on is told of its own call.
    let mut asking = come("asker").await;
    let data = json!({
        "requestId": "mine", "functionName": "plus", "args": [1, 2], "target": "server",
        "progress": true,
    });
    let id = asking.emit("FUNCTION_CALL", &[data]).await;
    let (_, data, answers) = client.event().await;
    let request = data[0]["requestId"].clone();
    client
        .ask(
            "FUNCTION_PROGRESS",
            &[json!({ "requestId": request, "done": 1 })],
        )
        .await;
    let (event, data, _) = asking.event().await;
    assert_eq!(event, "FUNCTION_PROGRESS");
    assert_eq!(data[0], json!({ "requestId": "mine", "done": 1.0 }));
    let answer = json!({ "requestId": request, "success": true, "result": 3 });
    client.answer(answers.unwrap(), answer).await;
    assert_eq!(asking.ack(id).await["result"], 3);
}

#[tokio::test]
async fn progress_is_not_overtaken_by_the_answer_behind_it() {
    let scene = Scene::new().await;
    let mut client = scene.client("adder").await;
    let offers = json!({ "functions": [offer("plus")] });
    client.ask("REGISTER_FUNCTIONS", &[offers]).await;
    let heard: Arc<std::sync::Mutex<Vec<f64>>> = Arc::default();
    let told = heard.clone();
    let request = CallRequest {
        progress: Onlooker::new(move |progress| told.lock().unwrap().push(progress.done)),
        ..CallRequest::new(1, "plus", arguments(&[1, 2]))
    };
    let own = user_of(&scene, "adder");
    let calling = scene.gate.dispatch(&own, request);
    let serving = async {
        let (_, data, id) = client.event().await;
        let request = &data[0]["requestId"];
        // Holds up the client's events, but not its answers.
        let hangs = json!({ "requestId": "h", "functionName": "hangs", "target": "server" });
        client.emit("FUNCTION_CALL", &[hangs]).await;
        let far = json!({ "requestId": request, "done": 2 });
        client.emit("FUNCTION_PROGRESS", &[far]).await;
        let answer = json!({ "requestId": request, "success": true, "result": 3 });
        client.answer(id.unwrap(), answer).await;
    };
    let (made, ()) = tokio::join!(calling, serving);
    assert_eq!(made.unwrap().value, Value::Int(3));
    assert_eq!(*heard.lock().unwrap(), [2.0]);
}

#[tokio::test]
async fn progress_of_another_clients_function_is_relayed_to_whoever_called_it() {
    let scene = Scene::new().await;
    let (mut asker, mut worker) = (scene.client("asker").await, scene.client("worker").await);
    let mut other = scene.client("other").await;
    for looks_on in [true, false] {
        let data = json!({
            "requestId": "123", "functionName": "work", "args": [], "target": "worker",
            "progress": looks_on,
        });
        let id = asker.emit("FUNCTION_CALL", &[data]).await;
        let (_, data, answers) = worker.event().await;
        let far = |done: u32| json!({ "requestId": data[0]["requestId"], "done": done });
        other.ask("FUNCTION_PROGRESS", &[far(9)]).await;
        worker.emit("FUNCTION_PROGRESS", &[far(1)]).await;
        worker
            .answer(
                answers.unwrap(),
                json!({ "success": true, "result": "done" }),
            )
            .await;
        if looks_on {
            let (event, data, _) = asker.event().await;
            assert_eq!(event, "FUNCTION_PROGRESS");
            assert_eq!(data[0], json!({ "requestId": "123", "done": 1.0 }));
        }
        assert_eq!(asker.ack(id).await["result"], "done");
    }
    let back = json!({ "requestId": "b", "functionName": "work", "target": "asker" });
    worker.emit("FUNCTION_CALL", &[back]).await;
    let (event, ..) = asker.event().await;
    assert_eq!(event, "FUNCTION_CALL", "the second time nobody looked on");
}

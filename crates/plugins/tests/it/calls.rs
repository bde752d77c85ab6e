//! A method of a plugin through the gate: what reaches it, what comes back, what is recorded.

use std::sync::{Arc, Mutex};

use callgate_contract::{Arguments, Caller, Grant, JournalId, Onlooker, Progress, Surface, Value};
use callgate_gate::CallRequest;

use crate::scene::{Scene, session};

#[tokio::test]
async fn a_call_reaches_the_plugin_the_host_and_comes_back() {
    let scene = Scene::new().await;
    let loaded = scene
        .load(
            "notes",
            "from callgate_worker import host\n\
             async def keep(name, value):\n    \
                 created = await host.call('data_set', plugin='notes', name=name, value=value)\n    \
                 return created, await host.call('data_get', plugin='notes', name=name)\n",
        )
        .await
        .unwrap();
    assert_eq!(loaded.id, "notes");
    let value = scene.value("keep", vec!["a".into(), "1".into()]).await;
    assert_eq!(value, Value::Tuple(vec![Value::Bool(true), "1".into()]));
    let value = scene.value("keep", vec!["a".into(), "2".into()]).await;
    assert_eq!(value, Value::Tuple(vec![Value::Bool(false), "2".into()]));
}

#[tokio::test]
async fn an_error_shows_its_type_and_the_record_its_traceback() {
    let scene = Scene::new().await;
    let code = "async def fail():\n    raise ValueError('no such city')\n\
                async def mute():\n    raise KeyError()\n";
    scene.load("weather", code).await.unwrap();
    let caller = Caller {
        journal: JournalId::fresh(),
        ..scene.caller.clone()
    };
    let error = scene
        .call_as(&caller, "fail", Vec::new())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "ValueError: no such city");
    let [call] = scene.recorded(caller.journal).await.try_into().unwrap();
    let outcome = call.outcome.unwrap();
    assert_eq!(outcome.result.unwrap_err(), "ValueError: no such city");
    let detail = outcome.detail.unwrap();
    assert!(detail.contains("weather.py\", line 2, in fail"), "{detail}");
    assert_eq!(scene.refusal("mute").await, "KeyError (without a message)");
}

#[tokio::test]
async fn arguments_pass_as_they_were_written() {
    let scene = Scene::new().await;
    let code = "async def f(a, *rest, b=2, **more):\n    return [a, list(rest), b, more]\n";
    scene.load("loose", code).await.unwrap();
    let value = scene.value("f", vec![1.into(), "x".into()]).await;
    let expect = [
        1.into(),
        Value::List(vec!["x".into()]),
        2.into(),
        Value::Dict(vec![]),
    ];
    assert_eq!(value, Value::List(expect.into()));
    let refusal = scene.refusal("f").await;
    assert!(
        refusal.contains("TypeError: f() missing 1 required positional argument"),
        "{refusal}"
    );
}

#[tokio::test]
async fn host_methods_are_for_plugins_only_and_leaf_methods_for_synchronous_code() {
    let scene = Scene::new().await;
    let error = scene.call("data_get", Vec::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "'data_get' cannot be called from code");
    let code = "from callgate_worker import host\n\
                async def read(): return host.call_now('data_get', plugin='lane', name='x')\n\
                async def twice(): return host.call_now('twin')\n\
                async def twin(): return 1\n";
    scene.load("lane", code).await.unwrap();
    assert_eq!(scene.value("read", Vec::new()).await, Value::Null);
    let refusal = scene.refusal("twice").await;
    assert!(
        refusal.contains("'twin' cannot be called synchronously"),
        "{refusal}"
    );
}

#[tokio::test]
async fn objects_reach_the_sandbox_as_records_and_pickles() {
    let scene = Scene::new().await;
    let code = "import collections, dataclasses\n\
                @dataclasses.dataclass\nclass City:\n    name: str\n    size: int\n\
                class Own:\n    def __init__(self): self.x = 1; self._y = 2\n\
                async def city(): return City('Ulm', 3)\n\
                async def own(): return [Own()]\n\
                async def count(): return collections.Counter('aab')\n";
    scene.load("objects", code).await.unwrap();
    let record = |class: &str, fields: Vec<(&str, Value)>| Value::Record {
        class: class.to_owned(),
        fields: fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    };
    let city = record("City", vec![("name", "Ulm".into()), ("size", 3.into())]);
    assert_eq!(scene.value("city", Vec::new()).await, city);
    let own = record("Own", vec![("x", 1.into())]);
    assert_eq!(scene.value("own", Vec::new()).await, Value::List(vec![own]));
    let count = scene.value("count", Vec::new()).await;
    assert!(matches!(count, Value::Opaque { class, .. } if class == "Counter"));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn plugin_code_acts_for_the_user_and_later_for_itself() {
    let scene = Scene::new().await;
    let code = "import asyncio\nfrom callgate_worker import host\n\
                late = []\n\
                async def begin():\n    \
                    async def later():\n        \
                        await asyncio.sleep(0.2)\n        \
                        late.append(await host.call('who'))\n    \
                    global task\n    task = asyncio.create_task(later())\n    \
                    return await host.call('who')\n\
                async def end():\n    await task\n    return late\n";
    let who = callgate_gate::method(
        "who",
        callgate_contract::Kind::Tool,
        |call, _: Nothing| async move {
            let caller = call.caller;
            assert_eq!(caller.surface, Surface::Plugin);
            Ok(Value::Tuple(vec![
                caller.principal.user().into_owned().into(),
                caller.session.to_string().into(),
            ]))
        },
    );
    scene.gate.register(std::sync::Arc::new(who)).unwrap();
    scene.load("acting", code).await.unwrap();
    let named = |user: &str| Value::Tuple(vec![user.into(), session().to_string().into()]);
    assert_eq!(scene.value("begin", Vec::new()).await, named("u1"));
    let late = scene.value("end", Vec::new()).await;
    assert_eq!(late, Value::List(vec![named("plugin:acting")]));
}

#[tokio::test]
async fn a_call_that_is_stopped_is_cancelled_in_the_plugin() {
    let scene = Scene::new().await;
    let code = "import asyncio\nseen = []\n\
                async def wait():\n    \
                    seen.append('begun')\n    \
                    try:\n        await asyncio.sleep(600)\n    \
                    except asyncio.CancelledError:\n        \
                        seen.append('cancelled')\n        raise\n\
                async def look():\n    return ' '.join(seen)\n";
    scene.load("slow", code).await.unwrap();
    let caller = Caller {
        journal: JournalId::fresh(),
        grant: Arc::new(Grant::everything()),
        ..scene.caller.clone()
    };
    let until = async |expected: &str| {
        while scene.value("look", Vec::new()).await != expected.into() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let stop = async {
        until("begun").await;
        caller.grant.budget.cancel().cancel();
    };
    let (ended, ()) = tokio::join!(scene.call_as(&caller, "wait", Vec::new()), stop);
    let told = "'wait' was stopped; it may still have taken effect";
    assert_eq!(ended.unwrap_err().to_string(), told);
    until("begun cancelled").await;
    let [call] = scene.recorded(caller.journal).await.try_into().unwrap();
    assert_eq!(call.outcome.unwrap().result.unwrap_err(), told);
}

#[tokio::test]
async fn what_a_plugin_asks_of_the_host_is_the_plugins_to_answer_for() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}

    let scene = Scene::new().await;
    let handler = async |call: callgate_gate::Call, _: Nothing| {
        let payer = call.caller.grant.budget.payer().clone();
        let (origin, method) = (payer.origin, payer.method);
        Ok::<_, callgate_contract::MethodError>(format!("{origin:?} {method:?}"))
    };
    let made = callgate_gate::method("who_pays", callgate_contract::Kind::Tool, handler)
        .exposure(callgate_contract::Exposure::PLUGINS);
    scene.gate.register(Arc::new(made)).unwrap();
    let code = "from callgate_worker import host\n\
                async def ask():\n    return await host.call('who_pays')\n";
    scene.load("payer", code).await.unwrap();
    assert_eq!(
        scene.value("ask", Vec::new()).await,
        "Some(\"plugin:payer\") Some(\"ask\")".into()
    );
}

#[tokio::test]
async fn progress_reaches_the_caller_as_long_as_it_waits() {
    let scene = Scene::new().await;
    let code = "from callgate_worker import host\n\
                import asyncio\n\
                late = None\n\
                async def far(done, text=''):\n    \
                    await host.call('call_progress', done=done, total=4, text=text)\n\
                async def inner():\n    \
                    host.call_now('call_progress', done=2, total=4)\n\
                async def outer():\n    \
                    global late\n    \
                    await far(1, 'first')\n    \
                    await host.call('method_call', name='inner')\n    \
                    go = asyncio.Event()\n    \
                    async def afterwards():\n        \
                        await go.wait()\n        \
                        await far(3)\n    \
                    late = (go, asyncio.ensure_future(afterwards()))\n\
                async def after():\n    \
                    late[0].set()\n    \
                    await late[1]\n";
    scene.load("far", code).await.unwrap();
    let heard: Arc<Mutex<Vec<(f64, String)>>> = Arc::default();
    let told = heard.clone();
    let progress = move |it: Progress| {
        assert_eq!(it.total, Some(4.0));
        told.lock().unwrap().push((it.done, it.text));
    };
    let caller = Caller {
        journal: JournalId::fresh(),
        ..scene.caller.clone()
    };
    let request = CallRequest {
        progress: Onlooker::new(progress),
        ..CallRequest::new(1, "outer", Arguments::default())
    };
    scene.gate.dispatch(&caller, request).await.unwrap();
    let expected = [(1.0, "first".to_owned()), (2.0, String::new())];
    assert_eq!(*heard.lock().unwrap(), expected);
    scene.value("after", Vec::new()).await;
    assert_eq!(*heard.lock().unwrap(), expected, "its call was answered");
}

//! [`Scene`]: a server of remote clients alone, with a few methods whose effects can be seen.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_contract::{Effect, Exposure, Kind, MethodError, Value};
use callgate_gate::{Call, Gate, GatePolicy, method};
use callgate_server::{Entrance, Hosts};
use callgate_service::{METHODS, Remote, Service, Settings, remote::RemoteSettings};
use callgate_store::Store;
use callgate_testkit::{Home, Witness};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::{sync::oneshot, task::JoinHandle};

use super::client::Client;

pub struct Scene {
    pub home: Home,
    pub store: Store,
    pub gate: Gate,
    pub remote: Remote,
    pub address: String,
    pub witness: Arc<Witness>,
    /// Of the clients that came by id: an id belongs to the key that used it first.
    keys: Mutex<HashMap<String, String>>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Anything {
    #[serde(default)]
    value: Json,
    #[serde(default)]
    more: Json,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

impl Scene {
    pub async fn new() -> Scene {
        Scene::with(RemoteSettings::default()).await
    }

    pub async fn with(settings: RemoteSettings) -> Scene {
        Scene::at(Home::sqlite(), settings).await
    }

    pub async fn at(home: Home, settings: RemoteSettings) -> Scene {
        let store = home.open().await;
        let policy = GatePolicy {
            remote: vec!["by_word".to_owned()],
            ..GatePolicy::default()
        };
        let gate = Gate::new(store.clone(), policy);
        let witness = Arc::new(Witness::at(&home.data().join("witness")));
        register(&gate, &witness);
        let remote = Remote::new(store, gate, settings);
        Scene::serving(home, remote, witness).await
    }

    /// With the service that an operator administers it by.
    pub async fn administered() -> (Scene, Service) {
        let home = Home::sqlite();
        let service = Service::open(&Settings::at(home.data().to_owned())).await;
        let service = service.unwrap();
        let witness = Arc::new(Witness::at(&home.data().join("witness")));
        let remote = service.remote().clone();
        (Scene::serving(home, remote, witness).await, service)
    }

    async fn serving(home: Home, remote: Remote, witness: Arc<Witness>) -> Scene {
        let (store, gate) = (remote.store().clone(), remote.gate().clone());
        remote.load().await;
        let loopback = "127.0.0.1:0".parse().unwrap();
        let entrance = Entrance::open(loopback, None, false).await.unwrap();
        let address = entrance.address().to_string();
        let (stop, stopped) = oneshot::channel();
        let serving =
            callgate_server::serve_remote(entrance, remote.clone(), Hosts::default(), async {
                drop(stopped.await)
            });
        let serving = tokio::spawn(async { serving.await.unwrap() });
        Scene {
            home,
            store,
            gate,
            remote,
            address,
            witness,
            keys: Mutex::default(),
            stop,
            serving,
        }
    }

    /// Ends the server and begins another one on the same data.
    pub async fn restarted(self) -> Scene {
        self.remote.close();
        drop(self.stop);
        self.serving.await.unwrap();
        let Scene { home, keys, .. } = self;
        Scene {
            keys,
            ..Scene::at(home, RemoteSettings::default()).await
        }
    }

    pub async fn key(&self) -> String {
        let made = self.store.keys().create(&[METHODS.to_owned()]).await;
        made.unwrap().1
    }

    /// Of any scopes.
    pub async fn key_for(&self, scopes: &[&str]) -> String {
        let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
        self.store.keys().create(&scopes).await.unwrap().1
    }

    /// In `/function_call`, with a key of its own, which is the same for the same id.
    pub async fn client(&self, id: &str) -> Client {
        let known = self.keys.lock().unwrap().get(id).cloned();
        let key = match known {
            Some(key) => key,
            None => self.key().await,
        };
        self.keys.lock().unwrap().insert(id.to_owned(), key.clone());
        let auth = json!({ "clientId": id, "clientType": "test", "key": key });
        Client::connect(&self.address, "/function_call", auth)
            .await
            .unwrap()
    }

    pub async fn guest(&self, id: &str) -> Client {
        let auth = json!({ "clientId": id, "clientType": "monitor" });
        Client::connect(&self.address, "/function_call", auth)
            .await
            .unwrap()
    }

    /// Writes a file of remote clients, behind the server's back.
    pub fn put(&self, name: &str, content: &str) {
        let path = self.home.data().join("remote").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn content(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.home.data().join("remote").join(name)).ok()
    }
}

fn register(gate: &Gate, witness: &Arc<Witness>) {
    let failing = |message: &'static str| {
        move |_: Call, _: Nothing| async move { Err::<Value, _>(MethodError::new(message)) }
    };
    let seen = witness.clone();
    let count = move |_: Call, _: Anything| {
        let seen = seen.clone();
        async move {
            seen.saw("count");
            let times = i64::try_from(seen.times("count")).unwrap();
            Ok(Value::from(times))
        }
    };
    let add = async |_: Call, it: Add| Ok(Value::from(it.a + it.b));
    let echo = async |_: Call, it: Anything| {
        let value = callgate_contract::json::from_json(json!([it.value, it.more]));
        value.map_err(|error| MethodError::new(error.to_string()))
    };
    let panics = async |_: Call, _: Nothing| -> Result<Value, MethodError> { panic!("at /secret") };
    let slow = async |_: Call, _: Nothing| {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(Value::Null)
    };
    let seen = witness.clone();
    let hangs = move |_: Call, _: Nothing| {
        let seen = seen.clone();
        async move {
            seen.saw("hangs");
            std::future::pending::<Result<Value, _>>().await
        }
    };
    let nothing = async |_: Call, _: Nothing| Ok(Value::Null);
    let pure = Effect::Pure;
    let functions = [
        method("add", Kind::Tool, add).effect(pure),
        method("echo", Kind::Tool, echo).effect(pure),
        method("nothing", Kind::Tool, nothing).effect(pure),
        method("count", Kind::Tool, count),
        method("fails", Kind::Tool, failing("it went wrong")).effect(pure),
        method("fails_silently", Kind::Tool, failing("")),
        method("panics", Kind::Tool, panics),
        method("hangs", Kind::Tool, hangs),
        method("slow", Kind::Tool, slow).deadline(Duration::from_millis(50)),
    ];
    for function in functions {
        let function = function.exposure(Exposure::EVERYONE);
        gate.register(Arc::new(function)).unwrap();
    }
    for name in ["hidden", "by_word"] {
        let function = method(name, Kind::Tool, nothing).effect(pure);
        gate.register(Arc::new(function)).unwrap();
    }
}

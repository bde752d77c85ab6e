//! Our server in a process of its own, as the measurements start it: the remote face with one pure
//! method behind the gate, and a key that may call it.

use std::{net::SocketAddr, sync::Arc};

use callgate_contract::{Effect, Exposure, Kind, MethodError};
use callgate_gate::{Call, Gate, GatePolicy, method};
use callgate_server::Hosts;
use callgate_service::{
    METHODS,
    remote::{Remote, RemoteSettings},
};
use callgate_store::{Store, StoreOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

async fn add(_: Call, Numbers { a, b }: Numbers) -> Result<i64, MethodError> {
    Ok(a + b)
}

/// Says where it listens, and serves until its standard input ends.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let home = TempDir::with_prefix("callgate-bench-")?;
    let store = Store::open(StoreOptions::new(home.path())).await?;
    let gate = Gate::new(store.clone(), GatePolicy::default());
    let add = method("add", Kind::Tool, add)
        .effect(Effect::Pure)
        .exposure(Exposure::EVERYONE);
    gate.register(Arc::new(add))?;
    let (_, key) = store.keys().create(&[METHODS.to_owned()]).await?;
    let settings = RemoteSettings {
        max_connections: 20_000,
        ..RemoteSettings::default()
    };
    let remote = Remote::new(store, gate, settings);
    let routes = callgate_server::remote::routes(&remote, Hosts::default());
    let service = routes.into_make_service_with_connect_info::<SocketAddr>();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    println!("{}", json!({ "address": address, "key": key }));
    let ended =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    tokio::select! {
        served = axum::serve(listener, service).into_future() => served?,
        _ = ended => {}
    }
    Ok(())
}

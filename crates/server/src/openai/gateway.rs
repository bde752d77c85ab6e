//! Keys that plugins are lent. A plugin that wants a model's address and key gets ours: it sees models
//! and nothing else, what it spends is the plugin's, and it ends when the plugin is unloaded, at the
//! latest with this process. The address is opened when the first plugin asks, whether a server runs
//! or not.

use std::{
    collections::HashMap,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::middleware;
use callgate_agent::Parent;
use callgate_contract::{
    Allowed, BoxFuture, Caller, Effect, Exposure, Grant, Kind, MethodError, Origin, Principal,
    Role, SessionKey, Value, json as value_json,
};
use callgate_gate::{Call, Function, Gate, method};
use callgate_service::{Capabilities, Capability};
use callgate_store::new_key_text;
use parking_lot::{Mutex, MutexGuard};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OnceCell, broadcast};

use super::{
    OpenAi,
    access::{Asker, Door},
};
use crate::{
    Entrance,
    visitor::{Hosts, admit},
};

#[derive(Default)]
pub(super) struct Gateway {
    /// Where plugins reach us.
    address: OnceCell<SocketAddr>,
    /// A mutex, held for a look.
    lent: Mutex<LentKeys>,
}

#[derive(Default)]
struct LentKeys {
    /// By their text.
    keys: HashMap<String, Asker>,
    /// The key of each.
    of: HashMap<Borrower, String>,
    departures: Option<broadcast::Receiver<Origin>>,
}

/// The plugin that pays, for whom it works, and where.
#[derive(PartialEq, Eq, Hash)]
struct Borrower {
    plugin: Option<String>,
    principal: Principal,
    session: SessionKey,
}

impl LentKeys {
    /// Keys of those that have gone are void.
    fn settle(&mut self) {
        use broadcast::error::TryRecvError;
        let Some(departures) = &mut self.departures else {
            return;
        };
        loop {
            match departures.try_recv() {
                Ok(origin) => {
                    let gone = Some(origin.to_string());
                    let theirs = self.of.extract_if(|borrower, _| borrower.plugin == gone);
                    for (_, key) in theirs {
                        self.keys.remove(&key);
                    }
                }
                // Who has gone is not known any more: all are lent anew.
                Err(TryRecvError::Lagged(_)) => {
                    self.keys.clear();
                    self.of.clear();
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}

impl Gateway {
    /// Hears of plugins that go.
    pub(super) fn follow(&self, gate: &Gate) {
        self.settled().departures = Some(gate.departures());
    }

    fn settled(&self) -> MutexGuard<'_, LentKeys> {
        let mut lent = self.lent.lock();
        lent.settle();
        lent
    }

    pub(super) fn lent(&self, key: &str) -> Option<Asker> {
        self.settled().keys.get(key).cloned()
    }

    /// The key of whoever calls; the same one as long as it is the same.
    fn lend(&self, caller: &Caller) -> Result<String, MethodError> {
        let mut lent = self.settled();
        let borrower = Borrower {
            plugin: caller.grant.budget.payer().origin.clone(),
            principal: caller.principal.clone(),
            session: caller.session.clone(),
        };
        let key = match lent.of.get(&borrower) {
            Some(key) => key.clone(),
            None => new_key_text().map_err(failed)?,
        };
        lent.of.insert(borrower, key.clone());
        let asker = Asker {
            id: caller.principal.to_string(),
            key: None,
            session: caller.session.clone(),
            principal: caller.principal.clone(),
            role: Role::Member,
            methods: Allowed::Only(Vec::new()),
            parent: Some(Parent {
                turn: caller.journal,
                depth: caller.depth,
                grant: Arc::new(Grant {
                    methods: Allowed::Only(Vec::new()),
                    expires: None,
                    ..Grant::clone(&caller.grant)
                }),
            }),
            capabilities: Capabilities::of(&[Capability::Models.scope().to_owned()]),
        };
        lent.keys.insert(key.clone(), asker);
        Ok(key)
    }
}

/// Lets the processes of plugins reach an address of ours.
pub type LetReach = Arc<dyn Fn(SocketAddr) -> BoxFuture<'static, ()> + Send + Sync>;

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

impl OpenAi {
    /// `model_gateway`: the method by which plugins ask for a model's address and key.
    pub fn gateway(&self) -> Function {
        // Weak: the gate, which holds the method, is held by the agent, which is held by us.
        let openai = Arc::downgrade(&self.0);
        let handler = move |call: Call, _: NoArguments| {
            let openai = openai.upgrade().map(OpenAi);
            async move {
                let openai = openai.ok_or_else(|| MethodError::new("we are about to end"))?;
                let address = openai.listens().await.map_err(failed)?;
                (openai.0.let_reach)(address).await;
                let key = openai.0.gateway.lend(&call.caller)?;
                let model = openai
                    .0
                    .agent
                    .get()
                    .map(|it| it.models().choose(None).id.clone());
                let told = json!({
                    "base_url": format!("http://{address}/v1"),
                    "key": key,
                    "model": model,
                });
                value_json::from_json(told).map_err(failed)
            }
        };
        method::<NoArguments, Value, _, _>("model_gateway", Kind::Tool, handler)
            .effect(Effect::Pure)
            .exposure(Exposure::PLUGINS)
            .doc("An address and a key by which models answer as OpenAI's do, for this plugin alone.")
            .leaf()
    }

    async fn listens(&self) -> io::Result<SocketAddr> {
        let open = || async {
            let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let entrance = Entrance::open(loopback, None, false).await;
            let entrance = entrance.map_err(io::Error::other)?;
            let address = entrance.address();
            let guard = middleware::from_fn_with_state(Hosts::default(), admit);
            let router = self.routes_for(Door::Plugins).layer(guard);
            tokio::spawn(async move {
                if let Err(error) = entrance.serve(router, std::future::pending()).await {
                    tracing::error!(%error, "model endpoint for plugins stopped");
                }
            });
            Ok(address)
        };
        self.0.gateway.address.get_or_try_init(open).await.copied()
    }
}

fn failed(error: impl std::fmt::Display) -> MethodError {
    MethodError::new(error.to_string())
}

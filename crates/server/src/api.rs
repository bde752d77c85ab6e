//! The HTTP API under `/api`: the same registry, turns and records as every other surface has, for
//! pages and programs. It decides nothing that the gate, the agent or the store decides.

mod access;
mod approvals;
mod conversations;
mod events;
mod files;
mod input;
mod keys;
mod list;
mod methods;
mod models;
mod personas;
mod problem;
mod route;
mod runs;
mod sessions;
mod timers;
mod turns;
mod view;

use std::sync::{Arc, OnceLock};

use axum::{Json as Body, Router, extract::DefaultBodyLimit};
use callgate_agent::Agent;
use callgate_gate::Gate;
use callgate_store::Store;
use serde_json::Value as Json;

use crate::{Live, Operations};
use access::Rates;

pub(crate) use access::{Access, Scope, admit};
pub(crate) use problem::Problem;
use route::Routes;

type Outcome<T> = Result<Body<T>, Problem>;

/// Clones share everything.
#[derive(Clone)]
pub struct Api(Arc<Shared>);

struct Shared {
    store: Store,
    gate: Gate,
    operations: Operations,
    live: Arc<Live>,
    rates: Rates,
    /// Made when models are known, some time after the first request may come.
    agent: OnceLock<Agent>,
}

impl Api {
    pub fn new(store: Store, gate: Gate, operations: Operations, live: Arc<Live>) -> Self {
        Api(Arc::new(Shared {
            store,
            gate,
            operations,
            live,
            rates: Rates::default(),
            agent: OnceLock::new(),
        }))
    }

    /// Once; a second agent is ignored.
    pub fn attach(&self, agent: Agent) {
        let _ = self.0.agent.set(agent);
    }

    pub fn routes(&self) -> Router {
        let (router, document) = self.described();
        let document = Arc::new(document);
        let served = move || std::future::ready(Body(Json::clone(&document)));
        router
            .route("/api/openapi.json", axum::routing::get(served))
            .layer(DefaultBodyLimit::max(files::MOST as usize))
            .with_state(self.clone())
    }

    /// The OpenAPI document.
    pub fn document(&self) -> Json {
        self.described().1
    }

    fn described(&self) -> (Router<Api>, Json) {
        let mut routes = Routes::new();
        for add in [
            methods::routes,
            runs::routes,
            sessions::routes,
            conversations::routes,
            turns::routes,
            events::routes,
            approvals::routes,
            personas::routes,
            models::routes,
            files::routes,
            timers::routes,
            keys::routes,
        ] {
            add(&mut routes);
        }
        routes.into_parts(self)
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    fn gate(&self) -> &Gate {
        &self.0.gate
    }

    fn operations(&self) -> &Operations {
        &self.0.operations
    }

    fn live(&self) -> &Arc<Live> {
        &self.0.live
    }

    fn rates(&self) -> &Rates {
        &self.0.rates
    }

    fn agent(&self) -> Result<&Agent, Problem> {
        self.0.agent.get().ok_or_else(Problem::starting)
    }
}

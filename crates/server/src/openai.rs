//! OpenAI's API over the agent: `/v1/models`, `/v1/chat/completions`, `/v1/responses` and
//! `/v1/embeddings`. A model is a persona; a request is a turn on record, whose history is the
//! asker's own. It decides nothing that the gate, the agent or the store decides.

mod access;
mod answer;
mod chat;
mod embeddings;
mod failure;
mod gateway;
mod history;
mod input;
mod media;
mod models;
mod options;
mod request;
mod responses;

use std::sync::{Arc, OnceLock};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use callgate_agent::Agent;
use callgate_service::{Attempts, Rates};
use callgate_store::Store;

use self::{access::Door, failure::Failure, gateway::Gateway};

pub(crate) use self::access::NEEDS;
pub use self::{gateway::LetReach, media::Fetch};

/// Of a request, pictures included.
const LARGEST: usize = 32 << 20;

/// Clones share everything.
#[derive(Clone)]
pub struct OpenAi(Arc<OpenAiInner>);

struct OpenAiInner {
    store: Store,
    fetch: Fetch,
    rates: Rates<String>,
    attempts: Arc<Attempts>,
    let_reach: LetReach,
    gateway: Gateway,
    /// Made when models are known, some time after the first request may come.
    agent: OnceLock<Agent>,
}

impl OpenAi {
    /// `fetch` is the one way to what a URL from a stranger names.
    pub fn new(store: Store, fetch: Fetch, attempts: Arc<Attempts>, let_reach: LetReach) -> Self {
        OpenAi(Arc::new(OpenAiInner {
            store,
            fetch,
            rates: Rates::new(access::BURST, access::PER_SECOND),
            attempts,
            let_reach,
            gateway: Gateway::default(),
            agent: OnceLock::new(),
        }))
    }

    /// Once; a second agent is ignored.
    pub fn attach(&self, agent: Agent) {
        self.0.gateway.follow(agent.gate());
        let _ = self.0.agent.set(agent);
    }

    pub fn routes(&self) -> Router {
        self.routes_for(Door::People)
    }

    fn routes_for(&self, door: Door) -> Router {
        Router::new()
            .route("/v1/models", get(models::list))
            .route("/v1/models/{*id}", get(models::show))
            .route("/v1/chat/completions", post(chat::create))
            .route("/v1/responses", post(responses::create))
            .route(
                "/v1/responses/{id}",
                get(responses::show).delete(responses::delete),
            )
            .route("/v1/responses/{id}/input_items", get(responses::inputs))
            .route("/v1/embeddings", post(embeddings::create))
            .route("/v1/{*rest}", axum::routing::any(failure::unknown_route))
            .method_not_allowed_fallback(failure::unknown_method)
            .layer(middleware::from_fn_with_state(
                (self.clone(), door),
                access::enter,
            ))
            .layer(DefaultBodyLimit::max(LARGEST))
            .with_state(self.clone())
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    fn agent(&self) -> Result<&Agent, Failure> {
        self.0.agent.get().ok_or_else(Failure::starting)
    }
}

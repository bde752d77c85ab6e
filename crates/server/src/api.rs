//! The HTTP API under `/api`: the same registry, turns and records as every other surface has, for
//! pages and programs. It decides nothing that the gate, the agent or the store decides.

mod access;
mod approvals;
mod capsules;
mod clients;
mod conversations;
mod cost;
mod events;
mod files;
mod input;
mod keys;
mod limits;
mod logs;
mod methods;
mod models;
mod operation;
mod outbox;
mod overview;
mod personas;
mod platforms;
mod plugins;
mod problem;
mod route;
mod rules;
mod runs;
mod sessions;
mod settings;
mod statistics;
mod timers;
mod turns;

use std::sync::Arc;

use axum::{Json as Body, Router};
use callgate_gate::Gate;
use callgate_service::{Attempts, Capability, Live, News, Rates, Remote, Service};
use callgate_store::Store;
use serde_json::Value as Json;
use tokio::sync::broadcast::error::RecvError;

use crate::{health::Health, plugin_web::Tickets};

pub(crate) use access::{Access, Asking, admit};
pub(crate) use problem::Problem;
use route::Routes;

type Outcome<T> = Result<Body<T>, Problem>;

/// Clones share everything.
#[derive(Clone)]
pub struct Api(Arc<ApiState>);

struct ApiState {
    service: Service,
    rates: Rates<String>,
    tickets: Tickets,
    health: Health,
}

impl Api {
    pub fn new(service: Service) -> Self {
        service.logs().attach(service.live().clone());
        Api(Arc::new(ApiState {
            health: Health::new(service.store().clone()),
            service,
            rates: Rates::new(access::BURST, access::PER_SECOND),
            tickets: Tickets::default(),
        }))
    }

    /// Tells those who listen of approvals and clients, as long as the API lives.
    pub fn follow(&self) {
        let live = self.live().clone();
        let mut approvals = self.gate().approvals();
        tokio::spawn(async move {
            loop {
                match approvals.recv().await {
                    Ok(approval) => live.announce(&News::Approval(Box::new(approval.into()))),
                    // What was missed is read at /api/approvals.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        let live = self.live().clone();
        let mut changes = self.remote().changes();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                live.announce(&News::Clients {});
            }
        });
    }

    pub fn routes(&self) -> Router {
        let (router, document) = self.described();
        let document = Arc::new(document);
        let served = move || std::future::ready(Body(Json::clone(&document)));
        router
            .route("/api/openapi.json", axum::routing::get(served))
            .route("/api/{*rest}", axum::routing::any(nothing_here))
            .method_not_allowed_fallback(wrong_method)
            .with_state(self.clone())
    }

    /// The OpenAPI document.
    pub fn document(&self) -> Json {
        self.described().1
    }

    /// Its routes and what each needs, those that are described and the two around them.
    pub(crate) fn needs(&self) -> Vec<(String, Capability)> {
        let mut needs = self.collected().needs();
        for around in ["GET /api/openapi.json", "ANY /api/{*rest}"] {
            needs.push((around.to_owned(), Capability::Anyone));
        }
        needs
    }

    fn described(&self) -> (Router<Api>, Json) {
        self.collected().into_parts(self)
    }

    fn collected(&self) -> Routes {
        let mut routes = Routes::new();
        for add in [
            methods::routes,
            runs::routes,
            sessions::routes,
            conversations::routes,
            turns::routes,
            events::routes,
            approvals::routes,
            limits::routes,
            platforms::routes,
            outbox::routes,
            rules::routes,
            personas::routes,
            capsules::routes,
            models::routes,
            cost::routes,
            plugins::routes,
            clients::routes,
            statistics::routes,
            settings::routes,
            logs::routes,
            overview::routes,
            files::routes,
            timers::routes,
            keys::routes,
        ] {
            add(&mut routes);
        }
        routes
    }

    fn store(&self) -> &Store {
        self.0.service.store()
    }

    fn gate(&self) -> &Gate {
        self.0.service.gate()
    }

    pub(crate) fn service(&self) -> &Service {
        &self.0.service
    }

    fn live(&self) -> &Arc<Live> {
        self.0.service.live()
    }

    fn remote(&self) -> &Remote {
        self.0.service.remote()
    }

    fn rates(&self) -> &Rates<String> {
        &self.0.rates
    }

    fn attempts(&self) -> &Attempts {
        self.0.service.remote().attempts()
    }

    pub(crate) fn health(&self) -> &Health {
        &self.0.health
    }

    pub(crate) fn tickets(&self) -> &Tickets {
        &self.0.tickets
    }
}

async fn nothing_here() -> Problem {
    Problem::missing("there is nothing here").hint("GET /api/openapi.json describes every route")
}

async fn wrong_method() -> Problem {
    Problem::wrong_method().hint("GET /api/openapi.json describes every route")
}

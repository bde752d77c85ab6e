//! [`App`]: the parts of the product put together on one data directory, and what each request
//! does with them. It neither parses nor prints.

mod approvals;
mod calls;
mod recovery;
mod runs;

use std::{path::PathBuf, sync::Arc};

use callgate_agent::Coder;
use callgate_contract::{
    Budget, Caller, Cancel, Grant, JournalId, OutputListener, Role, SessionKey, Surface,
};
use callgate_gate::{Gate, signature};
use callgate_sandbox::Jail;
use callgate_store::Store;
use serde_json::{Value as Json, json};

use crate::{config::Config, failure::Failure, packages, request::Request};

use runs::Running;

/// Messages that one run or call may send.
const MESSAGES: u64 = 1_000;

/// Where to work, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub config: Config,
}

/// What the process at the terminal wants to hear of its own run while it goes on.
#[derive(Default)]
pub struct Live {
    pub output: Option<OutputListener>,
    /// Told the number and method of each approval the run waits for.
    pub asked: Option<fn(i64, &str)>,
    pub cancel: Cancel,
}

/// Clones share everything.
#[derive(Clone)]
pub struct App {
    config: Arc<Config>,
    store: Store,
    gate: Gate,
    coder: Coder,
    running: Arc<Running>,
}

impl App {
    pub async fn open(settings: &Settings) -> Result<App, Failure> {
        let store = Store::open(settings.config.store(&settings.data)).await?;
        let gate = Gate::new(store.clone(), settings.config.policy());
        for method in callgate_builtins::all(store.clone()) {
            gate.register(method).map_err(|error| {
                Failure::new(error.to_string(), "this is a fault of callgate: report it")
            })?;
        }
        let packages = packages::installed_at(&settings.data);
        let jail = settings
            .config
            .jail(store.files().sessions_path(), packages);
        let coder = Coder {
            gate: gate.clone(),
            store: store.clone(),
            sandbox: Arc::new(Jail::new(jail)),
            limits: settings.config.limits(),
        };
        Ok(App {
            config: Arc::new(settings.config.clone()),
            store,
            gate,
            coder,
            running: Arc::default(),
        })
    }

    pub async fn answer(&self, request: Request, live: Live) -> Result<Json, Failure> {
        match request {
            Request::Run(run) => self.run(run, live).await,
            Request::Cancel { run } => Ok(json!({ "cancelled": self.running.cancel(run) })),
            Request::Call(call) => self.call(call).await,
            Request::Methods { session } => Ok(self.methods(&session)),
            Request::Method { name } => self.method(&name),
            Request::Approvals { all } => self.approvals(all).await,
            Request::Answer { id, answer, always } => self.settle(id, answer, always).await,
            Request::NewKey => {
                // What a key without flags may do: call the methods that remote clients see.
                let scopes = ["methods".to_owned()];
                let (id, key) = self.store.keys().create(&scopes).await?;
                Ok(json!({ "id": id, "key": key }))
            }
            Request::Keys => Ok(json!(self.store.keys().list().await?)),
            Request::RevokeKey { id } => {
                self.store.keys().revoke(&id).await?;
                Ok(json!({ "revoked": id }))
            }
        }
    }

    fn methods(&self, session: &SessionKey) -> Json {
        let surfaces = [
            Surface::Code,
            Surface::ToolCall,
            Surface::Remote,
            Surface::Plugin,
        ];
        let mut methods = Vec::new();
        for surface in surfaces {
            let caller = self.caller(session.clone(), String::new(), surface, JournalId::fresh());
            methods.extend(self.gate.catalogue(&caller));
        }
        methods.sort_by(|one, other| one.info().name.cmp(&other.info().name));
        methods.dedup_by(|one, other| one.info().name == other.info().name);
        methods
            .iter()
            .map(|method| {
                let info = method.info();
                json!({
                    "name": info.name,
                    "kind": info.kind,
                    "origin": info.origin,
                    "title": info.title,
                    "description": info.description,
                    "signature": signature(info),
                })
            })
            .collect()
    }

    fn method(&self, name: &str) -> Result<Json, Failure> {
        let Some(method) = self.gate.find(name) else {
            return Err(Failure::new(
                format!("no method '{name}'"),
                "see them all with `callgate methods`",
            ));
        };
        let info = method.info();
        Ok(json!({
            "name": info.name,
            "kind": info.kind,
            "origin": info.origin,
            "title": info.title,
            "description": info.description,
            "signature": signature(info),
            "doc": info.doc,
            "parameters": info.parameters,
            "exposure": info.exposure,
            "effect": info.effect,
            "deadline_seconds": info.deadline.as_secs_f64(),
        }))
    }

    /// Whoever can type commands on this data directory is its operator.
    fn caller(
        &self,
        session: SessionKey,
        user: String,
        surface: Surface,
        journal: JournalId,
    ) -> Caller {
        let budget = Budget::new(self.config.limits().calls, MESSAGES);
        Caller {
            session,
            user,
            role: Role::Operator,
            surface,
            journal,
            depth: 0,
            grant: Arc::new(Grant {
                budget,
                ..Grant::everything()
            }),
        }
    }
}

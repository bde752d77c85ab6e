//! What the HTTP API asks of this process, answered the way the command line is.

use std::sync::Arc;

use callgate_contract::BoxFuture;
use callgate_server::{Api, CallAsk, Operations, Refused, RunAsk, SettleAsk};
use callgate_store::Decision;
use serde_json::Value as Json;

use super::{App, Live};
use crate::{
    failure::Failure,
    request::{CallMethod, RunCode, Verdict},
};

type Answering = BoxFuture<'static, Result<Json, Refused>>;

impl App {
    /// The HTTP API on this data directory; the agent is attached once models are known.
    pub fn api(&self) -> Api {
        let api = Api::new(
            self.store.clone(),
            self.gate.clone(),
            self.operations(),
            self.live.clone(),
        );
        let (app, waiting) = (self.clone(), api.clone());
        tokio::spawn(async move {
            match app.agent().await {
                Ok(agent) => waiting.attach(agent),
                Err(failure) => tracing::error!(error = failure.error, "no models"),
            }
        });
        api
    }

    fn operations(&self) -> Operations {
        let (calls, runs, settles) = (self.clone(), self.clone(), self.clone());
        Operations {
            call: Arc::new(move |ask| {
                let app = calls.clone();
                answering(async move { app.call(called(ask)).await })
            }),
            run: Arc::new(move |ask| {
                let app = runs.clone();
                answering(async move { app.run(run(ask), Live::default()).await })
            }),
            settle: Arc::new(move |ask| {
                let app = settles.clone();
                answering(async move { app.settle_ask(ask).await })
            }),
        }
    }

    async fn settle_ask(&self, ask: SettleAsk) -> Result<Json, Failure> {
        let verdict = match ask.decision {
            Decision::Allow => Verdict::Allow,
            Decision::Deny => Verdict::Deny,
        };
        self.settle(ask.approval, verdict, ask.always).await
    }
}

fn called(ask: CallAsk) -> CallMethod {
    CallMethod {
        method: ask.method,
        arguments: ask.arguments,
        session: ask.session,
        user: ask.user,
        role: ask.role,
    }
}

fn run(ask: RunAsk) -> RunCode {
    RunCode {
        run: ask.run,
        code: ask.code,
        session: ask.session,
        user: ask.user,
        timeout_seconds: ask.timeout_seconds,
    }
}

/// In a task of its own: what has begun goes on when whoever asked has left.
fn answering(work: impl Future<Output = Result<Json, Failure>> + Send + 'static) -> Answering {
    Box::pin(async move {
        let refused = |failure: Failure| Refused {
            error: failure.error,
            hint: failure.hint,
        };
        match tokio::spawn(work).await {
            Ok(answer) => answer.map_err(refused),
            Err(_) => Err(Refused {
                error: "this was cut off".to_owned(),
                hint: "the server's log says why".to_owned(),
            }),
        }
    })
}

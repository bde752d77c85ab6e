//! What the HTTP API asks of this process, answered the way the command line is.

mod capsules;
mod machine;
mod models;
mod plugins;
mod settings;

use callgate_server::{Api, CallAsk, Operation, Operations, Refused, RunAsk, SettleAsk, Why};
use callgate_store::Decision;
use serde_json::Value as Json;

use super::{App, Live};
use crate::{
    failure::Failure,
    logs,
    request::{CallMethod, RunCode, Verdict},
};

impl App {
    /// The HTTP API on this data directory; the agent is attached once models are known.
    pub fn api(&self) -> Api {
        let api = Api::new(
            self.remote.clone(),
            self.operations(),
            self.live.clone(),
            logs::kept().clone(),
        );
        api.follow();
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
        Operations {
            call: self.operation(|app, ask| async move { Ok(app.call(called(ask)).await?) }),
            run: self.operation(|app, ask| async move { app.run_ask(ask).await }),
            settle: self.operation(|app, ask| async move { app.settle_ask(ask).await }),
            plugins: self.plugin_operations(),
            models: self.model_operations(),
            settings: self.setting_operations(),
            machine: self.machine_operations(),
            capsules: self.capsule_operations(),
        }
    }

    /// In a task of its own: what has begun goes on when whoever asked has left.
    pub(super) fn operation<Ask, Answer, Working>(
        &self,
        work: impl Fn(App, Ask) -> Working + Send + Sync + 'static,
    ) -> Operation<Ask, Answer>
    where
        Ask: 'static,
        Answer: Send + 'static,
        Working: Future<Output = Result<Answer, Refused>> + Send + 'static,
    {
        let app = self.clone();
        Operation::new(move |ask| {
            let working = work(app.clone(), ask);
            async move {
                let cut_off = |_| {
                    let hint = "the server's log says why";
                    Err(Refused::new(Why::Refused, "this was cut off", hint))
                };
                tokio::spawn(working).await.unwrap_or_else(cut_off)
            }
        })
    }

    async fn run_ask(&self, ask: RunAsk) -> Result<Json, Refused> {
        let run = RunCode {
            run: ask.run,
            code: ask.code,
            session: ask.session,
            user: ask.user,
            timeout_seconds: ask.timeout_seconds,
        };
        let live = Live {
            output: ask.output,
            watch: ask.watch,
            ..Live::default()
        };
        Ok(self.run(run, live).await?)
    }

    async fn settle_ask(&self, ask: SettleAsk) -> Result<Json, Refused> {
        let verdict = match ask.decision {
            Decision::Allow => Verdict::Allow,
            Decision::Deny => Verdict::Deny,
        };
        let settled = self.settle(Some(&ask.by), ask.approval, verdict, ask.always);
        Ok(settled.await?)
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

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Refused::new(Why::Refused, failure.error, failure.hint)
    }
}

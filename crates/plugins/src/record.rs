//! What plugins do that nobody called: a timer that is due, a route, a webhook. Each is a call by the
//! plugin itself through the gate, so that it is paid for and on record like any other.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Arguments, Binding, BoxFuture, CallContext, Caller, Effect, Exposure, Kind, Method,
    MethodError, MethodInfo, Origin, Reply, Trust, Value,
};
use callgate_gate::{AdHoc, CallRequest};
use parking_lot::Mutex;
use serde_json::json;

use crate::{Plugins, Worker, frame::NamedValues};

/// A handler that is not done by then is given up.
const LIMIT: Duration = Duration::from_secs(3600);

type Work = Box<dyn FnOnce(Caller) -> BoxFuture<'static, Result<Value, MethodError>> + Send>;

/// One piece of work, done once.
struct RecordedWork {
    info: MethodInfo,
    work: Mutex<Option<Work>>,
}

impl Plugins {
    /// Does `work` as a call of `name` by `plugin`, which lives in `worker`. `arguments` are what the
    /// record shows of it; the caller given to `work` is the plugin.
    pub async fn on_record<F, Running>(
        &self,
        worker: &Worker,
        plugin: &str,
        name: &str,
        arguments: NamedValues,
        work: F,
    ) -> Result<Value, MethodError>
    where
        F: FnOnce(Caller) -> Running + Send + 'static,
        Running: Future<Output = Result<Value, MethodError>> + Send + 'static,
    {
        let told = |error: &dyn std::fmt::Display| MethodError::new(error.to_string());
        let deed = RecordedWork {
            info: info(plugin, name),
            work: Mutex::new(Some(Box::new(move |caller| Box::pin(work(caller))))),
        };
        let deed = AdHoc::new(Arc::new(deed)).map_err(|error| told(&error))?;
        let request = CallRequest::new(1, name, Arguments::by_name(arguments));
        let caller = worker.background(plugin);
        let outcome = self.gate().dispatch_ad_hoc(&caller, request, &deed).await;
        outcome
            .map(|outcome| outcome.value)
            .map_err(|error| match error.detail() {
                Some(detail) => told(&error).with_detail(detail),
                None => told(&error),
            })
    }
}

fn info(plugin: &str, name: &str) -> MethodInfo {
    MethodInfo {
        name: name.to_owned(),
        aliases: Vec::new(),
        title: name.to_owned(),
        description: String::new(),
        doc: String::new(),
        parameters: json!({ "type": "object" }),
        returns: "Any".to_owned(),
        kind: Kind::Tool,
        origin: Origin::Plugin(plugin.to_owned()),
        exposure: Exposure::PLUGINS,
        effect: Effect::Effectful,
        deadline: LIMIT,
        binding: Binding::Loose,
        leaf: false,
        trust: Trust::default(),
    }
}

impl Method for RecordedWork {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        _: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        let work = self.work.lock().take();
        Box::pin(async move {
            let again = || MethodError::new("this was done already");
            let work = work.ok_or_else(again)?;
            work(context.caller.clone()).await.map(Reply::from)
        })
    }
}

//! A plugin's method as the gate sees it: its description from the worker, its code in the worker.

use std::sync::Arc;

use callgate_contract::{
    Arguments, BoxFuture, CallContext, Caller, Method, MethodError, MethodInfo, Reply, Value,
};

use crate::{Worker, context::Contexts, switches::Switches};

pub(crate) struct PluginMethod {
    pub(crate) info: MethodInfo,
    pub(crate) plugin: String,
    pub(crate) worker: Arc<Worker>,
    pub(crate) contexts: Arc<Contexts>,
    pub(crate) switches: Arc<Switches>,
}

impl PluginMethod {
    async fn run(
        &self,
        context: CallContext<'_>,
        arguments: Arguments,
    ) -> Result<Reply, MethodError> {
        let text = |text: &str| Value::Str(text.to_owned());
        let named = arguments.named.into_iter();
        let named = named.map(|(name, value)| (Value::Str(name), value));
        let facts = self.contexts.of_call(context.caller).await?;
        let arguments = vec![
            ("plugin".to_owned(), text(&self.plugin)),
            ("method".to_owned(), text(&self.info.name)),
            ("positional".to_owned(), Value::List(arguments.positional)),
            ("named".to_owned(), Value::Dict(named.collect())),
            ("context".to_owned(), facts),
        ];
        let origin = self.info.origin.to_string();
        let caller = context.caller.within(origin, Some(&self.info.name));
        let worker = &self.worker;
        let answered = worker.call(&self.plugin, arguments, &caller, context.progress);
        Ok(answered.await?.into())
    }
}

impl Method for PluginMethod {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn serves(&self, caller: &Caller) -> bool {
        self.switches.is_on(&self.plugin, &caller.session)
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(self.run(context, Arguments::by_name(arguments)))
    }

    fn call_loosely<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(self.run(context, arguments))
    }
}

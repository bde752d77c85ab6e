//! [`Declared`]: the methods as a model's tools, round after round.

use std::sync::Arc;

use callgate_contract::{
    CallArguments, Method, MethodInfo, ModelMessage, Shared, ToolCall, ToolSpec,
};

use super::Turn;
use crate::{prompt, search::methods::DESCRIBE_METHOD};

/// The tools of a turn as its model sees them. They are the same round after round, and making them
/// takes longer than all else in a step.
#[derive(Default)]
pub(crate) struct Declared {
    methods: Vec<Arc<dyn Method>>,
    /// What the model has looked up: of a large catalogue it sees these and the search.
    pub(super) opened: Vec<String>,
    /// How many of `opened` the specs know.
    known: Option<usize>,
    specs: Shared<ToolSpec>,
}

impl Turn {
    /// What the model may call in this round.
    pub(crate) fn declared(&mut self, methods: &[Arc<dyn Method>]) -> Shared<ToolSpec> {
        let declared = &mut self.context.declared;
        if declared.known.is_none() {
            // Also in turns before this one.
            let made = self
                .state
                .request
                .messages
                .iter()
                .flat_map(|message| match message {
                    ModelMessage::Assistant { tool_calls, .. } => opened(tool_calls),
                    _ => Vec::new(),
                });
            declared.opened = made.collect();
        }
        let same = |(one, other): (&Arc<dyn Method>, &Arc<dyn Method>)| Arc::ptr_eq(one, other);
        let unchanged = declared.known == Some(declared.opened.len())
            && declared.methods.len() == methods.len()
            && declared.methods.iter().zip(methods).all(same);
        if !unchanged {
            let tools = &self.agent.rendered().tools;
            declared.specs = tools.get(methods, declared.opened.clone(), |opened| {
                let infos: Vec<&MethodInfo> = methods.iter().map(|method| method.info()).collect();
                let opened: Vec<&str> = opened.iter().map(String::as_str).collect();
                let shown = prompt::declared(&infos, &opened).into_iter();
                shown.map(spec).collect()
            });
            declared.methods = methods.to_vec();
            declared.known = Some(declared.opened.len());
        }
        declared.specs.clone()
    }
}

fn spec(info: &MethodInfo) -> ToolSpec {
    ToolSpec {
        name: info.name.clone(),
        description: info.doc.clone(),
        parameters: info.parameters.clone(),
    }
}

/// The methods that these calls look up.
pub(super) fn opened(calls: &[ToolCall]) -> Vec<String> {
    let looks = calls.iter().filter(|call| call.name == DESCRIBE_METHOD);
    let named = looks.filter_map(|call| match &call.arguments {
        CallArguments::Object(arguments) => Some(arguments.get("name")?.as_str()?.to_owned()),
        CallArguments::Malformed(_) => None,
    });
    named.collect()
}

//! [`McpMethod`]: a tool of a server. It outlives connections: who calls it while the server is away
//! is told so.

use std::sync::Arc;

use callgate_contract::{
    BoxFuture, CallContext, Kind, Method, MethodError, MethodInfo, Reply, Value, json as value_json,
};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value as Json;

use super::{McpSettings, describe::describe, outcome, server::Server};

pub(super) struct McpMethod {
    info: MethodInfo,
    /// What the server calls it.
    tool: String,
    output: Option<Json>,
    server: Arc<Server>,
}

impl McpMethod {
    pub(super) fn new(
        server: Arc<Server>,
        settings: &McpSettings,
        name: String,
        tool: &Tool,
    ) -> Self {
        let info = describe(settings, name, tool);
        let output = tool
            .output_schema
            .as_ref()
            .filter(|_| info.kind == Kind::Tool);
        McpMethod {
            output: output.map(|schema| Json::Object((**schema).clone())),
            info,
            tool: tool.name.to_string(),
            server,
        }
    }
}

impl Method for McpMethod {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn output(&self) -> Option<&Json> {
        self.output.as_ref()
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async move {
            let arguments: JsonObject = arguments
                .iter()
                .map(|(name, value)| (name.clone(), value_json::to_json(value)))
                .collect();
            let result = self.server.call(&self.tool, arguments, context.progress);
            let result = result.await;
            let result = result.map_err(MethodError::new)?;
            outcome::value(result, self.info.kind).map(Reply::from)
        })
    }
}

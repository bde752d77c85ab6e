//! How the server reaches the routes and webhooks of plugins.

use std::sync::Arc;

use callgate_contract::{Value, json as value_json};
use callgate_server::{PluginWeb, Webhook};
use serde_json::{Value as Json, json};
use tokio::net::UnixStream;

use super::App;

impl App {
    pub fn plugin_web(&self) -> PluginWeb {
        let (connecting, hooked) = (self.clone(), self.clone());
        PluginWeb {
            connect: Arc::new(move |plugin| {
                let app = connecting.clone();
                Box::pin(async move { app.connect_plugin(&plugin).await })
            }),
            webhook: Arc::new(move |hook| {
                let app = hooked.clone();
                Box::pin(async move { app.webhook(hook).await })
            }),
        }
    }

    async fn connect_plugin(&self, plugin: &str) -> Result<UnixStream, String> {
        self.with_plugins().await;
        let worker = self.plugins().worker_of(plugin);
        let worker = worker.ok_or_else(|| format!("no plugin '{plugin}' is loaded"))?;
        worker
            .connect_web()
            .await
            .map_err(|error| error.to_string())
    }

    /// Plugins of one flavour know webhooks.
    async fn webhook(&self, hook: Webhook) -> Result<Json, String> {
        self.with_plugins().await;
        let body = match serde_json::from_slice::<Json>(&hook.body) {
            Ok(body) => body,
            Err(_) => json!({ "body": String::from_utf8_lossy(&hook.body) }),
        };
        let headers = hook.headers.into_iter();
        let headers = headers.map(|(name, value)| (Value::from(name), Value::from(value)));
        let arguments = vec![
            ("endpoint".to_owned(), Value::from(hook.endpoint.clone())),
            ("headers".to_owned(), Value::Dict(headers.collect())),
            (
                "body".to_owned(),
                value_json::from_json(body).map_err(|error| error.to_string())?,
            ),
        ];
        let (mut called, mut errors) = (Vec::new(), serde_json::Map::new());
        for worker in self.plugins().workers() {
            if worker.flavour() != "nekro" {
                continue;
            }
            let answer = worker.ask("webhook", arguments.clone(), None).await;
            let answer = value_json::to_json(&answer.map_err(|error| error.to_string())?);
            called.extend(answer["called"].as_array().cloned().unwrap_or_default());
            errors.extend(answer["errors"].as_object().cloned().unwrap_or_default());
        }
        match called.is_empty() {
            true => Err(format!("no plugin listens at '{}'", hook.endpoint)),
            false => Ok(json!({ "called": called, "errors": errors })),
        }
    }
}

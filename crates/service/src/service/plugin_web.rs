//! How requests reach the routes and webhooks of plugins.

use bytes::Bytes;
use callgate_contract::{BoxFuture, MethodError, Value, json as value_json};
use serde_json::{Value as Json, json};
use tokio::net::UnixStream;

use super::Service;

/// Passes one request through the connection; the status of the answer.
pub type ForwardRequest =
    Box<dyn FnOnce(UnixStream) -> BoxFuture<'static, Result<u16, String>> + Send>;

/// A request to a plugin's route.
#[derive(Clone, Debug)]
pub struct Visit {
    pub plugin: String,
    pub method: String,
    /// Without what follows a question mark, which may be secret.
    pub path: String,
    pub user: String,
}

#[derive(Clone, Debug)]
pub enum PluginWebError {
    /// There is no such plugin.
    Missing(String),
    /// It did not answer.
    Failed(String),
}

#[derive(Clone, Debug)]
pub struct Webhook {
    pub endpoint: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Service {
    /// A call by the plugin: it acts for whoever asks, and on its own account.
    pub async fn visit_plugin(
        &self,
        visit: Visit,
        pass: ForwardRequest,
    ) -> Result<(), PluginWebError> {
        self.with_plugins().await;
        let plugin = visit.plugin;
        let missing = || PluginWebError::Missing(format!("no plugin '{plugin}' is loaded"));
        let worker = self.plugins().worker_of(&plugin).ok_or_else(missing)?;
        let shown = vec![
            ("method".to_owned(), Value::from(visit.method)),
            ("path".to_owned(), Value::from(visit.path)),
            ("user".to_owned(), Value::from(visit.user)),
        ];
        let serving = worker.clone();
        let work = |_| async move {
            let stream = serving.connect_web().await?;
            let status = pass(stream).await.map_err(MethodError::new)?;
            Ok(Value::Int(status.into()))
        };
        let plugins = self.plugins();
        let passed = plugins.on_record(&worker, &plugin, "route", shown, work);
        let failed = |error: MethodError| PluginWebError::Failed(error.message);
        passed.await.map(drop).map_err(failed)
    }

    /// Plugins of one flavour know webhooks.
    pub async fn call_webhook(&self, hook: Webhook) -> Result<Json, String> {
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
        for plugin in self.plugins().listening(&hook.endpoint) {
            let Some(worker) = self.plugins().worker_of(&plugin) else {
                continue;
            };
            let shown = vec![
                ("endpoint".to_owned(), Value::from(hook.endpoint.clone())),
                ("bytes".to_owned(), Value::from(hook.body.len() as i64)),
            ];
            let mut arguments = arguments.clone();
            arguments.push(("plugin".to_owned(), Value::from(plugin.clone())));
            let asked = worker.clone();
            let work = |caller| async move {
                let answer = asked.ask("webhook", arguments, Some(&caller)).await?;
                Ok(answer)
            };
            let plugins = self.plugins();
            let done = plugins.on_record(&worker, &plugin, "webhook", shown, work);
            if let Err(error) = done.await {
                errors.insert(plugin.clone(), json!(error.message));
            }
            called.push(plugin);
        }
        if called.is_empty() {
            Err(format!("no plugin listens at '{}'", hook.endpoint))
        } else {
            Ok(json!({ "called": called, "errors": errors }))
        }
    }
}

//! Model servers on this machine: asked whether they are there, and only when the caller wants it.

use std::time::Duration;

use serde_json::Value as Json;

use crate::{settings::ModelSettings, transport};

#[derive(Clone, Copy, Debug)]
pub struct LocalServer<'a> {
    pub name: &'a str,
    pub base_url: &'a str,
    /// What the server's models must say of their owner, where the port alone proves nothing.
    pub owner: Option<&'a str>,
}

pub const USUAL_SERVERS: &[LocalServer<'static>] = &[
    LocalServer {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        owner: None,
    },
    LocalServer {
        name: "llama.cpp",
        base_url: "http://127.0.0.1:8080/v1",
        owner: Some("llamacpp"),
    },
];

/// A server that is there answers this at once.
const SILENCE: Duration = Duration::from_millis(400);

/// Every model of the servers that answer, as `<server>/<model>`.
pub(crate) async fn models(servers: &[LocalServer<'_>]) -> Vec<ModelSettings> {
    let mut found = Vec::new();
    for server in servers {
        let url = format!("{}/models", server.base_url);
        if let Ok(answer) = transport::get(&url, SILENCE).await {
            found.extend(listed(server, &answer.text(SILENCE).await));
        }
    }
    found
}

fn listed(server: &LocalServer<'_>, body: &str) -> Vec<ModelSettings> {
    let list: Json = serde_json::from_str(body).unwrap_or_default();
    let models = list.get("data").and_then(Json::as_array);
    let text = |model: &Json, key: &str| model.get(key)?.as_str().map(str::to_owned);
    let names = models
        .into_iter()
        .flatten()
        .filter(|model| {
            server.owner.is_none() || text(model, "owned_by").as_deref() == server.owner
        })
        .filter_map(|model| text(model, "id"));
    names
        .map(|name| ModelSettings {
            model: Some(name.clone()),
            ..ModelSettings::new(format!("{}/{name}", server.name), server.base_url)
        })
        .collect()
}

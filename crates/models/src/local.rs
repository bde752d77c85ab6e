//! Model servers on this machine: asked whether they are there, and only when the caller wants it.

use std::time::Duration;

use callgate_contract::Price;
use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use crate::{settings::ModelSettings, transport, wire::Wire};

#[derive(Clone, Copy, Debug)]
pub struct LocalServer<'a> {
    pub name: &'a str,
    /// Where it lists its models as OpenAI does.
    pub base_url: &'a str,
    pub wire: Wire,
    /// What the server's models must say of their owner, where the port alone proves nothing.
    pub owner: Option<&'a str>,
}

pub const USUAL_SERVERS: &[LocalServer<'static>] = &[
    LocalServer {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        wire: Wire::Ollama,
        owner: None,
    },
    LocalServer {
        name: "llama.cpp",
        base_url: "http://127.0.0.1:8080/v1",
        wire: Wire::Openai,
        owner: Some("llamacpp"),
    },
];

/// A server that is there answers this at once.
const SILENCE: Duration = Duration::from_millis(400);

/// Every model of the servers that answer, as `<server>/<model>`. `host` is where Ollama is said to
/// be.
pub async fn models(servers: &[LocalServer<'_>], host: Option<String>) -> Vec<ModelSettings> {
    let elsewhere = host.as_deref().and_then(ollama_at);
    let mut found = Vec::new();
    for server in servers {
        let mut server = *server;
        if let (Wire::Ollama, Some(base_url)) = (server.wire, &elsewhere) {
            server.base_url = base_url;
        }
        let url = format!("{}/models", server.base_url);
        if let Ok(answer) = transport::get(&url, HeaderMap::new(), SILENCE).await {
            found.extend(listed(&server, &answer.text(SILENCE).await));
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
            wire: Some(server.wire),
            // It runs on the operator's own machines.
            price: Some(Price::FREE),
            ..ModelSettings::new(format!("{}/{name}", server.name), server.base_url)
        })
        .collect()
}

/// What `OLLAMA_HOST` means to a client: scheme and port may be missing, and the address that a
/// server listens on everywhere is reached here.
fn ollama_at(host: &str) -> Option<String> {
    let host = host.trim().trim_end_matches('/');
    if host.is_empty() {
        return None;
    }
    let with_scheme = if host.contains("://") {
        host.to_owned()
    } else {
        format!("http://{host}")
    };
    let mut url = reqwest::Url::parse(&with_scheme).ok()?;
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    if url.port().is_none() && !host.contains("://") {
        url.set_port(Some(11434)).ok()?;
    }
    Some(format!("{}/v1", url.as_str().trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::ollama_at;

    #[test]
    fn the_host_of_ollama_is_read_as_its_own_clients_read_it() {
        for (host, expect) in [
            ("gpu", Some("http://gpu:11434/v1")),
            ("gpu:8000", Some("http://gpu:8000/v1")),
            ("0.0.0.0", Some("http://127.0.0.1:11434/v1")),
            (
                "https://ollama.example.com/",
                Some("https://ollama.example.com/v1"),
            ),
            ("http://gpu:11434/base", Some("http://gpu:11434/base/v1")),
            (" ", None),
        ] {
            assert_eq!(ollama_at(host).as_deref(), expect, "{host}");
        }
    }
}

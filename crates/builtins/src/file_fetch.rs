//! `file_fetch`: what a URL holds, for plugins. They reach the network anyway; asking us keeps them from
//! being led to addresses that are not public.

use callgate_contract::{Effect, Exposure, Kind, MethodError, Value};
use callgate_gate::{Call, Function};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    fetch::{FetchLimits, FetchPolicy, Fetcher, HostPattern},
    session::failed,
};

/// Bytes. It must fit a frame.
const MAX_FILE: usize = 7 << 20;

#[derive(Deserialize, JsonSchema)]
struct FileFetch {
    url: String,
    /// For whom; only where a plugin names it.
    #[serde(default)]
    #[allow(dead_code, reason = "accepted so that plugins need not leave it out")]
    session: Option<String>,
}

pub(crate) fn method() -> Function {
    let limits = FetchLimits {
        body: MAX_FILE,
        ..FetchLimits::default()
    };
    let fetcher = Fetcher::new(FetchPolicy::new(vec![HostPattern::Any])).limits(limits);
    let handler = move |_: Call, asked: FileFetch| file_fetch(fetcher.clone(), asked.url);
    callgate_gate::method("file_fetch", Kind::Tool, handler)
        .doc("What a public URL holds, with its name and media type.")
        .effect(Effect::Idempotent)
        .exposure(Exposure::PLUGINS)
}

async fn file_fetch(fetcher: Fetcher, url: String) -> Result<Value, MethodError> {
    let fetched = fetcher.get(&url).await.map_err(failed)?;
    if fetched.cut {
        let limit = MAX_FILE >> 20;
        return Err(MethodError::new(format!(
            "{url} holds more than {limit} MB"
        )));
    }
    let path = fetched.url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let entries: [(&str, Value); 4] = [
        ("data", Value::Bytes(fetched.body)),
        ("name", name.into()),
        ("media", fetched.media.essence.into()),
        ("path", Value::Null),
    ];
    let entries = entries.into_iter();
    Ok(Value::Dict(
        entries.map(|(key, value)| (key.into(), value)).collect(),
    ))
}

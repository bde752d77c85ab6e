//! `file_fetch`: what a URL holds, for plugins. They reach the network anyway; asking us keeps them from
//! being led to addresses that are not public.

use callgate_contract::{Effect, Exposure, Kind, MethodError, Value};
use callgate_gate::{Call, Function};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    fetch::{FetchLimits, FetchPolicy, Fetcher},
    session::failed,
};

/// Bytes. It must fit a frame.
const MAX_FILE: usize = 7 << 20;

#[derive(Deserialize, JsonSchema)]
struct FileFetch {
    url: String,
}

pub(crate) fn method(policy: &FetchPolicy) -> Function {
    let limits = FetchLimits {
        body: MAX_FILE,
        ..FetchLimits::default()
    };
    let fetcher = Fetcher::new(policy.anywhere()).limits(limits);
    let handler = move |_: Call, asked: FileFetch| file_fetch(fetcher.clone(), asked.url);
    callgate_gate::method("file_fetch", Kind::Tool, handler)
        .doc("What a public URL holds, with its name and media type.")
        .effect(Effect::Idempotent)
        .exposure(Exposure::PLUGINS)
}

async fn file_fetch(fetcher: Fetcher, url: String) -> Result<Value, MethodError> {
    let fetched = fetcher.file(&url).await.map_err(failed)?;
    let path = fetched.url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let entries: [(&str, Value); 3] = [
        ("data", Value::Bytes(fetched.body)),
        ("name", name.into()),
        ("media", fetched.media.essence.into()),
    ];
    let entries = entries.into_iter();
    Ok(Value::Dict(
        entries.map(|(key, value)| (key.into(), value)).collect(),
    ))
}

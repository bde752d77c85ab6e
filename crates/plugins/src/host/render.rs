//! Pages to pictures.

use std::{sync::Weak, time::Duration};

use callgate_contract::{Effect, Kind, Value};
use callgate_gate::{Call, Function, method as function};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::failed;
use crate::plugins::Inner;

/// Others may be before it.
const LIMIT: Duration = Duration::from_secs(180);

#[derive(Deserialize, JsonSchema)]
struct Page {
    html: String,
    /// `type` png or jpeg, `quality`, `full_page`, `clip`, `viewport`, `omit_background`.
    #[serde(default)]
    options: Json,
}

pub(super) fn methods(plugins: &Weak<Inner>) -> Vec<Function> {
    let plugins = plugins.clone();
    let render = move |_: Call, page: Page| {
        let plugins = plugins.upgrade();
        async move {
            let plugins = plugins.ok_or_else(|| failed("the host is being stopped"))?;
            let made = plugins.renderer.picture(&page.html, &page.options).await;
            made.map(Value::Bytes).map_err(failed)
        }
    };
    vec![
        function("html_render", Kind::Tool, render)
            .doc("A picture of a page, by a browser without network.")
            .effect(Effect::Pure)
            .deadline(LIMIT),
    ]
}

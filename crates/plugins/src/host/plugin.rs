//! Plugins about plugins: loading anew, switching on and off, methods that come and go, and packages
//! for their own worker.

use std::{sync::Weak, time::Duration};

use callgate_contract::{Effect, Kind, MethodError, Value};
use callgate_gate::{Call, Function, method as function};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::failed;
use crate::{Plugins, plugins::Inner};

/// An installer may take its time.
const INSTALL: Duration = Duration::from_secs(600);

#[derive(Deserialize, JsonSchema)]
struct PluginSelector {
    plugin: String,
}

#[derive(Deserialize, JsonSchema)]
struct Switch {
    plugin: String,
    enabled: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Install {
    worker: String,
    specs: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Offer {
    worker: String,
    plugin: String,
    /// All it has now, as when it was loaded.
    methods: Vec<Json>,
}

/// Tools of a plugin come and go while it runs.
fn offering(plugins: &Weak<Inner>) -> Function {
    let plugins = plugins.clone();
    let offer = move |_: Call, offer: Offer| {
        let plugins = plugins.upgrade();
        async move {
            let plugins = plugins.ok_or_else(|| failed("the host is being stopped"))?;
            let methods = offer.methods.into_iter().map(serde_json::from_value);
            let methods = methods.collect::<Result<_, _>>().map_err(failed)?;
            let known = plugins.offer_anew(&offer.worker, &offer.plugin, methods);
            Ok(Value::Bool(known))
        }
    };
    function("plugin_methods", Kind::Tool, offer)
        .doc("The plugin has these methods from now on.")
        .effect(Effect::Idempotent)
}

pub(super) fn methods(plugins: &Weak<Inner>) -> Vec<Function> {
    let (reloading, switching, installing) = (plugins.clone(), plugins.clone(), plugins.clone());
    vec![
        offering(plugins),
        function(
            "plugin_reload",
            Kind::Tool,
            move |_: Call, named: PluginSelector| {
                let plugins = upgraded(&reloading);
                async move {
                    let plugins = plugins?;
                    // Not waited for: it may be the asker itself that is loaded anew.
                    tokio::spawn(async move { plugins.reload(&named.plugin).await });
                    Ok(Value::Null)
                }
            },
        )
        .doc("Loads a plugin anew, soon."),
        function(
            "plugin_enable",
            Kind::Tool,
            move |_: Call, switch: Switch| {
                let plugins = upgraded(&switching);
                async move {
                    let done = plugins?.enable(&switch.plugin, switch.enabled).await;
                    done.map(Value::Bool).map_err(failed)
                }
            },
        )
        .doc("Offers a plugin's methods and hears its hooks, or neither."),
        function(
            "env_install",
            Kind::Tool,
            move |_: Call, install: Install| {
                let plugins = upgraded(&installing);
                async move {
                    let installed = plugins?.install(&install.worker, install.specs).await;
                    installed.map(|()| Value::Null).map_err(failed)
                }
            },
        )
        .doc("Adds packages to the environment of the asking worker.")
        .effect(Effect::Idempotent)
        .deadline(INSTALL)
        // Other people's code, asked for by code: whoever installed the plugin has not seen it.
        .with_approval()
        .leaf(),
    ]
}

fn upgraded(plugins: &Weak<Inner>) -> Result<Plugins, MethodError> {
    let plugins = plugins.upgrade().map(Plugins::of);
    plugins.ok_or_else(|| failed("the host is being stopped"))
}

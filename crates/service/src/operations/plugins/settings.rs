//! A plugin's settings: as a form, in which secrets stay hidden, and as its worker holds them.

use std::collections::BTreeMap;

use callgate_contract::{Value, json as value_json};
use callgate_plugins::{
    Plugin, WorkerError,
    form::{form, hidden, problems, restored},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{Capability, Hint, Listing, Operation, Requester, Service, ServiceError};

/// As a form.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetPluginConfig {
    pub id: String,
}

impl Operation for GetPluginConfig {
    type Response = PluginConfig;
    const NAME: &'static str = "plugins.get_config";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let plugin = service.loaded_plugin(&self.id).await?;
        let settings = service.plugin_settings(&plugin).await?;
        Ok(settings.as_form(&plugin.source.flavour))
    }
}

/// All of it or nothing, used at once.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPluginConfig {
    pub id: String,
    /// Those that change. `{"$secret": true}` leaves a secret as it is.
    pub values: Map<String, Json>,
}

impl Operation for SetPluginConfig {
    type Response = PluginConfig;
    const NAME: &'static str = "plugins.set_config";
    const CAPABILITY: Capability = Capability::Plugins;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let plugin = service.loaded_plugin(&self.id).await?;
        let flavour = &plugin.source.flavour;
        let settings = service.plugin_settings(&plugin).await?;
        let Some(form) = form(flavour, &settings.schema) else {
            let hint = "there is nothing to change";
            return Err(ServiceError::conflict("this plugin has no settings", hint));
        };
        let known = Json::Object(settings.values.clone());
        let values = restored(&form, &Json::Object(self.values), &known);
        let mut wrong = unknown_fields(&form, &values);
        if flavour == "astrbot" {
            // Compat(astrbot): a plugin takes whatever it is given.
            wrong.extend(problems(&form, &values));
        }
        if !wrong.is_empty() {
            return Err(refused_fields(wrong));
        }
        let Json::Object(values) = values else {
            return Err(ServiceError::invalid(
                "values are by name",
                "send an object",
            ));
        };
        if values.is_empty() {
            return Ok(settings.as_form(flavour));
        }
        match service.set_plugin_settings(&plugin, values).await {
            Ok(settings) => Ok(settings.as_form(flavour)),
            Err(WorkerError::Raised(failure)) => {
                let mut wrong = by_field(&form, &failure.message);
                if wrong.is_empty() {
                    wrong.insert(String::new(), failure.message.clone());
                }
                Err(refused_fields(wrong))
            }
            Err(error) => {
                let hint = "load the plugin again";
                Err(ServiceError::conflict(error.to_string(), hint))
            }
        }
    }
}

/// One form for all flavours.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginConfig {
    /// JSON Schema of an object, with what a form should know of a field at `x-ui`; none for a
    /// plugin without settings.
    pub schema: Option<Json>,
    /// Of a secret only whether one is set: `{"$secret": true}`.
    pub values: Map<String, Json>,
    pub file: Option<String>,
}

/// Shows its settings, or changes some first. Nothing is hidden: no route leads here.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigurePlugin {
    /// Its id, or the name of its folder.
    pub name: String,
    pub set: Map<String, Json>,
}

impl Operation for ConfigurePlugin {
    type Response = PluginSettings;
    const NAME: &'static str = "plugins.configure";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        service.with_plugins().await;
        let unloaded = || {
            let error = format!("no plugin '{}' is loaded", self.name);
            ServiceError::refused(error, Listing::Plugins)
        };
        let plugin = service.find_plugin(&self.name).ok_or_else(unloaded)?;
        if self.set.is_empty() {
            return service.plugin_settings(&plugin).await;
        }
        let changed = service.set_plugin_settings(&plugin, self.set).await;
        changed.map_err(|error| {
            let message = match error {
                // In the plugin's words; of which type its exception was helps nobody here.
                WorkerError::Raised(failure) if !failure.message.is_empty() => failure.message,
                error => error.to_string(),
            };
            ServiceError::refused(message, Hint::PluginSettings)
        })
    }
}

/// As the worker holds them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PluginSettings {
    /// In the flavour's own terms; null for a plugin without settings.
    #[serde(default)]
    pub schema: Json,
    #[serde(default)]
    pub values: Map<String, Json>,
    #[serde(default)]
    pub file: Option<String>,
}

impl PluginSettings {
    fn read(told: &Value) -> Self {
        serde_json::from_value(value_json::to_json(told)).unwrap_or_default()
    }

    fn as_form(&self, flavour: &str) -> PluginConfig {
        let schema = form(flavour, &self.schema);
        let values = match &schema {
            Some(schema) => hidden(schema, &Json::Object(self.values.clone())),
            None => Json::Null,
        };
        PluginConfig {
            schema,
            values: values.as_object().cloned().unwrap_or_default(),
            file: self.file.clone(),
        }
    }
}

impl Service {
    async fn plugin_settings(&self, plugin: &Plugin) -> Result<PluginSettings, ServiceError> {
        let id = &plugin.loaded.id;
        let told = self.ask_plugin(id, "config_get", Vec::new()).await;
        let failed = |error: WorkerError| ServiceError::refused(error.to_string(), "reload it");
        Ok(PluginSettings::read(&told.map_err(failed)?))
    }

    /// All of `set` or nothing, used at once; the settings as they are then.
    async fn set_plugin_settings(
        &self,
        plugin: &Plugin,
        set: Map<String, Json>,
    ) -> Result<PluginSettings, WorkerError> {
        let values = value_json::from_json(Json::Object(set))
            .map_err(|error| WorkerError::Unpassable(error.to_string()))?;
        let arguments = vec![("values".to_owned(), values)];
        let told = self.ask_plugin(&plugin.loaded.id, "config_set", arguments);
        Ok(PluginSettings::read(&told.await?))
    }

    async fn ask_plugin(
        &self,
        id: &str,
        what: &str,
        mut arguments: Vec<(String, Value)>,
    ) -> Result<Value, WorkerError> {
        let gone = || WorkerError::Unpassable("it has no worker".to_owned());
        let worker = self.plugins().worker_of(id).ok_or_else(gone)?;
        arguments.insert(0, ("plugin".to_owned(), Value::from(id.to_owned())));
        worker.ask(what, arguments, None).await
    }
}

fn refused_fields(wrong: BTreeMap<String, String>) -> ServiceError {
    let told: Vec<String> = wrong
        .iter()
        .map(|(field, text)| match field.as_str() {
            "" => text.clone(),
            field => format!("{field}: {text}"),
        })
        .collect();
    let hint = "`fields` says what is wrong with which; nothing was changed";
    ServiceError::invalid(told.join("; "), hint).with_fields(wrong)
}

fn unknown_fields(form: &Json, given: &Json) -> BTreeMap<String, String> {
    let names = given.as_object().into_iter().flat_map(Map::keys);
    let unknown = names.filter(|name| form["properties"].get(name.as_str()).is_none());
    let told = |name: &String| (name.clone(), "there is no such setting".to_owned());
    unknown.map(told).collect()
}

/// Flavours say a line for each field, that begins with its name.
fn by_field(form: &Json, message: &str) -> BTreeMap<String, String> {
    let read = |line: &str| {
        let (place, text) = line.split_once(": ")?;
        let name = place.split(['.', '[']).next()?.trim_matches('\'');
        form["properties"].get(name)?;
        Some((place.to_owned(), text.to_owned()))
    };
    message.lines().filter_map(read).collect()
}

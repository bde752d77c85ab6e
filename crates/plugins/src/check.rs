//! [`CheckReport`]: what a plugin turned out to be when it was read and loaded, what is missing, and
//! what its author could do better. Nothing here refuses a plugin.

use callgate_contract::MethodSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{
    LoadedPlugin, WorkerError,
    survey::{Survey, missing},
};

/// One plugin, as `plugin check` tells of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    pub path: String,
    pub flavour: Option<String>,
    pub ok: bool,
    /// Why it did not load, in a line.
    pub error: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceback: Option<String>,
    /// `file:line: text`.
    pub warnings: Vec<String>,
    /// Names of its methods that others have too, and which of them is meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<String>,
    /// What would be still better.
    pub hints: Vec<String>,
    pub id: Option<String>,
    pub name: String,
    pub version: String,
    pub methods: Vec<Json>,
    pub commands: Vec<Json>,
    pub hooks: Vec<String>,
    pub config: Option<Json>,
    /// What only its flavour has.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub extra: Json,
}

impl CheckReport {
    /// `configured` names what the operator has of what plugins may need, such as OneBot.
    pub fn new(
        survey: &Survey,
        loaded: Result<&LoadedPlugin, &WorkerError>,
        notes: Vec<String>,
        configured: &[&str],
    ) -> Self {
        let mut warnings = survey.warnings.clone();
        let needs = survey.needs.iter();
        let lacking = needs.filter(|need| !configured.contains(&need.what.as_str()));
        warnings.extend(
            lacking.map(|need| format!("{}: needs {}: not configured", need.place, need.what)),
        );
        warnings.extend(notes);
        let mut report = CheckReport {
            path: survey.path.display().to_string(),
            flavour: survey.flavour.clone(),
            ok: false,
            error: None,
            hint: None,
            traceback: None,
            warnings,
            shadows: Vec::new(),
            hints: survey.hints.clone(),
            id: None,
            name: survey.name.clone(),
            version: survey.version.clone(),
            methods: Vec::new(),
            commands: Vec::new(),
            hooks: Vec::new(),
            config: None,
            extra: Json::Null,
        };
        match loaded {
            Ok(loaded) => report.succeeded(loaded),
            Err(error) => report.failed(survey, error),
        }
        // One that can never be called is a fault, though the rest of the plugin works.
        if report.ok && !survey.errors.is_empty() {
            report.ok = false;
            report.error = Some(survey.errors.join("; "));
        }
        report
    }

    /// Of a plugin that could not even be asked to load.
    pub fn unknown(survey: &Survey) -> Self {
        let error = WorkerError::Unpassable(match survey.errors.first() {
            Some(error) => error.clone(),
            None => "it imports none of nekro_agent, astrbot, callgate".to_owned(),
        });
        let mut report = CheckReport::new(survey, Err(&error), Vec::new(), &[]);
        let hint = if survey.errors.is_empty() {
            "a plugin imports one of them; `callgate plugin new NAME` makes one to begin with"
        } else {
            "give the folder of a plugin, or its one .py file"
        };
        report.hint = Some(hint.to_owned());
        report
    }

    fn succeeded(&mut self, loaded: &LoadedPlugin) {
        self.ok = true;
        self.id = Some(loaded.id.clone());
        self.name.clone_from(&loaded.name);
        if !loaded.version.is_empty() {
            self.version.clone_from(&loaded.version);
        }
        self.warnings.extend_from_slice(&loaded.warnings);
        self.methods = loaded.methods.iter().map(method).collect();
        self.commands.clone_from(&loaded.commands);
        self.hooks.clone_from(&loaded.hooks);
        self.config = loaded.config.as_ref().map(values);
        if !loaded.extra.is_empty() {
            self.extra = json!(loaded.extra);
        }
    }

    fn failed(&mut self, survey: &Survey, error: &WorkerError) {
        self.error = Some(error.to_string());
        if let WorkerError::Raised(failure) = error {
            self.traceback = Some(failure.traceback.clone()).filter(|text| !text.is_empty());
            self.hint = failure.hint.clone();
            if let Some(module) = &failure.missing {
                self.hint = Some(missing(&survey.path, module));
            }
        }
    }
}

/// Some flavours describe the fields of a configuration as well.
fn values(config: &Json) -> Json {
    match (config.get("values"), config.get("fields")) {
        (Some(values), Some(_)) => values.clone(),
        _ => config.clone(),
    }
}

fn method(spec: &MethodSpec) -> Json {
    json!({
        "name": spec.name,
        "aliases": spec.aliases,
        "kind": spec.kind,
        "title": spec.title,
        "description": spec.description,
        "doc": spec.doc,
        "parameters": spec.parameters,
        "returns": spec.returns,
    })
}

//! The operator's configuration: every key, what it is and where that is said. The file is changed as
//! text; what cannot change while the server runs is used after a restart.

use std::{collections::BTreeMap, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use toml::{Table, Value};

use crate::{
    Capability, Operation, Requester, Service, ServiceError,
    config::{
        Edit,
        keys::{KEYS, Key, Shape},
    },
};

/// Used at once when they change, unlike most.
const LIVE: [&str; 6] = [
    "approval.ask",
    "approval.known_values",
    "models.default",
    "models.vision",
    "models.embedding",
    "plugins.prefer",
];
/// The same of all in a section.
const LIVE_SECTIONS: [&str; 6] = ["agent", "answer", "budget", "journal", "keep", "pace"];
/// A password may stand in it.
const SECRET: [&str; 1] = ["database.url"];

/// Every setting, what it is and where that is said.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListSettings {}

impl Operation for ListSettings {
    type Response = SettingsView;
    const NAME: &'static str = "settings.list";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        Ok(service.settings_view(Vec::new()))
    }
}

/// By `section.field`; null goes back to the default.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSettings {
    pub values: Map<String, Json>,
}

impl Operation for ChangeSettings {
    type Response = SettingsView;
    const NAME: &'static str = "settings.change";
    const CAPABILITY: Capability = Capability::Settings;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let file = service.config_file();
        let mut edit = Edit::open(file)?;
        let mut wrong: BTreeMap<String, String> = BTreeMap::new();
        let mut changed = Vec::new();
        for (name, value) in &self.values {
            match change(&mut edit, name, value) {
                Ok(true) => changed.push(name.clone()),
                Ok(false) => {}
                Err(text) => {
                    wrong.insert(name.clone(), text);
                }
            }
        }
        if !wrong.is_empty() {
            let told: Vec<&String> = wrong.values().collect();
            let told = told.into_iter().cloned().collect::<Vec<_>>().join("; ");
            let hint = "`fields` says what is wrong with which; nothing was changed";
            return Err(ServiceError::invalid(told, hint).with_fields(wrong));
        }
        if !changed.is_empty() {
            edit.save()?;
            service.read_config().await?;
        }
        changed.retain(|name| !is_live(name));
        Ok(service.settings_view(changed))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettingsView {
    /// Where changes are written.
    pub file: String,
    pub items: Vec<SettingView>,
    /// Those whose new value is used after a restart.
    pub restart: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettingView {
    /// `section.field`.
    pub name: String,
    pub shape: SettingShape,
    /// The shape in words.
    pub words: String,
    /// Of a choice.
    pub choices: Vec<String>,
    /// Of a secret only whether one is set: `{"$secret": true}`.
    pub value: Json,
    /// In words.
    pub default: String,
    pub source: SettingSource,
    pub secret: bool,
    pub meaning: String,
    /// The environment variable that sets it.
    pub variable: String,
    /// A change is used at once.
    pub live: bool,
    /// It cannot be changed here: the environment says it, or it has routes of its own.
    pub locked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingShape {
    Text,
    Choice,
    Count,
    Number,
    Fraction,
    /// Of money.
    Amount,
    Flag,
    Names,
    Tables,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    Default,
    File,
    Environment,
}

impl Service {
    fn settings_view(&self, restart: Vec<String>) -> SettingsView {
        let file = self.config_file();
        let written = written(file);
        let now = json!(*self.configured());
        let view = |key: &Key| {
            let variable = key.variable();
            let in_environment = std::env::var_os(&variable).is_some_and(|it| !it.is_empty());
            let in_file = written
                .get(key.section())
                .and_then(|it| it.get(key.field()));
            let secret = SECRET.contains(&key.name);
            let value = &now[key.section()][key.field()];
            let is_list = matches!(key.shape, Shape::Models);
            SettingView {
                name: key.name.to_owned(),
                shape: shape(key.shape),
                words: key.shape.words().to_owned(),
                choices: choices(key.shape),
                value: match () {
                    () if is_list => Json::Null,
                    () if secret => json!({ "$secret": !value.is_null() }),
                    () => value.clone(),
                },
                default: key.default.to_owned(),
                source: match (in_environment, in_file) {
                    (true, _) => SettingSource::Environment,
                    (false, Some(_)) => SettingSource::File,
                    (false, None) => SettingSource::Default,
                },
                secret,
                meaning: key.meaning.to_owned(),
                variable,
                live: is_live(key.name),
                locked: in_environment || is_list,
            }
        };
        SettingsView {
            file: file.display().to_string(),
            items: KEYS.iter().map(view).collect(),
            restart,
        }
    }
}

pub(crate) fn is_live(name: &str) -> bool {
    let section = name.split('.').next().unwrap_or_default();
    LIVE.contains(&name) || LIVE_SECTIONS.contains(&section)
}

/// False if there is nothing to change: what was sent stands for a secret that stays.
fn change(edit: &mut Edit, name: &str, value: &Json) -> Result<bool, String> {
    let key = KEYS.iter().find(|key| key.name == name);
    let key = key.ok_or_else(|| "there is no such setting".to_owned())?;
    if matches!(key.shape, Shape::Models) {
        return Err("models are changed one by one, not as a setting".to_owned());
    }
    let variable = key.variable();
    if std::env::var_os(&variable).is_some_and(|it| !it.is_empty()) {
        return Err(format!("{variable} says it, and that outranks the file"));
    }
    if value.get("$secret").is_some() {
        return Ok(false);
    }
    let value = match value {
        Json::Null => None,
        given => {
            let unfit = || format!("this is not {}", key.shape.words());
            Some(Value::try_from(given).map_err(|_| unfit())?)
        }
    };
    if let Some(value) = &value {
        crate::config::check(key, value.clone(), name).map_err(|failure| failure.message)?;
    }
    edit.set(key.section(), key.field(), value.as_ref())
        .map_err(|failure| failure.message)?;
    Ok(true)
}

fn written(file: &Path) -> Table {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn shape(shape: Shape) -> SettingShape {
    match shape {
        Shape::Text => SettingShape::Text,
        Shape::Choice(_) if choices(shape).is_empty() => SettingShape::Text,
        Shape::Choice(_) => SettingShape::Choice,
        Shape::Count => SettingShape::Count,
        Shape::Number => SettingShape::Number,
        Shape::Fraction => SettingShape::Fraction,
        Shape::Amount => SettingShape::Amount,
        Shape::Flag => SettingShape::Flag,
        Shape::Names => SettingShape::Names,
        Shape::Models => SettingShape::Tables,
    }
}

/// The words that stand in quotation marks.
fn choices(shape: Shape) -> Vec<String> {
    let Shape::Choice(words) = shape else {
        return Vec::new();
    };
    words
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

//! `callgate plugin config`: a plugin's settings, as its worker holds them.

use std::process::ExitCode;

use serde_json::{Map, Value as Json};

use callgate_service::operations::{ConfigurePlugin, PluginSettings};

use crate::{
    args::{Common, ConfigPlugin},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, config: ConfigPlugin) -> Result<ExitCode, Failure> {
    let set = read(&config.set)?;
    let configure = ConfigurePlugin {
        name: config.name,
        set,
    };
    let settings = crate::commands::call(common, Purpose::Work, configure).await?;
    common.show(&settings, show_settings);
    Ok(ExitCode::SUCCESS)
}

fn show_settings(settings: &PluginSettings) {
    let told = |name: &str| {
        let field = &settings.schema["properties"][name];
        let text = field["title"].as_str().or(field["description"].as_str());
        paint(Colour::Dim, text.unwrap_or_default())
    };
    let rows: Vec<Vec<String>> = settings
        .values
        .iter()
        .map(|(name, value)| vec![name.clone(), value.to_string(), told(name)])
        .collect();
    show::data(&show::table(&rows));
    match &settings.file {
        Some(file) => show::note(&format!("kept in {file}")),
        None => show::note("it has no settings"),
    }
}

fn read(set: &[String]) -> Result<Map<String, Json>, Failure> {
    set.iter()
        .map(|entry| match entry.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                let value = serde_json::from_str(value).unwrap_or_else(|_| Json::from(value));
                Ok((name.to_owned(), value))
            }
            _ => Err(Failure::new(
                format!("'{}' sets nothing", entry.escape_debug()),
                "write NAME=VALUE, as in city=Rome",
            )),
        })
        .collect()
}

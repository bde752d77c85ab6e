//! Plugins over HTTP: how they are, switching, settings as a form, what they printed, installing.

mod view;

use std::{collections::BTreeMap, io::Write};

use crate::{
    ServiceError,
    operations::{
        ConfigurePlugin, InstallPlugin, PluginConfig, PluginLine, PluginLogs, PluginSource,
        PluginView, SwitchPlugin, WhichPlugin,
    },
};
use callgate_contract::SessionKey;
use callgate_plugins::{
    Plugin, WorkerError,
    form::{form, hidden, problems, restored},
    install::{InstallOptions, Installation},
};
use serde_json::{Map, Value as Json, json};

use crate::Service;
use crate::plugins::skeleton;

/// Bytes of a plugin's log that are looked at.
const TAIL: u64 = 1 << 20;

impl Service {
    pub async fn plugin_view(
        &self,
        id: &str,
        session: Option<&SessionKey>,
    ) -> Result<PluginView, ServiceError> {
        let views = self.plugin_views(session).await;
        // One that came back may have learned its own id meanwhile.
        let found = views
            .into_iter()
            .find(|view| view.id == id || view.folder.as_deref() == Some(id));
        found.ok_or_else(|| unknown(id))
    }

    /// What the command line calls it: the name of its folder.
    pub async fn plugin_name(&self, id: &str) -> Result<String, ServiceError> {
        let view = self.plugin_view(id, None).await?;
        Ok(view.folder.unwrap_or(view.id))
    }

    pub async fn switch_plugin(&self, ask: SwitchPlugin) -> Result<PluginView, ServiceError> {
        let view = self.plugin_view(&ask.plugin, None).await?;
        let plugins = self.plugins();
        if let Some(session) = &ask.session {
            if !plugins
                .enable_in(&view.id, session, ask.enabled)
                .await
                .map_err(ServiceError::from)?
            {
                let hint = "enable it everywhere first";
                return Err(ServiceError::conflict("this plugin is not loaded", hint));
            }
            return self.plugin_view(&view.id, Some(session)).await;
        }
        if let Some(folder) = &view.folder {
            self.shelf
                .library()
                .enable(folder, ask.enabled)
                .map_err(ServiceError::from)?;
            self.reload_plugins(Some(folder.clone())).await?;
        }
        // Also where another plugin had switched it off.
        plugins
            .enable(&view.id, ask.enabled)
            .await
            .map_err(ServiceError::from)?;
        self.plugin_view(&view.id, None).await
    }

    pub async fn reload_plugin(&self, id: &str) -> Result<PluginView, ServiceError> {
        let name = self.plugin_name(id).await?;
        self.reload_plugins(Some(name)).await?;
        self.plugin_view(id, None).await
    }

    pub async fn remove_plugin(&self, id: &str) -> Result<(), ServiceError> {
        let view = self.plugin_view(id, None).await?;
        let Some(folder) = view.folder else {
            let hint = "it was given on the command line, or lies in the folder of functions";
            return Err(ServiceError::conflict(
                format!("'{id}' is not installed"),
                hint,
            ));
        };
        self.shelf
            .library()
            .remove(&folder)
            .map_err(ServiceError::from)?;
        self.reload_plugins(None).await?;
        Ok(())
    }

    pub async fn loaded_plugin(&self, id: &str) -> Result<Plugin, ServiceError> {
        self.with_plugins().await;
        if let Some(plugin) = self.shelf.find(id) {
            return Ok(plugin);
        }
        let view = self.plugin_view(id, None).await?;
        let hint = "see its error, mend it and load it again";
        let state = json!(view.state);
        let why = format!("'{id}' is {}", state.as_str().unwrap_or("not loaded"));
        Err(ServiceError::conflict(why, hint))
    }

    pub async fn described(&self, plugin: &Plugin) -> Result<(Option<Json>, Json), ServiceError> {
        let described = self.plugin_config(&plugin.loaded.id, Map::new()).await?;
        let form = form(&plugin.source.flavour, &described["schema"]);
        Ok((form, described))
    }

    pub async fn plugin_form(&self, id: &str) -> Result<PluginConfig, ServiceError> {
        let plugin = self.loaded_plugin(id).await?;
        let (form, described) = self.described(&plugin).await?;
        Ok(shown(form, &described))
    }

    pub async fn configure_plugin(
        &self,
        ask: ConfigurePlugin,
    ) -> Result<PluginConfig, ServiceError> {
        let plugin = self.loaded_plugin(&ask.plugin).await?;
        let (form, described) = self.described(&plugin).await?;
        let Some(form) = form else {
            let hint = "there is nothing to change";
            return Err(ServiceError::conflict("this plugin has no settings", hint));
        };
        let given = restored(&form, &Json::Object(ask.values), &described["values"]);
        let mut wrong = unknown_fields(&form, &given);
        if plugin.source.flavour == "astrbot" {
            // Compat(astrbot): a plugin takes whatever it is given.
            wrong.extend(problems(&form, &given));
        }
        if !wrong.is_empty() {
            return Err(refused_fields(wrong));
        }
        let Json::Object(values) = given else {
            return Err(ServiceError::invalid(
                "values are by name",
                "send an object",
            ));
        };
        if values.is_empty() {
            return Ok(shown(Some(form), &described));
        }
        match self.set_plugin_config(&plugin, values).await {
            Ok(described) => Ok(shown(Some(form), &described)),
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

    pub async fn plugin_logs(&self, ask: WhichPlugin) -> Result<PluginLogs, ServiceError> {
        let view = self.plugin_view(&ask.plugin, None).await?;
        let file = self.plugins().log_of(&view.id);
        let read = tokio::task::spawn_blocking(move || tail(&file)).await;
        let text = match read {
            Ok(Ok(text)) => text,
            // Nothing was printed yet.
            _ => String::new(),
        };
        let lines: Vec<PluginLine> = text.lines().map(line).collect();
        let skip = lines.len().saturating_sub(ask.limit);
        Ok(PluginLogs {
            lines: lines.into_iter().skip(skip).collect(),
        })
    }

    /// Fetches, puts in place and loads it; what came of that.
    pub async fn install_plugin(&self, ask: InstallPlugin) -> Result<Json, ServiceError> {
        let library = self.shelf.library().clone();
        let say = ask.say.clone();
        let installing = tokio::task::spawn_blocking(move || {
            let broken = |error: std::io::Error| {
                let hint = "check the space in the folder for temporary files (TMPDIR)";
                ServiceError::refused(format!("cannot take it in: {error}"), hint)
            };
            let mut options = InstallOptions {
                name: ask.name,
                replace: ask.replace,
                with: ask.with,
                told_as: None,
            };
            // Kept until it is copied.
            let folder = tempfile::tempdir().map_err(broken)?;
            let source = match ask.source {
                PluginSource::Named(source) => source,
                PluginSource::Archive(bytes) => {
                    options.told_as = Some("an uploaded archive".to_owned());
                    let name = options.name.clone().or_else(|| top(&bytes));
                    options.name = Some(name.unwrap_or_else(|| "plugin".to_owned()));
                    let path = folder.path().join("plugin.zip");
                    let mut file = std::fs::File::create(&path).map_err(broken)?;
                    file.write_all(&bytes).map_err(broken)?;
                    path.display().to_string()
                }
                PluginSource::New => {
                    options.told_as = Some("a skeleton".to_owned());
                    let path = folder
                        .path()
                        .join(options.name.as_deref().unwrap_or_default());
                    skeleton::make(&path)?;
                    path.display().to_string()
                }
            };
            let placed = library.install(&source, &options, &*say)?;
            for warning in &placed.found.warnings {
                say(warning);
            }
            Ok::<_, ServiceError>(placed)
        });
        let broken = |error: tokio::task::JoinError| {
            let hint = "this is a fault of callgate: report it";
            ServiceError::refused(format!("the work broke: {error}"), hint)
        };
        let Installation {
            installed,
            previous,
            ..
        } = installing.await.map_err(broken)??;
        (ask.say)("loading");
        self.reload_plugins(Some(installed.name.clone())).await?;
        let view = self.plugin_view(&installed.name, None).await?;
        if let Some(error) = &view.error {
            (ask.say)(&error.message);
            if let Some(previous) = previous {
                self.shelf
                    .library()
                    .restore(previous)
                    .map_err(ServiceError::from)?;
                self.reload_plugins(Some(installed.name.clone())).await?;
                let name = &installed.name;
                let why = format!(
                    "the new {name} does not load: {}; the one before is back",
                    error.message
                );
                let hint = "`callgate plugin check` shows where it fails";
                return Err(ServiceError::refused(why, hint));
            }
        }
        Ok(json!({ "plugin": view.id, "state": view.state }))
    }
}

fn unknown(id: &str) -> ServiceError {
    ServiceError::not_found(format!("no plugin '{id}'"), "GET /api/plugins lists them")
}

fn shown(form: Option<Json>, described: &Json) -> PluginConfig {
    let values = match &form {
        Some(form) => hidden(form, &described["values"]),
        None => Json::Null,
    };
    PluginConfig {
        schema: form,
        values: values.as_object().cloned().unwrap_or_default(),
        file: described["file"].as_str().map(str::to_owned),
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

/// The end of a log, from the beginning of a line.
fn tail(file: &std::path::Path) -> std::io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(file)?;
    let start = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match (start, text.split_once('\n')) {
        (1.., Some((_, rest))) => rest.to_owned(),
        _ => text,
    })
}

/// `2026-11-15 10:00:00 text`.
fn line(text: &str) -> PluginLine {
    const TIME: usize = "2026-11-15 10:00:00".len();
    let at = text.get(..TIME).filter(|at| {
        let digits = at.bytes().filter(u8::is_ascii_digit).count();
        digits == 14
    });
    match (at, text.get(TIME + 1..)) {
        (Some(at), Some(rest)) => PluginLine {
            at: Some(at.to_owned()),
            text: rest.to_owned(),
        },
        _ => PluginLine {
            at: None,
            text: text.to_owned(),
        },
    }
}

/// The folder at the top of an archive, as its first entry names it.
fn top(archive: &[u8]) -> Option<String> {
    let length = u16::from_le_bytes(archive.get(26..28)?.try_into().ok()?);
    let name = archive.get(30..30 + usize::from(length))?;
    let (folder, _) = std::str::from_utf8(name).ok()?.split_once('/')?;
    let folder = folder.strip_suffix("-main").unwrap_or(folder);
    let folder = folder.strip_suffix("-master").unwrap_or(folder);
    (!folder.is_empty()).then(|| folder.to_owned())
}

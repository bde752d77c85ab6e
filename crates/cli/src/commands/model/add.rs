//! `callgate model add`: a model is put together, tried, and only then written down.

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
};

use callgate_contract::Model;
use callgate_models::{ModelSettings, PROVIDERS, Provider, Remote};
use serde_json::json;

use super::check;
use crate::{
    args::{AddModel, Common},
    config::{Config, Entry, NewEntry},
    failure::Failure,
    show,
};

/// A key is a line; what is longer is a file given by mistake.
const LONGEST_KEY: u64 = 16 << 10;

pub(super) async fn perform(common: &Common, new: AddModel) -> Result<ExitCode, Failure> {
    let known = common.settings()?;
    if known
        .config
        .models
        .list
        .iter()
        .any(|entry| entry.id() == new.id)
    {
        let error = format!("there is a model '{}' already", new.id);
        return Err(Failure::new(
            error,
            "choose another id, or change it in the file",
        ));
    }
    let listed = |id: &&String| {
        known
            .config
            .models
            .list
            .iter()
            .any(|entry| entry.id() == *id)
    };
    if let Some(id) = new.fallback.iter().find(|id| !listed(id)) {
        let error = format!("the fallback '{id}' is no model of the file");
        return Err(Failure::new(error, "add that one first"));
    }
    let check = !new.no_check;
    let entry = put_together(new)?;
    let read = entry.settings().map_err(|reason| {
        let hint = "docs/configuration.md shows how a model is written down";
        Failure::new(reason, hint)
    })?;
    let (id, wire, name) = (
        read.id.clone(),
        read.wire().to_string(),
        read.name().to_owned(),
    );
    let millis = match check {
        true => Some(tried(read).await?),
        false => None,
    };
    let file = Config::file(&known.data, common.config.as_deref());
    entry.append_to(&file)?;
    let file = file.display().to_string();
    if common.json {
        show::json(&json!({
            "id": id, "file": file, "wire": wire, "name": name,
            "checked": check, "millis": millis,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(millis) = millis {
        show::note(&format!(
            "{name} answers over the wire '{wire}' ({millis} ms)"
        ));
    }
    show::note(&format!(
        "written into {file}; a server that runs already must be started anew"
    ));
    Ok(ExitCode::SUCCESS)
}

async fn tried(mut settings: ModelSettings) -> Result<u64, Failure> {
    let id = settings.id.clone();
    settings.retries = 0;
    let model: &dyn Model = &Remote::new(settings)?;
    let verdict = check::ask(&id, model, false).await;
    match verdict.failure {
        None => {}
        Some(failure) if verdict.key_is_good => show::note(&failure.error),
        Some(failure) => {
            let hint = format!("{}; --no-check writes it down all the same", failure.hint);
            return Err(Failure::new(failure.error, hint));
        }
    }
    Ok(verdict.millis)
}

fn put_together(new: AddModel) -> Result<NewEntry, Failure> {
    let provider = provider(&new)?;
    let base_url = new.base_url.clone();
    let base_url = base_url.or_else(|| provider.map(|known| known.base_url.to_owned()));
    let base_url = base_url.ok_or_else(|| {
        let names: Vec<&str> = PROVIDERS.iter().map(|known| known.id).collect();
        let hint = format!(
            "give --base-url URL, or --provider with one of {}",
            names.join(", ")
        );
        Failure::new(format!("no provider is called '{}'", new.id), hint)
    })?;
    let usual_model = provider.map(|known| known.model.to_owned());
    let mut entry = NewEntry::new(&new.id, &base_url);
    entry.text("model", new.model.clone().or(usual_model).as_deref());
    entry.text("wire", new.wire.as_deref());
    match key(&new, provider)? {
        Some(Key::Variable(name)) => entry.text(Entry::VARIABLE, Some(&name)),
        Some(Key::Itself(key)) => entry.secret(&key),
        None => {}
    }
    entry.list("fallback", &new.fallback);
    entry.accepts(new.image, new.audio);
    Ok(entry)
}

/// The one that was named; else, where no address is given, the one the model is named after.
fn provider(new: &AddModel) -> Result<Option<&'static Provider>, Failure> {
    let called = |name: &str| PROVIDERS.iter().find(|known| known.id == name);
    match (&new.provider, &new.base_url) {
        (Some(name), _) => called(name).map(Some).ok_or_else(|| {
            let names: Vec<&str> = PROVIDERS.iter().map(|known| known.id).collect();
            let hint = format!(
                "those known are {}; others need --base-url",
                names.join(", ")
            );
            Failure::new(format!("no provider is called '{name}'"), hint)
        }),
        (None, None) => Ok(called(&new.id)),
        (None, Some(_)) => Ok(None),
    }
}

enum Key {
    Variable(String),
    Itself(String),
}

fn key(new: &AddModel, provider: Option<&Provider>) -> Result<Option<Key>, Failure> {
    let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if new.key_stdin {
        return read_key().map(Key::Itself).map(Some);
    }
    if let Some(name) = &new.key_env {
        let hint = format!("export {name}=..., or give the key by --key-stdin");
        return match is_set(name) {
            true => Ok(Some(Key::Variable(name.clone()))),
            false => Err(Failure::new(format!("{name} is not set"), hint)),
        };
    }
    let Some(provider) = provider else {
        return Ok(None);
    };
    let variables = provider.key_variables();
    match variables.iter().find(|name| is_set(name)) {
        Some(name) => Ok(Some(Key::Variable(name.clone()))),
        None => {
            let error = format!("{} needs a key", provider.id);
            let hint = format!(
                "set {}, or give --key-env or --key-stdin",
                variables.join(" or ")
            );
            Err(Failure::new(error, hint))
        }
    }
}

fn read_key() -> Result<String, Failure> {
    let hint = "for example: callgate model add ID --key-stdin < key.txt";
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Failure::new("typed here, the key would be seen", hint));
    }
    let mut text = String::new();
    let read = stdin.lock().take(LONGEST_KEY).read_to_string(&mut text);
    let key = text.trim();
    match read {
        Ok(_) if !key.is_empty() && !key.contains(char::is_whitespace) => Ok(key.to_owned()),
        _ => Err(Failure::new("standard input holds no key", hint)),
    }
}

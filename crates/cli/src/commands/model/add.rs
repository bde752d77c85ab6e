//! `callgate model add`: a model is put together, tried, and only then written down.

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
};

use serde_json::json;

use callgate_service::{
    config::Config,
    models::{KeyFrom, ModelDraft, tried},
};

use crate::{
    args::{AddModel, Common},
    failure::Failure,
    show,
};

/// A key is a line; what is longer is a file given by mistake.
const LONGEST_KEY: u64 = 16 << 10;

pub(super) async fn perform(common: &Common, new: AddModel) -> Result<ExitCode, Failure> {
    let known = common.settings()?;
    let check = !new.no_check;
    let wanted = ModelDraft {
        id: new.id,
        provider: new.provider,
        base_url: new.base_url,
        model: new.model,
        wire: new.wire,
        key: None,
        fallback: new.fallback,
        image: new.image,
        audio: new.audio,
    };
    wanted.fits(&known.config)?;
    let key = match (new.key_stdin, new.key_env) {
        (true, _) => Some(KeyFrom::Itself(read_key()?)),
        (false, Some(name)) => Some(KeyFrom::Variable(name)),
        (false, None) => None,
    };
    let (entry, read) = ModelDraft { key, ..wanted }.put_together()?;
    let (id, wire, name) = (
        read.id.clone(),
        read.wire().to_string(),
        read.name().to_owned(),
    );
    let mut millis = None;
    if check {
        let verdict = tried(read).await?;
        match verdict.failure {
            None => {}
            Some(failure) if verdict.key_is_good => show::note(&failure.message),
            Some(failure) => {
                let hint = format!("{}; --no-check writes it down all the same", failure.hint);
                return Err(Failure::new(failure.message, hint));
            }
        }
        millis = Some(verdict.millis);
    }
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

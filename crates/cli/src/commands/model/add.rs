//! `callgate model add`: a model is tried, and only then written down.

use std::{
    io::{IsTerminal, Read},
    process::ExitCode,
};

use callgate_service::operations::{AddModel as AddRequest, AddedModel, NewModel};
use serde_json::json;

use crate::{
    args::{AddModel, Common},
    connect::Purpose,
    failure::Failure,
    show,
};

/// A key is a line; what is longer is a file given by mistake.
const LONGEST_KEY: u64 = 16 << 10;

pub(super) async fn perform(common: &Common, new: AddModel) -> Result<ExitCode, Failure> {
    let request = AddRequest(NewModel {
        key: new.key_stdin.then(read_key).transpose()?,
        id: new.id,
        provider: new.provider,
        base_url: new.base_url,
        model: new.model,
        wire: new.wire,
        key_env: new.key_env,
        fallback: new.fallback,
        image: new.image,
        audio: new.audio,
        default: false,
        check: !new.no_check,
    });
    let added = crate::commands::call(common, Purpose::Look, request).await?;
    show_added(common, added);
    Ok(ExitCode::SUCCESS)
}

fn show_added(common: &Common, added: AddedModel) {
    let AddedModel { model, test, file } = added;
    if let Some(error) = test.as_ref().and_then(|test| test.error.as_ref()) {
        show::note(error);
    }
    if common.json {
        show::json(&json!({
            "id": model.id, "file": file, "wire": model.wire, "name": model.name,
            "checked": test.is_some(), "millis": test.map(|test| test.millis),
        }));
        return;
    }
    if let (Some(test), Some(name), Some(wire)) = (test, model.name, model.wire)
        && test.ok
    {
        show::note(&format!(
            "{name} answers over the wire '{wire}' ({} ms)",
            test.millis
        ));
    }
    show::note(&format!("written into {file}"));
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

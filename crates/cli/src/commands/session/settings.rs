//! `callgate session set`: the keys of `answer` and `pace` that are different in one session.

use callgate_contract::SessionKey;
use callgate_service::{
    config::keys::{HINT, KEYS, Key},
    operations::{SessionView, UpdateSession},
};
use serde_json::{Map, Value as Json};

use crate::{
    failure::Failure,
    show::{self, Colour, paint},
};

/// From `section.key=value`, each value written as in an environment variable.
pub(super) fn update(session: SessionKey, values: &[String]) -> Result<UpdateSession, Failure> {
    let mut update = UpdateSession {
        session,
        model: None,
        persona: None,
        mode: None,
        muted: None,
        answer: Map::new(),
        pace: Map::new(),
    };
    for text in values {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let key = KEYS.iter().find(|key| key.name == name.trim());
        let (section, key) = match key.map(|key| (key.section(), key)) {
            Some(("answer", key)) => (&mut update.answer, key),
            Some(("pace", key)) => (&mut update.pace, key),
            _ => {
                let message = format!("'{name}' is no key of answer or pace");
                return Err(Failure::new(message, HINT));
            }
        };
        section.insert(key.field().to_owned(), read(key, value));
    }
    Ok(update)
}

fn read(key: &Key, value: &str) -> Json {
    match value.trim() {
        "" => Json::Null,
        text => serde_json::to_value(key.shape.read(text)).unwrap_or_default(),
    }
}

pub(super) fn show(session: &SessionView) {
    for (section, own) in [("answer", &session.answer), ("pace", &session.pace)] {
        for (key, value) in own {
            let name = paint(Colour::Bold, &format!("{section}.{key}"));
            show::line(&format!("{name} = {value}"));
        }
    }
    if session.answer.is_empty() && session.pace.is_empty() {
        show::note("what callgate.toml says holds here");
    }
}

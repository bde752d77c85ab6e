//! AstrBot's personas: a row of its table, what its API gives, or an entry of its older
//! configuration.

use callgate_contract::Mode;
use callgate_store::NewPersona;
use serde_json::Value as Json;

use super::{Card, CardError, Source, name};

pub(super) fn read(json: &Json) -> Result<Card, CardError> {
    let text = |keys: [&str; 2]| {
        let mut found = keys.iter().filter_map(|key| json[*key].as_str());
        found.next().unwrap_or_default()
    };
    let prompt = text(["system_prompt", "prompt"]);
    if json.get("system_prompt").is_none() && json.get("prompt").is_none() {
        return Err(CardError::Unknown(
            "it has neither a prompt nor a first message",
        ));
    }
    let own = name(text(["persona_id", "name"])).ok_or(CardError::Unknown("it has no name"))?;
    let mut notes = Vec::new();
    let mut dialogs = list(&json["begin_dialogs"]).unwrap_or_default();
    if !dialogs.len().is_multiple_of(2) {
        // Compat(astrbot): an odd number of opening lines is stored there, and not used.
        notes.push("its opening lines are odd in number and were left out".to_owned());
        dialogs.clear();
    }
    if list(&json["mood_imitation_dialogs"]).is_some_and(|lines| !lines.is_empty()) {
        notes.push("mood_imitation_dialogs have no effect any more and were left out".to_owned());
    }
    if list(&json["skills"]).is_some_and(|skills| !skills.is_empty()) {
        notes.push("its skills were left out".to_owned());
    }
    Ok(Card {
        persona: NewPersona {
            name: own,
            system_prompt: prompt.to_owned(),
            begin_dialogs: (!dialogs.is_empty()).then_some(dialogs),
            // Left out or null: all of them.
            methods: list(&json["tools"]),
            mode: Mode::Tools,
            model: None,
        },
        source: Source::Astrbot,
        notes,
    })
}

/// Of a row of the table, lists are text of JSON.
fn list(json: &Json) -> Option<Vec<String>> {
    let parsed;
    let json = match json {
        Json::String(text) => {
            parsed = serde_json::from_str::<Json>(text).ok()?;
            &parsed
        }
        json => json,
    };
    let list = json.as_array()?.iter().filter_map(Json::as_str);
    Some(list.map(str::to_owned).collect())
}

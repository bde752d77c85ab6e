//! SillyTavern's character cards, version 1 to 3: a character described for a role play. It becomes
//! a prompt and an opening dialogue, and holds no methods, since a card names none.

use callgate_contract::Mode;
use callgate_store::NewPersona;
use serde_json::Value as Json;

use super::{Card, CardError, Source, macros, name};

/// Before the greeting, which is the first line and needs one to answer to.
const OPENING: &str = "[A new chat begins.]";

pub(super) fn is_card(json: &Json) -> bool {
    let spec = json["spec"].as_str().unwrap_or_default();
    spec.starts_with("chara_card") || !text(json, "first_mes").is_empty() || {
        let described = json.get("description").is_some() || json.get("personality").is_some();
        described && json.get("mes_example").is_some()
    }
}

pub(super) fn read(json: &Json, greeting: usize) -> Result<Card, CardError> {
    // Version 1 has its fields at the top; later ones repeat them there for older readers.
    let data = match json.get("data").filter(|data| data.is_object()) {
        Some(data) => data,
        None => json,
    };
    let own = name(&text(data, "name")).ok_or(CardError::Unknown("it has no name"))?;
    let called = name(&text(data, "nickname")).unwrap_or_else(|| own.clone());
    let mut unknown = Vec::new();
    let mut field = |key: &str| macros::settle(&text(data, key), &called, &mut unknown);
    let opening = match field("system_prompt") {
        prompt if prompt.is_empty() => format!(
            "You are {called}, in a chat with {}. Stay in character and write only what {called} \
             says and does.",
            macros::USER
        ),
        prompt => prompt,
    };
    let sections = [
        ("", opening),
        ("# Who you are", field("description")),
        ("# Personality", field("personality")),
        ("# Scenario", field("scenario")),
        ("# How you talk", field("mes_example")),
        ("# Keep in mind", field("post_history_instructions")),
    ];
    let (lore, left_out) = lore(data, &called, &mut unknown);
    let sections = sections.into_iter().chain([("# The world", lore)]);
    let sections = sections.filter(|(_, text)| !text.is_empty());
    let sections: Vec<String> = sections
        .map(|(title, text)| format!("{title}\n{text}").trim_start().to_owned())
        .collect();
    let greetings = greetings(data, &called, &mut unknown);
    let chosen = greetings.get(greeting);
    if chosen.is_none() && greeting > 0 {
        return Err(CardError::Greeting {
            name: own,
            asked: greeting,
            has: greetings.len(),
        });
    }
    let chosen = chosen.filter(|text| !text.is_empty());
    let dialogs = chosen.map(|text| vec![OPENING.to_owned(), text.clone()]);
    let mut notes = about(data);
    if greetings.len() > 1 {
        let count = greetings.len() - 1;
        notes.push(format!(
            "it has {count} more greetings: --greeting 1 and up"
        ));
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} entries of its lorebook were left out: they depend on words in the chat"
        ));
    }
    if !unknown.is_empty() {
        let list = unknown.join(", ");
        notes.push(format!("not understood and left as it is: {list}"));
    }
    Ok(Card {
        persona: NewPersona {
            name: own,
            system_prompt: sections.join("\n\n"),
            begin_dialogs: dialogs,
            methods: Some(Vec::new()),
            mode: Mode::Tools,
            model: None,
        },
        source: Source::Sillytavern,
        notes,
    })
}

fn greetings(data: &Json, called: &str, unknown: &mut Vec<String>) -> Vec<String> {
    let others = data["alternate_greetings"].as_array().into_iter().flatten();
    let others = others.filter_map(Json::as_str).map(str::to_owned);
    [text(data, "first_mes")]
        .into_iter()
        .chain(others)
        .map(|greeting| macros::settle(&greeting, called, unknown))
        .collect()
}

/// The entries that always hold, and how many others there are.
fn lore(data: &Json, called: &str, unknown: &mut Vec<String>) -> (String, usize) {
    let entries = data["character_book"]["entries"].as_array();
    let enabled = |entry: &&Json| entry["enabled"] != false;
    let entries: Vec<&Json> = entries.into_iter().flatten().filter(enabled).collect();
    let (constant, others): (Vec<&Json>, Vec<&Json>) = entries
        .into_iter()
        .partition(|entry| entry["constant"] == true);
    let texts = constant.iter().map(|entry| text(entry, "content"));
    let texts: Vec<String> = texts
        .map(|content| macros::settle(&content, called, unknown))
        .filter(|content| !content.is_empty())
        .collect();
    (texts.join("\n\n"), others.len())
}

/// For people alone.
fn about(data: &Json) -> Vec<String> {
    let mut notes = Vec::new();
    for (key, label) in [
        ("creator", "made by"),
        ("character_version", "version"),
        ("creator_notes", "its maker says"),
        ("creatorcomment", "its maker says"),
    ] {
        let text = text(data, key);
        if !text.trim().is_empty() {
            notes.push(format!("{label}: {}", crate::excerpt(text.trim(), 2_000)));
        }
    }
    let tags = data["tags"].as_array().into_iter().flatten();
    let tags: Vec<&str> = tags.filter_map(Json::as_str).collect();
    if !tags.is_empty() {
        notes.push(format!("tags: {}", tags.join(", ")));
    }
    notes
}

fn text(json: &Json, key: &str) -> String {
    json[key].as_str().unwrap_or_default().to_owned()
}

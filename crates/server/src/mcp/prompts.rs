//! Personas as prompts, for the operator alone, whose they are. What stands in double braces in a
//! persona's text, as in `Speak like {{who}}.`, is an argument.

use callgate_service::Capability;
use callgate_store::{Persona, StoreError};
use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value as Json;

use super::{Mcp, handler::internal, who::ClientIdentity};

/// Characters of a description.
const LINE: usize = 160;

/// Compat(astrbot): character cards name both ends of a conversation so; nobody has to say them.
const USUAL: [&str; 2] = ["user", "char"];

pub(super) async fn all(mcp: &Mcp, who: &ClientIdentity) -> Result<Vec<Prompt>, ErrorData> {
    if !who.holds(Capability::Read) {
        return Ok(Vec::new());
    }
    let mut personas = vec![Persona::built_in()];
    personas.extend(mcp.store().personas().list().await.map_err(internal)?);
    personas.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(personas.iter().map(described).collect())
}

fn described(persona: &Persona) -> Prompt {
    let first = persona.system_prompt.trim().lines().next();
    let line: String = first.unwrap_or_default().chars().take(LINE).collect();
    let line = if line.is_empty() {
        format!("The persona {}", persona.name)
    } else {
        line
    };
    let names = blanks(&persona.system_prompt);
    let arguments = names
        .iter()
        .map(|name| PromptArgument::new(*name).with_required(!USUAL.contains(name)));
    let arguments: Vec<PromptArgument> = arguments.collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(&persona.name, Some(line), arguments)
}

pub(super) async fn get(
    mcp: &Mcp,
    who: &ClientIdentity,
    name: &str,
    arguments: JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let unknown = || {
        let message = format!("no prompt '{name}': prompts/list shows them");
        ErrorData::invalid_params(message, None)
    };
    if !who.holds(Capability::Read) {
        return Err(unknown());
    }
    let built_in = Persona::built_in();
    let persona = if built_in.name == name {
        built_in
    } else {
        match mcp.store().personas().get(name).await {
            Ok(persona) => persona,
            Err(StoreError::UnknownPersona(_)) => return Err(unknown()),
            Err(error) => return Err(internal(error)),
        }
    };
    let text = filled(&persona, &arguments).map_err(|blank| {
        let message = format!("'{name}' needs the argument '{blank}'");
        ErrorData::invalid_params(message, None)
    })?;
    let mut messages = vec![PromptMessage::new_text(Role::User, text)];
    let lines = persona.begin_dialogs.iter().flatten();
    messages.extend(lines.enumerate().map(|(index, line)| {
        let role = if index % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        PromptMessage::new_text(role, line.as_str())
    }));
    let description = described(&persona).description.unwrap_or_default();
    Ok(GetPromptResult::new(messages).with_description(description))
}

/// The names in double braces, each once, in the order they come.
fn blanks(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for piece in text.split("{{").skip(1) {
        if let Some((name, _)) = piece.split_once("}}")
            && is_name(name)
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `Err` names the argument that is missing.
fn filled(persona: &Persona, arguments: &JsonObject) -> Result<String, String> {
    let mut pieces = persona.system_prompt.split("{{");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once("}}").filter(|(name, _)| is_name(name)) {
            None => {
                text.push_str("{{");
                text.push_str(piece);
            }
            Some((name, rest)) => {
                match (arguments.get(name), name) {
                    (Some(Json::String(given)), _) => text.push_str(given),
                    (Some(given), _) => text.push_str(&given.to_string()),
                    (None, "user") => text.push_str("User"),
                    (None, "char") => text.push_str(&persona.name),
                    (None, name) => return Err(name.to_owned()),
                }
                text.push_str(rest);
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn persona(text: &str) -> Persona {
        Persona {
            name: "Pirate".to_owned(),
            system_prompt: text.to_owned(),
            ..Persona::built_in()
        }
    }

    #[test]
    fn what_stands_in_braces_is_an_argument() {
        let text =
            "{{char}} speaks to {{user}} of {{topic}}, {{topic}}; not { {x}}, {{}} or {{a b}}";
        assert_eq!(blanks(text), ["char", "user", "topic"]);
        let given = json!({ "topic": "ships" });
        let filled = filled(&persona(text), given.as_object().unwrap()).unwrap();
        assert_eq!(
            filled,
            "Pirate speaks to User of ships, ships; not { {x}}, {{}} or {{a b}}"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = filled(&persona("of {{topic}}"), &JsonObject::new());
        assert_eq!(missing.unwrap_err(), "topic");
        let prompt = described(&persona("of {{topic}}, {{user}}\nmore"));
        assert_eq!(
            prompt.description.as_deref(),
            Some("of {{topic}}, {{user}}")
        );
        let required = prompt
            .arguments
            .unwrap()
            .iter()
            .map(|it| it.required)
            .collect::<Vec<_>>();
        assert_eq!(required, [Some(true), Some(false)]);
    }
}

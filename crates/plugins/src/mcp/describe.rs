//! A tool as a method: its name as Python can write it, its parameters, and what may be believed of
//! its effects.

use std::collections::BTreeSet;

use callgate_contract::{
    Binding, DeclaredTrust, Effect, Exposure, Kind, MethodInfo, Origin, Trust,
};
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value as Json};

use super::McpSettings;

/// Names of methods for these tools, in the same order: each another.
pub(super) fn names(tools: &[Tool]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for tool in tools {
        let name = identifier(&tool.name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut free = std::iter::once(name.clone())
            .chain(numbered)
            .filter(|name| !taken.contains(name));
        let name = free.next().unwrap_or_default();
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// What Python cannot write becomes an underscore.
fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    match name.chars().next() {
        None => "_".to_owned(),
        Some(first) if first.is_numeric() => format!("_{name}"),
        Some(_) => name,
    }
}

pub(super) fn describe(settings: &McpSettings, name: String, tool: &Tool) -> MethodInfo {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let titled = tool
        .annotations
        .as_ref()
        .and_then(|hints| hints.title.clone());
    let title = tool.title.clone().or(titled);
    let mut parameters = (*tool.input_schema).clone();
    parameters.entry("type").or_insert_with(|| "object".into());
    parameters
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    let shown = settings.shown.iter().any(|shown| *shown == tool.name);
    MethodInfo {
        title: title.unwrap_or_else(|| tool.name.to_string()),
        aliases: Vec::new(),
        description: description.to_owned(),
        doc: description.to_owned(),
        parameters: Json::Object(parameters),
        returns: match (&tool.output_schema, shown) {
            (Some(_), false) => "dict",
            _ => "Any",
        }
        .to_owned(),
        kind: if shown {
            Kind::MultimodalAgent
        } else {
            Kind::Tool
        },
        origin: Origin::Mcp(settings.name.clone()),
        exposure: if settings.remote {
            Exposure::EVERYONE
        } else {
            Exposure::AI
        },
        effect: effect(tool.annotations.as_ref()),
        deadline: settings.deadline,
        binding: Binding::Strict,
        leaf: false,
        trust: trust(tool.meta.as_ref()),
        name,
    }
}

/// What a tool's `_meta` says: `callgate/chooses` names the parameters that choose, `callgate/trusted` that
/// nothing in its results was written by strangers. What cannot be read counts as nothing said.
fn trust(meta: Option<&MetaObject>) -> Trust {
    let Some(meta) = meta else {
        return Trust::default();
    };
    let said = |key: &str| meta.get(key).cloned().unwrap_or_default();
    let chooses = serde_json::from_value(said("callgate/chooses")).unwrap_or_default();
    let trusted = said("callgate/trusted") == Json::Bool(true);
    DeclaredTrust { chooses, trusted }.into()
}

/// Only what is declared outright: a tool that says nothing may do anything.
fn effect(hints: Option<&ToolAnnotations>) -> Effect {
    let Some(hints) = hints else {
        return Effect::Effectful;
    };
    match (hints.read_only_hint, hints.idempotent_hint) {
        (Some(true), _) => Effect::Pure,
        (_, Some(true)) => Effect::Idempotent,
        _ => Effect::Effectful,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_gets_a_name_of_its_own_that_python_can_write() {
        let tool = |name: &'static str| Tool::new(name, "", Map::new());
        let tools = ["read-file", "read.file", "read_file", "2d", "搜索", ""].map(tool);
        let expected = [
            "read_file",
            "read_file_2",
            "read_file_3",
            "_2d",
            "搜索",
            "_",
        ];
        assert_eq!(names(&tools), expected);
    }

    #[test]
    fn hints_are_believed_only_where_they_are_given() {
        let hints = ToolAnnotations::new;
        for (hints, expected) in [
            (None, Effect::Effectful),
            (Some(hints()), Effect::Effectful),
            (Some(hints().read_only(true)), Effect::Pure),
            (Some(hints().read_only(false)), Effect::Effectful),
            (Some(hints().idempotent(true)), Effect::Idempotent),
            (Some(hints().destructive(false)), Effect::Effectful),
        ] {
            assert_eq!(effect(hints.as_ref()), expected, "{hints:?}");
        }
    }
}

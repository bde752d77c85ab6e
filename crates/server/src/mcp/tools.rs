//! Methods as tools: each that its caller may use, described by what the gate knows of it.

use std::sync::Arc;

use callgate_contract::{Caller, Effect, Method, Origin};
use callgate_gate::Gate;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};

/// Names that every client and model takes.
const LONGEST: usize = 64;

/// The tools of `caller`, sorted by name.
pub(super) fn all(gate: &Gate, caller: &Caller) -> Vec<Tool> {
    let named = gate.named(caller).into_iter();
    let mut tools: Vec<Tool> = named
        .map(|(name, method)| tool(plain(&name), &*method))
        .collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    tools
}

/// What the gate calls the tool of this name; the name itself if it is none.
pub(super) fn meant(gate: &Gate, caller: &Caller, tool: &str) -> String {
    let named = gate.named(caller);
    let found = named.iter().find(|(name, _)| plain(name) == tool);
    found.map_or_else(|| tool.to_owned(), |(_, method)| full_name(&**method))
}

fn full_name(method: &dyn Method) -> String {
    format!("{}/{}", method.info().origin, method.info().name)
}

pub(super) fn tool(name: String, method: &dyn Method) -> Tool {
    let info = method.info();
    let description = match (info.doc.trim(), info.description.trim()) {
        ("", "") => info.title.clone(),
        ("", description) => description.to_owned(),
        (doc, _) => doc.to_owned(),
    };
    let mut tool = Tool::new(name, description, Arc::new(schema(&info.parameters)));
    tool = tool
        .with_title(info.title.clone())
        .with_annotations(hints(info.effect, &info.origin));
    match method.output() {
        Some(Json::Object(output)) => tool.with_raw_output_schema(Arc::new(output.clone())),
        _ => tool,
    }
}

/// Parameters are the schema of an object already; clients want that said.
fn schema(parameters: &Json) -> JsonObject {
    let mut schema = parameters.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| json!("object"));
    schema
}

/// Only what is certain: of what has effects, nobody knows that it destroys nothing.
fn hints(effect: Effect, origin: &Origin) -> ToolAnnotations {
    let hints = match effect {
        Effect::Pure => ToolAnnotations::new().read_only(true).destructive(false),
        Effect::Idempotent => ToolAnnotations::new().read_only(false).idempotent(true),
        Effect::Rows | Effect::Effectful => ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .idempotent(false),
    };
    match (effect, origin) {
        // Everything it does is in our own rows.
        (Effect::Rows, Origin::Builtin) => hints.open_world(false),
        _ => hints,
    }
}

/// The name itself where every client takes it, else what is left of it with a mark that tells it
/// from others.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(fits) {
        return name.to_owned();
    }
    let mark = mark(name);
    let kept = name.chars().map(|c| if fits(c) { c } else { '_' });
    let kept: String = kept.take(LONGEST - mark.len() - 1).collect();
    format!("{kept}_{mark}")
}

/// FNV-1a: the same name has the same mark in every version of ours.
fn mark(name: &str) -> String {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_clients_take_stay_and_others_are_told_apart() {
        assert_eq!(plain("search_web"), "search_web");
        let (one, other) = (plain("画图"), plain("画画"));
        assert_ne!(one, other);
        let long = plain(&"x".repeat(200));
        for name in [one, other, long] {
            let ascii = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            assert!(ascii && name.len() <= LONGEST, "{name}");
        }
    }

    #[test]
    fn only_what_is_declared_is_promised() {
        let hints = |effect| hints(effect, &Origin::Client("x".to_owned()));
        assert_eq!(hints(Effect::Pure).read_only_hint, Some(true));
        assert_eq!(hints(Effect::Idempotent).idempotent_hint, Some(true));
        assert_eq!(hints(Effect::Idempotent).read_only_hint, Some(false));
        for effect in [Effect::Rows, Effect::Effectful] {
            assert!(hints(effect).is_destructive() && !hints(effect).is_idempotent());
        }
    }
}

//! `search_methods` and `describe_method`: how a model reaches into a catalogue too large for its
//! prompt. Both show what their caller may use and nothing else.

use std::sync::Arc;

use callgate_contract::{Caller, Effect, Kind, Method, MethodError, MethodInfo};
use callgate_gate::{Call, Gate, method};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Meanings, MethodIndex};
use crate::prompt;

pub const SEARCH_METHODS: &str = "search_methods";
pub const DESCRIBE_METHOD: &str = "describe_method";

/// Results of one search. The right one is nearly always among the first five.
const RESULTS: usize = 8;

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What the method should do, in a few words of any language.
    query: String,
}

#[derive(Deserialize, JsonSchema)]
struct Describe {
    /// The method's name.
    name: String,
}

/// Results of each way of searching that are weighed against each other.
const WEIGHED: usize = 24;
/// How little it matters to stand first or second.
const EVENNESS: usize = 10;

/// Both, to be registered with `gate`.
pub fn all(gate: &Gate, meanings: &Meanings) -> [Arc<dyn Method>; 2] {
    [search_methods(gate, meanings), describe_method(gate)]
}

pub fn search_methods(gate: &Gate, meanings: &Meanings) -> Arc<dyn Method> {
    let (gate, meanings) = (gate.downgrade(), meanings.clone());
    let handler = move |call: Call, arguments: Search| {
        let (gate, meanings) = (gate.upgrade().ok_or_else(gone), meanings.clone());
        async move { Ok(search(&gate?, &meanings, &call.caller, &arguments.query).await) }
    };
    let method = method(SEARCH_METHODS, Kind::Tool, handler)
        .doc("Find methods by what they do. There are more than are listed.")
        .returns(
            "str",
            "The likeliest methods, each with signature and purpose.",
        )
        .example("print(search_methods(\"convert money to another currency\")); exit(9)")
        .effect(Effect::Pure);
    Arc::new(method)
}

pub fn describe_method(gate: &Gate) -> Arc<dyn Method> {
    let gate = gate.downgrade();
    let handler = move |call: Call, arguments: Describe| {
        let gate = gate.upgrade().ok_or_else(gone);
        let described = gate.and_then(|gate| describe(&gate, &call.caller, &arguments.name));
        async move { described }
    };
    let method = method(DESCRIBE_METHOD, Kind::Tool, handler)
        .doc("The signature and the whole documentation of a method.")
        .returns("str", "The text.")
        .example("print(describe_method(\"convert_currency\")); exit(9)")
        .effect(Effect::Pure);
    Arc::new(method)
}

fn gone() -> MethodError {
    MethodError::new("the gate is closed")
}

async fn search(gate: &Gate, meanings: &Meanings, caller: &Caller, query: &str) -> String {
    let usable = usable(gate, caller);
    let infos: Vec<&MethodInfo> = usable.iter().map(|method| method.info()).collect();
    let index = MethodIndex::new(infos.iter().copied());
    let names = match meanings.nearest(caller, query, &infos).await {
        None => index.search(query, RESULTS),
        Some(near) => {
            let near = near.into_iter().take(WEIGHED);
            let near: Vec<&str> = near
                .filter_map(|place| infos.get(place))
                .map(|info| info.name.as_str())
                .collect();
            let mut names = index.named_in(query);
            let weighed = weighed(&[index.search(query, WEIGHED), near]);
            let rest = weighed.into_iter().filter(|name| !names.contains(name));
            let rest: Vec<&str> = rest.collect();
            names.extend(rest);
            names.truncate(RESULTS);
            names
        }
    };
    let lines: Vec<String> = names
        .into_iter()
        .filter_map(|name| infos.iter().find(|info| info.name == name))
        .map(|info| prompt::brief(info))
        .collect();
    if lines.is_empty() {
        "No method fits these words. Try others, or do without.".to_owned()
    } else {
        lines.join("\n")
    }
}

/// One order of several: what stands high in any of them does so here, higher if in more.
fn weighed<'a>(orders: &[Vec<&'a str>]) -> Vec<&'a str> {
    let mut weights: Vec<(&str, f32)> = Vec::new();
    for order in orders {
        for (place, name) in order.iter().enumerate() {
            let weight = 1.0 / (EVENNESS + place) as f32;
            match weights.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known += weight,
                None => weights.push((name, weight)),
            }
        }
    }
    weights.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    weights.into_iter().map(|(name, _)| name).collect()
}

fn describe(gate: &Gate, caller: &Caller, name: &str) -> Result<String, MethodError> {
    let usable = gate.catalogue(caller);
    let meant = gate.find(name);
    let is_meant = |method: &&Arc<dyn Method>| {
        let meant = meant.as_ref();
        meant.is_some_and(|meant| std::ptr::addr_eq(Arc::as_ptr(meant), Arc::as_ptr(method)))
    };
    if let Some(method) = usable.iter().find(is_meant) {
        return Ok(prompt::described(method.info()));
    }
    let index = MethodIndex::new(usable.iter().map(|method| method.info()));
    let near = index.search(name, 3).join(", ");
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!(" Perhaps: {near}.")
    };
    let name = prompt::one_line(name, 100);
    Err(MethodError::new(format!(
        "there is no method '{name}' that you may use.{hint}"
    )))
}

fn usable(gate: &Gate, caller: &Caller) -> Vec<Arc<dyn Method>> {
    let own = [SEARCH_METHODS, DESCRIBE_METHOD];
    let mut usable = gate.catalogue(caller);
    usable.retain(|method| !own.contains(&method.info().name.as_str()));
    usable
}

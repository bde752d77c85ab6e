//! Finding the right method among many, and showing only what the caller may use.

mod meaning;
mod methods;
mod ranking;

use std::time::Duration;

use callgate_contract::{Binding, Effect, Exposure, Kind, MethodInfo, Origin, Trust};
use serde_json::json;

/// The catalogue of `search/catalogue.txt`: `origin | name | parameters | description`.
pub fn catalogue() -> Vec<MethodInfo> {
    let lines = include_str!("search/catalogue.txt").lines();
    lines.map(method).collect()
}

fn method(line: &str) -> MethodInfo {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [origin, name, parameters, description] = fields[..] else {
        panic!("{line}");
    };
    let (family, id) = origin.split_once(':').unwrap_or((origin, ""));
    let id = id.to_owned();
    let origin = match family {
        "builtin" => Origin::Builtin,
        "plugin" => Origin::Plugin(id),
        "mcp" => Origin::Mcp(id),
        "client" => Origin::Client(id),
        "agent" => Origin::Agent(id),
        other => panic!("{other}"),
    };
    let parameters = parameters.split(", ").filter(|name| !name.is_empty());
    let properties: serde_json::Map<_, _> = parameters
        .map(|name| (name.to_owned(), json!({"type": "string"})))
        .collect();
    MethodInfo {
        name: name.to_owned(),
        aliases: Vec::new(),
        title: name.to_owned(),
        description: description.to_owned(),
        doc: description.to_owned(),
        parameters: json!({"type": "object", "properties": properties}),
        returns: "str".to_owned(),
        kind: Kind::Tool,
        origin,
        exposure: Exposure::EVERYONE,
        effect: Effect::Pure,
        deadline: Duration::from_secs(30),
        binding: Binding::Strict,
        leaf: false,
        trust: Trust::default(),
    }
}

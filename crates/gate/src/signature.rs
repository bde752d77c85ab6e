//! How a method looks in Python: its parameters in the order positional arguments bind, and the
//! text of that for stubs, prompts and errors. The text is valid Python for any schema.

use callgate_contract::{MethodInfo, Stub};
use serde_json::{Map, Value as Json};

use crate::{annotation::annotation, python};

/// `(text: str, times: int = 1) -> str`.
///
/// Required parameters come first. One that may be left out and has no short default reads `= ...`. A
/// name that Python cannot write (`class`, `a-b`) is passed by `**`, as in `f(**{"class": 1})`;
/// the signature then ends in `**kwargs`, as it does where the schema admits further names.
pub fn signature(info: &MethodInfo) -> String {
    let parameters = Signature::new(info).parameters_text;
    if info.returns.is_empty() {
        format!("({parameters})")
    } else {
        format!("({parameters}) -> {}", info.returns)
    }
}

/// The method as code in the sandbox sees it.
pub fn stub(info: &MethodInfo) -> Stub {
    Stub {
        name: info.name.clone(),
        signature: signature(info),
        doc: info.doc.clone(),
    }
}

/// A default longer than this, in bytes, reads `...`: a signature stands in prompts and errors.
const MAX_DEFAULT: usize = 200;

/// A method's parameters, read from its schema once, at registration.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Required ones first: the order in which positional arguments bind.
    pub(crate) parameters: Vec<Parameter>,
    /// The schema admits names it does not list.
    pub(crate) open: bool,
    name: String,
    parameters_text: String,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) required: bool,
    /// Python can write the name, so it can be bound by position.
    pub(crate) positional: bool,
}

impl Signature {
    pub(crate) fn new(info: &MethodInfo) -> Self {
        let schema = &info.parameters;
        let none = Map::new();
        let properties = schema.get("properties").and_then(Json::as_object);
        let properties = properties.unwrap_or(&none);
        let required: Vec<&str> = match schema.get("required").and_then(Json::as_array) {
            Some(names) => names.iter().filter_map(Json::as_str).collect(),
            None => Vec::new(),
        };
        let open = match schema.get("additionalProperties") {
            Some(Json::Bool(open)) => *open,
            Some(Json::Object(_)) => true,
            _ => schema.get("patternProperties").is_some(),
        };

        let mut parameters: Vec<Parameter> = properties
            .keys()
            .map(|name| Parameter {
                name: name.clone(),
                required: required.contains(&name.as_str()),
                positional: python::is_identifier(name),
            })
            .collect();
        parameters.sort_by_key(|parameter| !parameter.required);

        let mut shown: Vec<String> = Vec::new();
        for parameter in parameters.iter().filter(|parameter| parameter.positional) {
            let schema = &properties[&parameter.name];
            shown.push(parameter.text(schema, &info.parameters));
        }
        if open || parameters.iter().any(|parameter| !parameter.positional) {
            let mut rest = "kwargs".to_owned();
            while properties.contains_key(&rest) {
                rest.push('_');
            }
            shown.push(format!("**{rest}: Any"));
        }
        Signature {
            parameters,
            open,
            name: info.name.clone(),
            parameters_text: shown.join(", "),
        }
    }
}

/// As errors show it: `send_message(text: str)`.
impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({})", self.name, self.parameters_text)
    }
}

impl Parameter {
    fn text(&self, schema: &Json, root: &Json) -> String {
        let (name, mut annotation) = (&self.name, annotation(schema, root));
        if self.required {
            return format!("{name}: {annotation}");
        }
        let default = match schema.get("default") {
            Some(default) => match python::literal(default) {
                long if long.len() > MAX_DEFAULT => "...".to_owned(),
                default => default,
            },
            None if annotation.ends_with("| None") || annotation == "None" => "None".to_owned(),
            None => "...".to_owned(),
        };
        if default == "None" && annotation != "Any" && !annotation.ends_with("None") {
            annotation.push_str(" | None");
        }
        format!("{name}: {annotation} = {default}")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use callgate_contract::{Binding, Effect, Exposure, Kind, Origin, Trust};
    use serde_json::json;

    use super::*;

    pub(crate) fn info(name: &str, parameters: Json) -> MethodInfo {
        MethodInfo {
            name: name.to_owned(),
            aliases: Vec::new(),
            title: name.to_owned(),
            description: String::new(),
            doc: String::new(),
            parameters,
            returns: "str".to_owned(),
            kind: Kind::Tool,
            origin: Origin::Builtin,
            exposure: Exposure::EVERYONE,
            effect: Effect::Pure,
            deadline: Duration::from_secs(10),
            binding: Binding::Strict,
            leaf: false,
            trust: Trust::default(),
        }
    }

    #[test]
    fn schemas_become_signatures() {
        let check = |parameters: Json, expect: &str| {
            assert_eq!(signature(&info("f", parameters)), expect);
        };
        check(json!({}), "() -> str");
        check(
            json!({
                "type": "object",
                "properties": {
                    "times": {"type": "integer", "default": 1},
                    "text": {"type": "string"},
                },
                "required": ["text"],
            }),
            "(text: str, times: int = 1) -> str",
        );
        check(
            json!({"properties": {
                "zone": {"type": ["string", "null"]},
                "page": {"type": "integer"},
                "mark": {"type": "string", "default": null},
                "extra": {},
                "flags": {"type": "object", "default": {"a": [true]}},
            }}),
            "(zone: str | None = None, page: int = ..., mark: str | None = None, \
             extra: Any = ..., flags: dict = {'a': [True]}) -> str",
        );
        check(
            json!({"properties": {"class": {"type": "string"}, "n": {"type": "integer"}},
                   "required": ["class", "n"]}),
            "(n: int, **kwargs: Any) -> str",
        );
        check(
            json!({"properties": {"kwargs": {"type": "object"}}, "additionalProperties": true,
                   "required": ["kwargs"]}),
            "(kwargs: dict, **kwargs_: Any) -> str",
        );
        check(
            json!({"patternProperties": {"^x": {}}}),
            "(**kwargs: Any) -> str",
        );
    }
}

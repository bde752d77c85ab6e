//! Compat(astrbot): `_conf_schema.json` as a form.

use serde_json::{Map, Value as Json, json};

use super::{HINTS, hints};

/// The fields of an object by name.
pub(super) fn object(described: &Map<String, Json>, depth: usize) -> Json {
    let fields = described.iter();
    let fields: Map<String, Json> = fields
        .map(|(name, item)| (name.clone(), field(item, depth)))
        .collect();
    json!({ "type": "object", "properties": fields })
}

fn field(item: &Json, depth: usize) -> Json {
    if depth == 0 {
        return json!({});
    }
    let mut made = shape(item, depth);
    for (from, to) in [
        ("description", "title"),
        ("hint", "description"),
        ("default", "default"),
    ] {
        if let Some(text) = item.get(from).filter(|it| !it.is_null()) {
            made[to] = text.clone();
        }
    }
    choose_from(&mut made, item);
    if let Some(range) = item.get("slider") {
        for (from, to) in [
            ("min", "minimum"),
            ("max", "maximum"),
            ("step", "multipleOf"),
        ] {
            if let Some(number) = range.get(from).filter(|it| it.is_number()) {
                made[to] = number.clone();
            }
        }
    }
    let flag = |name: &str| Json::from(item[name] == true);
    let text = |name: &str| item[name].as_str().map(Json::from).unwrap_or_default();
    let special = item["_special"].as_str().unwrap_or_default();
    let is_editor = item["editor_mode"] == true;
    made[HINTS] = Json::Object(hints(vec![
        ("textarea", (item["type"] == "text" || is_editor).into()),
        ("hidden", flag("invisible")),
        (
            "language",
            if is_editor {
                text("editor_language")
            } else {
                Json::Null
            },
        ),
        (
            "condition",
            item.get("condition").cloned().unwrap_or_default(),
        ),
        (
            "select",
            select(special).map(Json::from).unwrap_or_default(),
        ),
        (
            "multiple",
            (item["type"] == "list" && !special.is_empty()).into(),
        ),
        ("file", (item["type"] == "file").into()),
        ("labels", item.get("labels").cloned().unwrap_or_default()),
    ]));
    made
}

fn shape(item: &Json, depth: usize) -> Json {
    let inner = item.get("items").and_then(Json::as_object);
    match item["type"].as_str().unwrap_or_default() {
        "int" => json!({ "type": "integer" }),
        "float" => json!({ "type": "number" }),
        "bool" => json!({ "type": "boolean" }),
        "object" => inner.map_or(json!({ "type": "object" }), |it| object(it, depth - 1)),
        "dict" => json!({ "type": "object", "additionalProperties": true }),
        "list" => {
            let typed = inner.filter(|it| it.get("type").is_some_and(Json::is_string));
            let items = typed.map(|it| field(&Json::Object(it.clone()), depth - 1));
            json!({ "type": "array", "items": items.unwrap_or(json!({ "type": "string" })) })
        }
        "file" => json!({ "type": "array", "items": { "type": "string" } }),
        "template_list" => json!({ "type": "array", "items": template(item, depth) }),
        // `string`, `text`, and what is not known.
        _ => json!({ "type": "string" }),
    }
}

/// Each entry names its template and has that one's fields; all of them, where there are several.
fn template(item: &Json, depth: usize) -> Json {
    let mut fields = Map::new();
    let templates = item.get("templates").and_then(Json::as_object);
    for one in templates.into_iter().flat_map(Map::values) {
        let own = one.get("items").and_then(Json::as_object);
        for (name, item) in own.into_iter().flatten() {
            fields.insert(name.clone(), field(item, depth - 1));
        }
    }
    let names: Vec<&String> = templates.into_iter().flat_map(Map::keys).collect();
    let mut made = json!({ "type": "object", "properties": fields });
    if !names.is_empty() {
        let which = json!({ "type": "string", "enum": names, "title": "template" });
        made["properties"]["__template_key"] = which;
    }
    made
}

fn choose_from(made: &mut Json, item: &Json) {
    let Some(options) = item.get("options").and_then(Json::as_array) else {
        return;
    };
    // Compat(astrbot): an option may be a pair of value and label.
    let value = |option: &Json| option.get("value").unwrap_or(option).clone();
    let values: Vec<Json> = options.iter().map(value).collect();
    if made["type"] == "array" {
        made["items"]["enum"] = values.into()
    } else {
        made["enum"] = values.into()
    }
}

/// What a form offers for a field that names something of the host's.
fn select(special: &str) -> Option<&'static str> {
    match special {
        "select_persona" | "persona_pool" => Some("persona"),
        "select_provider" | "provider_pool" | "select_agent_runner_provider:chat" => Some("model"),
        "select_knowledgebase" => Some("knowledge_base"),
        other if other.starts_with("select_provider") => Some("provider"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::form::form;

    #[test]
    fn every_type_of_a_published_schema_has_a_field() {
        let described = json!({
            "count": { "type": "int", "description": "How many", "hint": "A few", "default": 3,
                       "slider": { "min": 0, "max": 9, "step": 1 } },
            "rate": { "type": "float", "default": 0.5 },
            "on": { "type": "bool", "default": true, "invisible": true },
            "style": { "type": "string", "options": ["a", "b"], "default": "a" },
            "prompt": { "type": "text" },
            "code": { "type": "string", "editor_mode": true, "editor_language": "json" },
            "words": { "type": "list", "options": ["x", "y"] },
            "provider": { "type": "string", "_special": "select_provider" },
            "personas": { "type": "list", "_special": "select_persona" },
            "nested": { "type": "object", "items": { "deep": { "type": "int" } } },
            "rules": { "type": "template_list", "templates": {
                "one": { "items": { "name": { "type": "string" } } } } },
        });
        let form = form("astrbot", &described).unwrap();
        let field = |name: &str| &form["properties"][name];
        assert_eq!(
            *field("count"),
            json!({ "type": "integer", "title": "How many", "description": "A few", "default": 3,
                    "minimum": 0, "maximum": 9, "multipleOf": 1, "x-ui": {} })
        );
        assert_eq!(field("on")["x-ui"]["hidden"], true);
        assert_eq!(field("style")["enum"], json!(["a", "b"]));
        assert_eq!(field("prompt")["x-ui"]["textarea"], true);
        assert_eq!(field("code")["x-ui"]["language"], "json");
        assert_eq!(field("words")["items"]["enum"], json!(["x", "y"]));
        assert_eq!(field("provider")["x-ui"]["select"], "model");
        assert_eq!(
            field("personas")["x-ui"],
            json!({ "select": "persona", "multiple": true })
        );
        assert_eq!(field("nested")["properties"]["deep"]["type"], "integer");
        let entry = &field("rules")["items"]["properties"];
        assert_eq!(entry["name"]["type"], "string");
        assert_eq!(entry["__template_key"]["enum"], json!(["one"]));
    }
}

//! JSON Schema as pydantic and our own signatures write it, with Compat(nekro) `ExtraField`, as a form.

use serde_json::{Map, Value as Json, json};

use super::{HINTS, hints};

/// What is passed on as it is.
const KEPT: [&str; 13] = [
    "title",
    "description",
    "default",
    "enum",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "maxItems",
];

/// `root` holds the definitions that a field refers to.
pub(super) fn field(root: &Map<String, Json>, schema: &Map<String, Json>, depth: usize) -> Json {
    if depth == 0 {
        return json!({});
    }
    let schema = &resolved(root, schema, depth);
    let mut made = Map::new();
    made.insert("type".to_owned(), kind(schema));
    if made["type"].is_null() {
        made.remove("type");
    }
    for name in KEPT {
        if let Some(value) = schema.get(name).filter(|it| !it.is_null()) {
            made.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(only) = schema.get("const") {
        made.insert("enum".to_owned(), json!([only]));
    }
    let inner = |value: &Json| value.as_object().map(|it| field(root, it, depth - 1));
    if let Some(fields) = schema.get("properties").and_then(Json::as_object) {
        let fields = fields.iter();
        let fields: Map<String, Json> = fields
            .filter_map(|(name, value)| Some((name.clone(), inner(value)?)))
            .collect();
        made.insert("properties".to_owned(), fields.into());
    }
    for name in ["items", "additionalProperties"] {
        if let Some(value) = schema.get(name).and_then(inner) {
            made.insert(name.to_owned(), value);
        }
    }
    made.insert(HINTS.to_owned(), Json::Object(extra(schema)));
    Json::Object(made)
}

/// Without references and without the option to be null, which a form shows as empty.
fn resolved(
    root: &Map<String, Json>,
    schema: &Map<String, Json>,
    depth: usize,
) -> Map<String, Json> {
    if depth == 0 {
        return Map::new();
    }
    let target = |schema: &Map<String, Json>| {
        let path = schema.get("$ref")?.as_str()?.strip_prefix("#/")?;
        let mut parts = path.split('/');
        let first = root.get(parts.next()?)?;
        let found = parts.try_fold(first, |at, part| at.get(part))?;
        found.as_object().cloned()
    };
    let options = ["anyOf", "oneOf", "allOf"].into_iter();
    let mut options = options.filter_map(|name| schema.get(name)?.as_array());
    let only = || {
        let all = options.next()?.iter().filter_map(Json::as_object);
        let mut some = all.filter(|it| it.get("type").is_none_or(|kind| kind != "null"));
        let first = some.next()?.clone();
        some.next().is_none().then_some(first)
    };
    let Some(found) = target(schema).or_else(only) else {
        return schema.clone();
    };
    let mut whole = resolved(root, &found, depth - 1);
    // What is said beside a reference outranks what the definition says.
    for (name, value) in schema {
        if !["$ref", "anyOf", "oneOf", "allOf"].contains(&name.as_str()) {
            whole.insert(name.clone(), value.clone());
        }
    }
    whole
}

fn kind(schema: &Map<String, Json>) -> Json {
    match schema.get("type") {
        Some(Json::Array(kinds)) => {
            let mut real = kinds.iter().filter(|kind| *kind != "null");
            match (real.next(), real.next()) {
                (Some(one), None) => one.clone(),
                _ => Json::Array(kinds.clone()),
            }
        }
        Some(kind) => kind.clone(),
        None => match schema.get("enum").and_then(|it| it.get(0)) {
            Some(Json::String(_)) => "string".into(),
            Some(Json::Number(number)) if number.is_i64() => "integer".into(),
            _ => Json::Null,
        },
    }
}

fn extra(schema: &Map<String, Json>) -> Map<String, Json> {
    let flag = |name: &str| Json::from(schema.get(name).is_some_and(|it| *it == true));
    let given = |name: &str| schema.get(name).cloned().unwrap_or_default();
    let is_set = |name: &str| schema.get(name).is_some_and(|it| *it == true);
    let models = match schema.get("model_type").and_then(Json::as_str) {
        Some("embedding") => "embedding_model",
        _ => "model",
    };
    let presets = [
        "ref_presets",
        "ref_presets_no_default",
        "ref_presets_multiple",
    ];
    let select = match () {
        () if is_set("ref_model_groups") => models.into(),
        () if presets.into_iter().any(is_set) => "persona".into(),
        () => Json::Null,
    };
    // Compat(nekro): every ExtraField has a name for items; it means something for lists alone.
    let is_list = schema.get("type").is_some_and(|kind| kind == "array");
    hints(vec![
        (
            "secret",
            (is_set("is_secret") || is_set("writeOnly") || is_password(schema)).into(),
        ),
        ("textarea", flag("is_textarea")),
        ("hidden", flag("is_hidden")),
        ("required", flag("required")),
        ("overridable", flag("overridable")),
        ("restart", flag("is_need_restart")),
        ("placeholder", given("placeholder")),
        (
            "item",
            if is_list {
                given("sub_item_name")
            } else {
                Json::Null
            },
        ),
        ("select", select),
        ("multiple", flag("ref_presets_multiple")),
        ("titles", given("i18n_title")),
        ("descriptions", given("i18n_description")),
        ("groups", given("i18n_category")),
    ])
}

fn is_password(schema: &Map<String, Json>) -> bool {
    schema.get("format").is_some_and(|it| it == "password")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::form::form;

    #[test]
    fn what_pydantic_and_extra_field_say_is_kept() {
        let described = json!({
            "$defs": {
                "Level": { "enum": ["low", "high"], "type": "string" },
                "Item": { "type": "object", "properties": { "name": { "type": "string" } } },
            },
            "type": "object",
            "properties": {
                "CITY": { "type": "string", "title": "City", "default": "Rome",
                          "placeholder": "where", "overridable": true, "is_secret": false },
                "WORD": { "type": "string", "is_secret": true, "default": "x" },
                "LEVEL": { "$ref": "#/$defs/Level", "default": "low" },
                "ITEMS": { "type": "array", "items": { "$ref": "#/$defs/Item" },
                           "sub_item_name": "item" },
                "MAYBE": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] },
                "MODEL": { "type": "string", "ref_model_groups": true, "model_type": "embedding" },
                "WHO": { "type": "string", "ref_presets": true,
                         "i18n_title": { "en-US": "Who" } },
                "MODE": { "enum": ["a", "b"] },
            },
        });
        let form = form("nekro", &described).unwrap();
        let field = |name: &str| &form["properties"][name];
        assert_eq!(
            *field("CITY"),
            json!({ "type": "string", "title": "City", "default": "Rome",
                    "x-ui": { "overridable": true, "placeholder": "where" } })
        );
        assert_eq!(
            *field("WORD"),
            json!({ "type": "string", "x-ui": { "secret": true } })
        );
        assert_eq!(field("LEVEL")["enum"], json!(["low", "high"]));
        assert_eq!(field("LEVEL")["default"], "low");
        assert_eq!(
            field("ITEMS")["items"]["properties"]["name"]["type"],
            "string"
        );
        assert_eq!(field("ITEMS")["x-ui"]["item"], "item");
        assert_eq!(
            (&field("MAYBE")["type"], &field("MAYBE")["minimum"]),
            (&json!("integer"), &json!(1))
        );
        assert_eq!(field("MODEL")["x-ui"]["select"], "embedding_model");
        assert_eq!(
            field("WHO")["x-ui"],
            json!({ "select": "persona", "titles": { "en-US": "Who" } })
        );
        assert_eq!(field("MODE")["type"], "string");
    }
}

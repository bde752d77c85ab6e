//! What is wrong with values for a form, for flavours whose plugins do not say so themselves.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// By the path of the field, as `mail.port` or `names.2`.
pub fn problems(form: &Json, values: &Json) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    check(form, values, "", &mut found);
    found
}

fn check(form: &Json, value: &Json, path: &str, found: &mut BTreeMap<String, String>) {
    let mut wrong = |text: String| {
        found.insert(path.to_owned(), text);
    };
    let kind = form["type"].as_str().unwrap_or_default();
    let fits = match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    if !fits {
        return wrong(format!("this is no {}", word(kind)));
    }
    if let Some(options) = form["enum"].as_array()
        && !options.contains(value)
    {
        let options: Vec<String> = options.iter().map(Json::to_string).collect();
        return wrong(format!("this is none of {}", options.join(", ")));
    }
    if let Some(number) = value.as_f64() {
        if form["minimum"].as_f64().is_some_and(|least| number < least) {
            return wrong(format!("this is less than {}", form["minimum"]));
        }
        if form["maximum"].as_f64().is_some_and(|most| number > most) {
            return wrong(format!("this is more than {}", form["maximum"]));
        }
    }
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for (name, inner) in value.as_object().into_iter().flatten() {
        match &form["properties"][name.as_str()] {
            Json::Null if form["additionalProperties"].is_null() && kind == "object" => {
                if form.get("properties").is_some() {
                    found.insert(below(name), "there is no such setting".to_owned());
                }
            }
            field => check(field, inner, &below(name), found),
        }
    }
    for (place, inner) in value.as_array().into_iter().flatten().enumerate() {
        check(&form["items"], inner, &below(&place.to_string()), found);
    }
}

fn word(kind: &str) -> &str {
    match kind {
        "integer" => "whole number",
        "boolean" => "true or false",
        "string" => "text",
        "array" => "list",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::form::form;

    #[test]
    fn what_is_wrong_is_said_by_field() {
        let described = json!({
            "count": { "type": "int", "slider": { "min": 0, "max": 9 } },
            "style": { "type": "string", "options": ["a", "b"] },
            "names": { "type": "list" },
            "mail": { "type": "object", "items": { "port": { "type": "int" } } },
            "open": { "type": "dict" },
        });
        let form = form("astrbot", &described).unwrap();
        let fine = json!({ "count": 3, "style": "b", "names": ["x"], "mail": { "port": 25 },
                           "open": { "any": [1] } });
        assert_eq!(problems(&form, &fine), BTreeMap::new());
        let wrong = json!({ "count": 10, "style": "c", "names": ["x", 2],
                            "mail": { "port": "25", "host": "h" }, "what": 1 });
        let found = problems(&form, &wrong);
        let paths: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "count",
                "mail.host",
                "mail.port",
                "names.1",
                "style",
                "what"
            ]
        );
        assert_eq!(found["mail.port"], "this is no whole number");
    }
}

//! JSON as Python's `json.dumps(value, ensure_ascii=False)` writes it.

use serde_json::Value as Json;

pub fn dumps(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(dumps).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(fields) => {
            let field = |(key, value): (&String, &Json)| {
                format!("{}: {}", Json::from(key.as_str()), dumps(value))
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn as_python_writes_it() {
        let value = json!([{"type": "text", "text": "门\n\"x\""}, 1.5, null, {}, []]);
        assert_eq!(
            super::dumps(&value),
            r#"[{"type": "text", "text": "门\n\"x\""}, 1.5, null, {}, []]"#
        );
    }
}

//! JSON Schema to Python annotation. Always valid Python; what it cannot express becomes `Any`.

use serde_json::Value as Json;

use crate::python;

/// Nested schemas and references deeper than this read `Any`: a reference may be circular.
const MAX_DEPTH: usize = 8;
/// So do the schemas beyond this many: a few references can unfold without end.
const MAX_SCHEMAS: usize = 200;
/// Longer enumerations are shown by type only: a signature stands in prompts and errors.
const MAX_CHOICES: usize = 40;

/// The annotation of `schema`, whose references point into `root`.
pub(crate) fn annotation(schema: &Json, root: &Json) -> String {
    let mut reader = SchemaReader {
        root,
        left: MAX_SCHEMAS,
    };
    reader.annotation(schema, 0)
}

struct SchemaReader<'a> {
    root: &'a Json,
    left: usize,
}

impl SchemaReader<'_> {
    fn annotation(&mut self, schema: &Json, depth: usize) -> String {
        union(self.alternatives(schema, depth))
    }

    fn alternatives(&mut self, schema: &Json, depth: usize) -> Vec<String> {
        if depth > MAX_DEPTH || self.left == 0 {
            return any();
        }
        self.left -= 1;
        if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
            let root = self.root;
            return match target.strip_prefix('#').and_then(|path| root.pointer(path)) {
                Some(schema) => self.alternatives(schema, depth + 1),
                None => any(),
            };
        }
        if let Some(value) = schema.get("const") {
            return choices(std::slice::from_ref(value));
        }
        if let Some(values) = schema.get("enum").and_then(Json::as_array) {
            return choices(values);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(word).and_then(Json::as_array) {
                let options = options.iter();
                return options
                    .flat_map(|option| self.alternatives(option, depth + 1))
                    .collect();
            }
        }
        if let Some([only]) = schema
            .get("allOf")
            .and_then(Json::as_array)
            .map(Vec::as_slice)
        {
            return self.alternatives(only, depth + 1);
        }
        match schema.get("type") {
            Some(Json::String(name)) => vec![self.plain(name, schema, depth)],
            Some(Json::Array(names)) => {
                let names = names.iter().filter_map(Json::as_str);
                names.map(|name| self.plain(name, schema, depth)).collect()
            }
            _ => any(),
        }
    }

    fn plain(&mut self, name: &str, schema: &Json, depth: usize) -> String {
        let mut inner = |schema: &Json| self.annotation(schema, depth + 1);
        match name {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "null" => "None".to_owned(),
            "array" => match (schema.get("prefixItems"), schema.get("items")) {
                (Some(Json::Array(items)), _) if !items.is_empty() => {
                    let items: Vec<String> = items.iter().map(inner).collect();
                    format!("tuple[{}]", items.join(", "))
                }
                (_, Some(item)) => format!("list[{}]", inner(item)),
                _ => "list".to_owned(),
            },
            "object" => match schema.get("additionalProperties") {
                Some(value @ Json::Object(_)) => format!("dict[str, {}]", inner(value)),
                _ => "dict".to_owned(),
            },
            _ => "Any".to_owned(),
        }
    }
}

fn choices(values: &[Json]) -> Vec<String> {
    // `Literal` holds only these; a float or a container reads by its type.
    let fits = |value: &&Json| match value {
        Json::String(_) | Json::Bool(_) => true,
        Json::Number(number) => !number.is_f64(),
        _ => false,
    };
    let mut shown: Vec<String> = Vec::new();
    let (fitting, others): (Vec<&Json>, Vec<&Json>) = values.iter().partition(fits);
    if fitting.len() > MAX_CHOICES {
        shown.extend(fitting.into_iter().map(type_of));
    } else if !fitting.is_empty() {
        let literals: Vec<String> = fitting.into_iter().map(python::literal).collect();
        shown.push(format!("Literal[{}]", literals.join(", ")));
    }
    shown.extend(others.into_iter().map(type_of));
    shown
}

/// The Python type that a piece of JSON arrives as.
pub(crate) fn type_of(json: &Json) -> String {
    let name = match json {
        Json::Null => "None",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_f64() => "float",
        Json::Number(_) => "int",
        Json::String(_) => "str",
        Json::Array(_) => "list",
        Json::Object(_) => "dict",
    };
    name.to_owned()
}

fn any() -> Vec<String> {
    vec!["Any".to_owned()]
}

/// `X | Y | None`: each once, `None` last, `Any` alone.
fn union(alternatives: Vec<String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    for name in alternatives {
        if name == "Any" {
            return name;
        }
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept.sort_by_key(|name| name == "None");
    if kept.is_empty() {
        "Any".to_owned()
    } else {
        kept.join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_read_as_python() {
        let root = json!({"$defs": {
            "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            "wide": {"anyOf": vec![json!({"type": "array", "items": {"$ref": "#/$defs/wide"}}); 50]},
            "mode": {"type": "string", "enum": ["r", "w"]},
        }});
        let check = |schema: Json, expect: &str| assert_eq!(annotation(&schema, &root), expect);
        check(json!({"type": "string"}), "str");
        check(json!({"type": "number"}), "float");
        check(json!({"type": ["null", "integer"]}), "int | None");
        check(
            json!({"type": "array", "items": {"type": "integer"}}),
            "list[int]",
        );
        check(json!({"type": "array"}), "list");
        check(
            json!({"type": "array", "prefixItems": [{"type": "string"}, {}]}),
            "tuple[str, Any]",
        );
        check(json!({"type": "object", "properties": {"a": {}}}), "dict");
        check(
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            "dict[str, bool]",
        );
        check(
            json!({"enum": ["it's", 1, true, null]}),
            "Literal[\"it's\", 1, True] | None",
        );
        check(json!({"enum": [1.5, [1]]}), "float | list");
        check(json!({"enum": (0..41).collect::<Vec<_>>()}), "int");
        check(json!({"const": "x"}), "Literal['x']");
        check(
            json!({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/mode"}, {"type": "integer"}]}),
            "Literal['r', 'w'] | int | None",
        );
        check(
            json!({"allOf": [{"$ref": "#/$defs/mode"}]}),
            "Literal['r', 'w']",
        );
        check(json!({"anyOf": [{"type": "string"}, {}]}), "Any");
        check(json!({"$ref": "#/$defs/none"}), "Any");
        check(json!({"$ref": "https://example.com/schema"}), "Any");
        check(json!({"type": "file"}), "Any");
        check(json!({"type": []}), "Any");
        check(json!(true), "Any");
        assert!(annotation(&json!({"$ref": "#/$defs/wide"}), &root).len() < 10_000);
        check(
            json!({"$ref": "#/$defs/tree"}),
            "list[list[list[list[Any]]]]",
        );
    }
}

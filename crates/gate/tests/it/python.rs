//! Signatures and literals are read by a real Python: whatever the schema, the stub compiles.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use callgate_contract::Method;
use callgate_gate::signature;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Value as Json, json};

use crate::scene::answering;

const SCHEMAS: usize = 500;

/// Names and texts that a client may choose to break out of the signature.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        Just("class".to_owned()),
        Just("kwargs".to_owned()),
        Just("x: int = 1): pass\nimport os #".to_owned()),
        Just("'\"\\\n\u{2028}\0".to_owned()),
        any::<String>(),
    ]
}

fn literal() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

fn schema() -> impl Strategy<Value = Json> {
    let names = [
        "string", "integer", "number", "boolean", "null", "array", "object", "odd",
    ];
    let leaf = prop_oneof![
        prop::sample::select(names.to_vec()).prop_map(|name| json!({"type": name})),
        prop::sample::subsequence(names.to_vec(), 0..4).prop_map(|names| json!({"type": names})),
        prop::collection::vec(literal(), 0..4).prop_map(|values| json!({"enum": values})),
        literal().prop_map(|value| json!({"const": value})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/properties/a"})),
        literal(),
    ];
    let nested = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| json!({"anyOf": all})),
            inner
                .clone()
                .prop_map(|item| json!({"type": "array", "items": item})),
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| json!({"type": "array", "prefixItems": items})),
            inner.prop_map(|value| json!({"type": "object", "additionalProperties": value})),
        ]
    });
    (nested, prop::option::of(literal())).prop_map(|(mut schema, default)| {
        if let (Some(object), Some(default)) = (schema.as_object_mut(), default) {
            object.insert("default".to_owned(), default);
        }
        schema
    })
}

fn parameters() -> impl Strategy<Value = Json> {
    let properties = prop::collection::vec((text(), schema(), any::<bool>()), 0..5);
    (properties, any::<bool>()).prop_map(|(properties, open)| {
        let required: Vec<&str> = properties
            .iter()
            .filter(|(_, _, required)| *required)
            .map(|(name, ..)| name.as_str())
            .collect();
        let required = json!(required);
        let properties: serde_json::Map<String, Json> = properties
            .into_iter()
            .map(|(name, schema, _)| (name, schema))
            .collect();
        json!({"properties": properties, "required": required, "additionalProperties": open})
    })
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the reader must be a real Python"
)]
fn any_schema_gives_one_valid_function_header() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let signatures: Vec<String> = (0..SCHEMAS)
        .map(|_| parameters().new_tree(&mut runner).unwrap().current())
        .map(|parameters| signature(answering("f", "").taking(parameters).info()))
        .collect();

    let reader = "import ast, json, sys\n\
        for text in json.load(sys.stdin):\n\
        \x20   body = ast.parse(f'def f{text}: ...').body\n\
        \x20   assert len(body) == 1 and isinstance(body[0], ast.FunctionDef), text\n\
        \x20   for node in ast.walk(body[0].args):\n\
        \x20       assert not isinstance(node, (ast.Call, ast.Attribute)), text\n";
    let mut python = Command::new("python3")
        .args(["-I", "-c", reader])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = json!(signatures).to_string();
    python
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = python.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

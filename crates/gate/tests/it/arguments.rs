//! Binding and checking: what a caller may write, and what it is told otherwise.

use callgate_contract::{Arguments, Value};
use serde_json::{Value as Json, json};

use crate::scene::{Scene, doing, named};

fn positional(values: impl Into<Vec<Value>>) -> Arguments {
    Arguments {
        positional: values.into(),
        named: Vec::new(),
    }
}

/// Calls `f`, which has these parameters and returns what it was given as text.
async fn check(parameters: Json, arguments: Arguments, expect: Result<&str, &str>) {
    let scene = Scene::new().await;
    let echo = |arguments: Vec<(String, Value)>| async move {
        let given = arguments
            .into_iter()
            .map(|(name, value)| format!("{name}={value:?}"));
        Ok(given.collect::<Vec<_>>().join(" ").into())
    };
    scene.add(doing("f", echo).taking(parameters));
    let result = scene.gate.call(&scene.caller, 1, "f", arguments).await;
    let result = result
        .map(|outcome| outcome.value)
        .map_err(|error| error.to_string());
    assert_eq!(result, expect.map(Value::from).map_err(str::to_owned));
}

fn text_and_times() -> Json {
    json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1, "minimum": 1}},
        "required": ["text"],
    })
}

#[tokio::test]
async fn arguments_bind_by_position_and_by_name() {
    let check = async |arguments, expect: Result<&str, &str>| {
        check(text_and_times(), arguments, expect).await;
    };
    let both = "text=Str(\"a\") times=Int(2)";
    check(positional(["a".into(), 2.into()]), Ok(both)).await;
    check(named([("times", 2.into()), ("text", "a".into())]), Ok(both)).await;
    let mixed = Arguments {
        positional: vec!["a".into()],
        ..named([("times", 2.into())])
    };
    check(mixed, Ok(both)).await;
    // A default is the method's own matter.
    check(positional(["a".into()]), Ok("text=Str(\"a\")")).await;

    let refused = [
        (positional([]), "missing argument 'text'"),
        (named([("times", 2.into())]), "missing argument 'text'"),
        (
            named([("text", "a".into()), ("size", 2.into())]),
            "unexpected argument 'size'",
        ),
        (
            positional(["a".into(), 2.into(), 3.into()]),
            "takes 2 positional arguments, got 3",
        ),
        (
            Arguments {
                positional: vec!["a".into()],
                ..named([("text", "b".into())])
            },
            "argument 'text' is given twice",
        ),
        (
            named([("text", "a".into()), ("text", "b".into())]),
            "argument 'text' is given twice",
        ),
        (
            positional([1.into()]),
            "argument 'text' must be str, not int 1",
        ),
        (
            positional(["a".into(), "three".into()]),
            "argument 'times' must be int, not str 'three'",
        ),
        (
            positional(["a".into(), Value::Null]),
            "argument 'times' must be int, not None",
        ),
        (
            positional(["a".into(), 0.into()]),
            "argument 'times' must be at least 1, not int 0",
        ),
    ];
    for (arguments, reason) in refused {
        check(
            arguments,
            Err(&format!("f(text: str, times: int = 1): {reason}")),
        )
        .await;
    }
}

#[tokio::test]
async fn required_parameters_bind_before_optional_ones() {
    let parameters = json!({
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["b"],
    });
    check(
        parameters,
        positional(["x".into(), 1.into()]),
        Ok("b=Str(\"x\") a=Int(1)"),
    )
    .await;
}

#[tokio::test]
async fn names_that_python_cannot_write_pass_by_name_only() {
    let parameters = json!({
        "properties": {"class": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["class"],
    });
    let class = ("class", Value::from("x"));
    let mixed = Arguments {
        positional: vec![1.into()],
        ..named([class.clone()])
    };
    check(parameters.clone(), mixed, Ok("class=Str(\"x\") n=Int(1)")).await;
    let two = positional([1.into(), "x".into()]);
    let expect = "f(n: int = ..., **kwargs: Any): takes 1 positional argument, got 2";
    check(parameters, two, Err(expect)).await;
}

#[tokio::test]
async fn further_names_pass_only_where_the_schema_says_so() {
    let open = json!({"additionalProperties": {"type": "integer"}});
    check(open.clone(), named([("x", 1.into())]), Ok("x=Int(1)")).await;
    let wrong = Err("f(**kwargs: Any): argument 'x' must be int, not str 'a'");
    check(open, named([("x", "a".into())]), wrong).await;
    let silent = json!({"type": "object", "properties": {}});
    check(
        silent.clone(),
        named([("x", 1.into())]),
        Err("f(): unexpected argument 'x'"),
    )
    .await;
    let none = Err("f(): takes no positional arguments, got 1");
    check(silent, positional([1.into()]), none).await;
}

#[tokio::test]
async fn wrong_values_are_named_by_place_in_plain_words() {
    let dict = |entries: &[(&str, Value)]| {
        Value::Dict(
            entries
                .iter()
                .map(|(key, value)| ((*key).into(), value.clone()))
                .collect(),
        )
    };
    let reason = async |schema: Json, value: Value, expect: &str| {
        let parameters = json!({"properties": {"x": schema}, "required": ["x"]});
        let scene = Scene::new().await;
        scene.add(doing("f", |_| async { Ok(true.into()) }).taking(parameters));
        let result = scene
            .gate
            .call(&scene.caller, 1, "f", named([("x", value)]))
            .await;
        let text = result.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
        let reason = text
            .split_once("): ")
            .map_or(text.as_str(), |(_, reason)| reason);
        assert_eq!(reason, expect);
    };
    let list = Value::List;
    reason(
        json!({"enum": ["a", "b"]}),
        "c".into(),
        "argument 'x' must be Literal['a', 'b'], not str 'c'",
    )
    .await;
    reason(
        json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        "c".into(),
        "argument 'x' must be int | None, not str 'c'",
    )
    .await;
    reason(
        json!({"type": "array", "items": {"type": "integer"}}),
        list(vec![1.into(), list(vec![])]),
        "argument 'x[1]' must be int, not list",
    )
    .await;
    reason(
        json!({"type": "object", "properties": {"a": {"properties": {"b": {"type": "string"}}}}}),
        dict(&[("a", dict(&[("b", 1.5.into())]))]),
        "argument 'x.a.b' must be str, not float 1.5",
    )
    .await;
    reason(
        json!({"type": "object", "required": ["k"]}),
        dict(&[]),
        "argument 'x' lacks the key 'k'",
    )
    .await;
    reason(
        json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
        dict(&[("k", 1.into())]),
        "argument 'x' has the unexpected key 'k'",
    )
    .await;
    reason(
        json!({"type": "object", "additionalProperties": false}),
        dict(&[("k", 1.into())]),
        "argument 'x' must be an empty dict",
    )
    .await;
    reason(
        json!({"type": "string"}),
        Value::Bytes(vec![1]),
        "argument 'x' must be str, not bytes",
    )
    .await;
    reason(
        json!({"type": "number"}),
        f64::NAN.into(),
        "argument 'x' must be float, not float nan",
    )
    .await;
    reason(
        json!({"maxLength": 2}),
        "abc".into(),
        "argument 'x' must have 2 characters or fewer, not str 'abc'",
    )
    .await;
    reason(
        json!({"type": "array", "minItems": 1}),
        list(vec![]),
        "argument 'x' must have 1 items or more, not list",
    )
    .await;
    reason(
        json!({"type": "integer"}),
        "字".repeat(100).into(),
        &format!("argument 'x' must be int, not str '{}'...", "字".repeat(80)),
    )
    .await;
    // What Python writes differently from JSON and means the same.
    reason(json!({"type": "array"}), Value::Tuple(vec![1.into()]), "ok").await;
    reason(
        json!({"type": "string"}),
        Value::DateTime("2024-05-06T07:08:09".into()),
        "ok",
    )
    .await;
    reason(json!({"type": "integer"}), i64::MAX.into(), "ok").await;
    reason(
        json!({"type": "integer"}),
        Value::int("1".repeat(50).parse().unwrap()),
        "ok",
    )
    .await;
    reason(
        json!({"type": "integer", "minimum": 0}),
        Value::int(format!("-{}", "1".repeat(500)).parse().unwrap()),
        "argument 'x' must be at least 0, not int",
    )
    .await;
}

#[tokio::test]
async fn size_depth_and_objects_are_limited_whatever_the_schema() {
    let any = json!({"properties": {"x": {}}});
    let nested = |depth| (0..depth).fold(Value::Int(0), |inner, _| Value::List(vec![inner]));
    let refused = async |value: Value, expect: &str| {
        let scene = Scene::new().await;
        scene.add(doing("f", |_| async { Ok(true.into()) }).taking(any.clone()));
        let result = scene
            .gate
            .call(&scene.caller, 1, "f", named([("x", value)]))
            .await;
        match result {
            Ok(_) => assert_eq!(expect, "ok"),
            Err(error) => assert!(error.to_string().contains(expect), "{error}"),
        }
    };
    refused(nested(90), "ok").await;
    refused(nested(200), "nested deeper than").await;
    refused("a".repeat(7 << 20).into(), "ok").await;
    refused(
        "a".repeat(9 << 20).into(),
        "f(x: Any = ...): argument 'x': the arguments exceed 8 MB",
    )
    .await;
    let record = Value::Record {
        class: "Point".into(),
        fields: vec![],
    };
    refused(
        Value::List(vec![record.clone()]),
        "argument 'x[0]': cannot pass a 'Point'",
    )
    .await;
    let by_number = Value::Dict(vec![(1.into(), record)]);
    refused(by_number, "argument 'x[1]': cannot pass a 'Point'").await;
}

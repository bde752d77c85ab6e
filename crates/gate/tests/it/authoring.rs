//! Methods written in Rust: the struct is the signature, the schema and the docstring.

use std::sync::Arc;

use callgate_contract::{Effect, Kind, Method, MethodError, Value};
use callgate_gate::{Call, method, signature, stub};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scene::{Scene, named};

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
    /// How often;
    /// once is polite.
    #[serde(default = "once")]
    times: u32,
    zone: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

fn once() -> u32 {
    1
}

async fn greet(call: Call, arguments: Greet) -> Result<String, MethodError> {
    if arguments.times > 3 {
        return Err(MethodError::new("too often"));
    }
    let zone = arguments.zone.unwrap_or_default();
    Ok(format!(
        "{} greets {} {}x {zone} {:?} in call {}",
        call.caller.principal.user(),
        arguments.name,
        arguments.times,
        arguments.tags,
        call.sequence
    ))
}

fn written() -> callgate_gate::Function {
    method("greet", Kind::Tool, greet)
        .doc("Greet somebody.")
        .returns("str", "The greeting.")
        .example("greet(\"Ada\")")
        .effect(Effect::Pure)
}

#[test]
fn the_struct_describes_the_method() {
    let method = written();
    assert_eq!(
        signature(method.info()),
        "(name: str, times: int = 1, zone: str | None = None, tags: list[str] = []) -> str"
    );
    assert_eq!(
        stub(method.info()).doc,
        "Greet somebody.\n\nArgs:\n    name: Whom to greet.\n    \
         times: How often; once is polite.\n\nReturns:\n    The greeting.\n\n\
         Example:\n    greet(\"Ada\")"
    );
    assert_eq!(method.info().description, "Greet somebody.");
    assert!(method.info().parameters.get("title").is_none());
}

#[tokio::test]
async fn the_handler_gets_typed_arguments() {
    let scene = Scene::new().await;
    scene.gate.register(Arc::new(written())).unwrap();
    let check = async |sequence, arguments, expect: Result<&str, &str>| {
        let result = scene
            .gate
            .call(&scene.caller, sequence, "greet", arguments)
            .await;
        let result = result
            .map(|outcome| outcome.value)
            .map_err(|error| error.to_string());
        assert_eq!(result, expect.map(Value::from).map_err(str::to_owned));
    };
    let bob = ("name", Value::from("Bob"));
    check(
        1,
        named([bob.clone()]),
        Ok("ada greets Bob 1x  [] in call 1"),
    )
    .await;
    let tags = Value::Tuple(vec!["t".into()]);
    let all = named([
        bob.clone(),
        ("times", 2.into()),
        ("zone", "UTC".into()),
        ("tags", tags),
    ]);
    check(2, all, Ok("ada greets Bob 2x UTC [\"t\"] in call 2")).await;
    check(
        3,
        named([bob.clone(), ("times", 4.into())]),
        Err("too often"),
    )
    .await;
    // The schema admits it, the type does not.
    let many = named([bob, ("times", (1_i64 << 40).into())]);
    let result = scene.gate.call(&scene.caller, 4, "greet", many).await;
    assert!(result.unwrap_err().to_string().contains("u32"));
}

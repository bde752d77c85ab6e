//! What models read of the built-in methods.

use callgate_contract::{Effect, Exposure, Kind};
use callgate_gate::signature;

use crate::scene::Scene;

#[tokio::test]
async fn each_has_its_kind_effect_and_signature() {
    let scene = Scene::new().await;
    let methods = scene.gate.catalogue(&scene.caller);
    let seen: Vec<_> = methods
        .iter()
        .map(|method| method.info())
        .map(|info| (info.name.as_str(), info.kind, info.effect, signature(info)))
        .collect();
    let expect = [
        (
            "ask_user",
            Kind::Tool,
            Effect::Rows,
            "(question: str, options: list[str] | None = None) -> None",
        ),
        (
            "cancel_timer",
            Kind::Behavior,
            Effect::Rows,
            "(id: str) -> str",
        ),
        (
            "fetch_page",
            Kind::Agent,
            Effect::Idempotent,
            "(url: str, page: int = 1) -> str",
        ),
        ("forget", Kind::Behavior, Effect::Rows, "(name: str) -> str"),
        ("list_timers", Kind::Tool, Effect::Pure, "() -> list[dict]"),
        (
            "now",
            Kind::Tool,
            Effect::Pure,
            "(zone: str | None = None) -> datetime",
        ),
        (
            "read_file",
            Kind::Agent,
            Effect::Pure,
            "(path: str, page: int = 1) -> str",
        ),
        ("read_json", Kind::Tool, Effect::Pure, "(name: str) -> dict"),
        (
            "recall",
            Kind::Tool,
            Effect::Pure,
            "(query: str | None = None) -> list[dict]",
        ),
        (
            "remember",
            Kind::Behavior,
            Effect::Rows,
            "(name: str, text: str) -> str",
        ),
        (
            "save_json",
            Kind::Tool,
            Effect::Idempotent,
            "(name: str, data: dict) -> dict",
        ),
        (
            "send_file",
            Kind::Tool,
            Effect::Rows,
            "(path: str, name: str | None = None) -> None",
        ),
        (
            "send_message",
            Kind::Tool,
            Effect::Rows,
            "(text: str) -> None",
        ),
        (
            "set_timer",
            Kind::Behavior,
            Effect::Rows,
            "(text: str, minutes: float | None = None, at: str | None = None) -> str",
        ),
        (
            "view_image",
            Kind::MultimodalAgent,
            Effect::Pure,
            "(path: str) -> list[dict]",
        ),
    ];
    let expect =
        expect.map(|(name, kind, effect, signature)| (name, kind, effect, signature.to_owned()));
    assert_eq!(seen, expect);
}

#[tokio::test]
async fn each_explains_itself() {
    let scene = Scene::new().await;
    for method in scene.gate.catalogue(&scene.caller) {
        let info = method.info();
        let parameters = info.parameters["properties"].as_object();
        let sections = ["Returns:\n    ", "Example:\n    "];
        for section in sections
            .into_iter()
            .chain(parameters.map(|_| "Args:\n    "))
        {
            assert!(info.doc.contains(section), "{}: {}", info.name, info.doc);
        }
        assert!(
            info.doc.contains(&format!("{}(", info.name)),
            "{}",
            info.doc
        );
        for (name, schema) in parameters.into_iter().flatten() {
            assert!(schema["description"].is_string(), "{}.{name}", info.name);
        }
    }
}

#[tokio::test]
async fn what_reaches_outside_is_not_for_remote_clients() {
    let scene = Scene::new().await;
    for method in scene.gate.catalogue(&scene.caller) {
        let info = method.info();
        let expect = match info.name.as_str() {
            "fetch_page" => Exposure::AI,
            _ => Exposure::EVERYONE,
        };
        assert_eq!(info.exposure, expect, "{}", info.name);
    }
}

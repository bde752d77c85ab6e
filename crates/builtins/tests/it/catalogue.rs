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
        ("forget", Kind::Behavior, Effect::Rows, "(name: str) -> str"),
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
async fn each_explains_itself_to_every_surface() {
    let scene = Scene::new().await;
    for method in scene.gate.catalogue(&scene.caller) {
        let info = method.info();
        assert_eq!(info.exposure, Exposure::EVERYONE);
        for section in ["Args:\n    ", "Returns:\n    ", "Example:\n    "] {
            assert!(info.doc.contains(section), "{}: {}", info.name, info.doc);
        }
        assert!(
            info.doc.contains(&format!("{}(", info.name)),
            "{}",
            info.doc
        );
        for (name, schema) in info.parameters["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{}.{name}", info.name);
        }
    }
}

//! A plugin from its first line to its removal.

use super::Transcript;
use crate::{frozen::assert_frozen, scene::Scene};

const CODE: &str = r#""""Adds."""

from callgate import config, tool


class Settings:
    """How it adds."""

    start: int = 0


settings = config(Settings)


@tool
def add(first: int, second: int) -> int:
    """Add two numbers.

    Args:
        first: One of them.
        second: The other.
    """
    return first + second


@tool
def half(first) -> int:
    return first // 2
"#;

#[test]
fn plugins() {
    let mut transcript = Transcript::on(Scene::new());
    let home = transcript.scene.home().to_owned();
    std::fs::create_dir(home.join("sums")).unwrap();
    transcript.scene.file("sums/__init__.py", CODE);
    transcript
        .scene
        .file("broken.py", "from callgate import tool\nimport nowhere\n");
    let scenario = r#"{"steps": [{"call": "add", "args": [2, 3], "result": 5}, {"call": "add", "args": [1, 1], "result": 3}]}"#;
    transcript.scene.file("scenario.json", scenario);
    transcript.note(&["plugin", "new", "fresh"]);
    transcript.note(&["plugin", "new", "fresh"]);
    transcript.note_bare(&["plugin", "check", "sums", "broken.py"]);
    transcript.note_bare(&["plugin", "test", "sums", "scenario.json"]);
    assert_frozen("cli_plugin_making", &transcript.taken());

    transcript.note(&["plugin", "install", "sums"]);
    transcript.note(&["plugin", "install", "sums"]);
    transcript.note(&["plugin", "list"]);
    transcript.note(&["methods", "add"]);
    transcript.note(&["plugin", "config", "sums"]);
    transcript.note(&["plugin", "config", "sums", "start=2"]);
    transcript.note(&["plugin", "config", "sums", "start=x"]);
    transcript.note(&["plugin", "disable", "sums"]);
    transcript.note(&["plugin", "list"]);
    transcript.note(&["plugin", "enable", "sums"]);
    transcript.note(&["plugin", "reload", "sums"]);
    transcript.note(&["plugin", "remove", "sums"]);
    transcript.note(&["plugin", "remove", "sums"]);
    assert_frozen("cli_plugins", &transcript.taken());
}

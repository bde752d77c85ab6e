//! Keys, clients, models, the machine, and what cannot be understood.

use super::Transcript;
use crate::{frozen::assert_frozen, scene::Scene};

#[test]
fn keys_models_and_the_machine() {
    let toml =
        "[[models.list]]\nid = \"dead\"\nbase_url = \"http://127.0.0.1:9/v1\"\nretries = 0\n";
    let mut transcript = Transcript::on(Scene::configured(toml));
    let made = transcript.note(&["key", "new", "--scope", "chat", "--client", "desk"]);
    transcript.note(&["key", "new", "--scope", "flying"]);
    transcript.note(&["key", "list"]);
    transcript.note(&["key", "revoke", made["id"].as_str().unwrap()]);
    transcript.note(&["key", "revoke", "nothing"]);
    transcript.note(&["client", "list"]);
    transcript.note(&["client", "approve", "nobody"]);
    transcript.note(&["client", "revoke", "nobody"]);
    assert_frozen("cli_keys", &transcript.taken());

    transcript.note(&["model", "list"]);
    transcript.note(&[
        "model",
        "add",
        "mine",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--fallback",
        "dead",
        "--no-check",
    ]);
    transcript.note(&[
        "model",
        "add",
        "mine",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--no-check",
    ]);
    transcript.note(&[
        "model",
        "add",
        "other",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ]);
    transcript.note(&["model", "test", "dead"]);
    assert_frozen("cli_models", &transcript.taken());

    for words in [
        &["fly"][..],
        &["run"],
        &["send"],
        &["cost", "--since", "never"],
        &["serve", "--listen", "x"],
    ] {
        transcript.note(words);
    }
    assert_frozen("cli_errors", &transcript.taken());

    transcript.note_outline(&["doctor"]);
    transcript.note_outline(&["sandbox", "list"]);
    assert_frozen("cli_machine", &transcript.taken());
}

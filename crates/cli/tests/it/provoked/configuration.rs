//! In callgate.toml and in variables: which key it is, where it stands, and what it takes.

use super::{NEVER_AT_THE_TERMINAL, all_hold, holds};
use crate::scene::Scene;

pub(super) const ROWS: [(&str, &str, &str); 25] = [
    ("[sandbox", "line 1", "docs/configuration.md"),
    (
        "nonsense = 1",
        "no such key: nonsense",
        "docs/configuration.md",
    ),
    (
        "[sandbox]\npool = \"many\"",
        "sandbox.pool",
        "warm processes",
    ),
    (
        "[sandbox]\npool = -1",
        "-1 is not a number from 1",
        "warm processes",
    ),
    (
        "[nowhere]\nx = 1",
        "no such key: nowhere.x",
        "docs/configuration.md",
    ),
    (
        "[models]\ndefault = \"nobody\"",
        "no model 'nobody'",
        "callgate model list",
    ),
    (
        "[[models.list]]\nid = \"x\"",
        "missing field `base_url`",
        "docs/configuration.md",
    ),
    (
        "[[models.list]]\nid = \"x\"\nbase_url = \"http://a/v1\"\nwire = \"smoke\"",
        "expected one of `openai`",
        "docs/configuration.md",
    ),
    (
        "[[models.list]]\nid = \"x\"\nbase_url = \"http://a/v1\"\nkey_env = \"ABSENT_KEY\"",
        "ABSENT_KEY is not set",
        "docs/configuration.md",
    ),
    (
        "[[models.list]]\nid = \"x\"\nbase_url = \"http://a\"\n[[models.list]]\nid = \"x\"\nbase_url = \"http://a\"",
        "two models have the id 'x'",
        "docs/configuration.md",
    ),
    (
        "[[rule]]\nthen = \"maybe\"",
        "expected one of `allow`",
        "docs/rules.md",
    ),
    (
        "[[platform]]\nid = \"qq\"",
        "missing field `kind`",
        "docs/platforms.md",
    ),
    (
        "[[platform]]\nid = \"qq\"\nkind = \"onebot\"\nlisten = \"x\"",
        "write it as 127.0.0.1:6199",
        "docs/platforms.md",
    ),
    (
        "[agent]\nadministrators = [\"ada\"]",
        "ada",
        "PLATFORM:ACCOUNT",
    ),
    ("[answer]\nallow = [\"bob\"]", "bob", "PLATFORM:ACCOUNT"),
    ("[answer]\npatterns = [\"(\"]", "(", "regular expressions"),
    ("[pace]\nquiet_hours = [\"night\"]", "night", "23:00-07:30"),
    (
        "[database]\nurl = \"mysql://x\"",
        "'mysql' is not a database",
        "database.url",
    ),
    (
        "[approval]\nask = \"x\"",
        "is not a list of names",
        "send_message",
    ),
    (
        "[approval]\nwait_seconds = \"long\"",
        "is not a number",
        "How long a call waits",
    ),
    (
        "[plugins]\nmemory_mb = 0",
        "0 is not a number from 1",
        "MemoryError",
    ),
    (
        "[plugins]\nlocal_addresses = [\"nowhere:x\"]",
        "is not an address",
        "127.0.0.1:6333",
    ),
    (
        "[fetch]\nallow = [\"http://x y\"]",
        "is not a host",
        "example.com",
    ),
    (
        "[budget]\nturn_money = \"much\"",
        "is not an amount of money",
        "currency",
    ),
    ("[mcp.x]", "[[mcp]]", "docs/mcp.md"),
];

#[test]
fn in_the_configuration() {
    let failures = ROWS.iter().filter_map(|(toml, error, hint)| {
        let scene = Scene::configured(toml);
        let said = scene.callgate(&["send", "hi", "--json"]);
        assert_eq!(said.code, Some(1), "{toml}: {}", said.stdout);
        let told = said.json();
        let text = |field: &str| told[field].as_str().unwrap_or_default();
        let is_wrong =
            text("error").contains("[\"") && text("error").contains("is not a list of names");
        let wrong =
            is_wrong.then(|| format!("{toml}: a list is said to be none: {}", text("error")));
        let said = (text("error"), text("hint"));
        wrong.or_else(|| holds(toml, said, (error, hint), &NEVER_AT_THE_TERMINAL))
    });
    all_hold(failures.collect());
}

#[test]
fn in_a_variable() {
    let scene = Scene::new();
    let mut command = scene.command(&["methods", "--json"]);
    let said = crate::scene::finish(
        command
            .env("CALLGATE_SANDBOX_POOL", "many")
            .spawn()
            .unwrap(),
    );
    let told = said.json();
    let error = told["error"].as_str().unwrap();
    assert!(
        error.contains("CALLGATE_SANDBOX_POOL in the environment"),
        "{told}"
    );
}

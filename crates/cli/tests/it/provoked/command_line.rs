//! At the terminal.

use super::{NEVER_AT_THE_TERMINAL, all_hold, holds};
use crate::scene::Scene;

/// Arguments, and pieces of what is told.
pub(super) const ROWS: [(&[&str], &str, &str); 54] = [
    (&["nothing"], "unrecognized subcommand 'nothing'", "--help"),
    (&["run"], "<FILE>", "--help"),
    (
        &["run", "absent.py"],
        "cannot read absent.py",
        "- for standard input",
    ),
    (
        &["run", "-", "--session", "nonsense"],
        "'nonsense' is not a session",
        "--help",
    ),
    (&["run", "-", "--user", ""], "is not a session", "--user"),
    (
        &["call", "nothing"],
        "no method 'nothing'",
        "callgate methods",
    ),
    (
        &["call", "now", "--args", "{"],
        "--args is not JSON",
        "--args '{",
    ),
    (
        &["call", "now", "--args", "3"],
        "neither an object nor a list",
        "--args",
    ),
    (
        &["call", "now", "--args", "{\"zone\": 3}"],
        "'zone' must be str",
        "--args",
    ),
    (
        &["call", "now", "--args", "{\"nowhere\": 1}"],
        "unexpected argument 'nowhere'",
        "--args",
    ),
    (&["call", "remember"], "missing argument 'name'", "--args"),
    (
        &["call", "read_file", "--args", "{\"path\": \"/etc/passwd\"}"],
        "is outside",
        "callgate methods read_file",
    ),
    (
        &["call", "fetch_page", "--args", "{\"url\": \"http://x\"}"],
        "fetch.allow",
        "callgate methods fetch_page",
    ),
    (
        &["methods", "nothing"],
        "no method 'nothing'",
        "callgate methods",
    ),
    (
        &["approval", "allow", "7"],
        "no approval 7",
        "callgate approval list",
    ),
    (&["approval", "deny", "x"], "invalid value 'x'", "--help"),
    (
        &["approval", "revoke", "7"],
        "no rule 7",
        "callgate approval rules",
    ),
    (&["rule", "add"], "<THEN>", "--help"),
    (
        &["rule", "add", "--then", "maybe"],
        "unexpected argument '--then'",
        "--help",
    ),
    (&["rule", "remove", "9"], "no rule 9", "callgate rule list"),
    (
        &["limit", "add"],
        "how many messages or tokens",
        "docs/limits.md",
    ),
    (
        &["limit", "remove", "9"],
        "no limit 9",
        "callgate limit list",
    ),
    (
        &[
            "platform",
            "add",
            "web",
            "--kind",
            "onebot",
            "--listen",
            "127.0.0.1:0",
        ],
        "choose another",
        "docs/platforms.md",
    ),
    (
        &["platform", "add", "qq", "--kind", "onebot"],
        "give it listen, url or both",
        "docs/platforms.md",
    ),
    (
        &["platform", "remove", "qq"],
        "no platform 'qq'",
        "callgate platform list",
    ),
    (
        &["outbox", "resend", "3"],
        "no message 3",
        "callgate outbox list",
    ),
    (
        &["outbox", "drop", "3"],
        "no message 3",
        "callgate outbox list",
    ),
    (
        &["backup", "/proc/none"],
        "cannot write /proc/none",
        "permissions",
    ),
    (
        &["verify", "/nowhere"],
        "no backup of Callgate",
        "callgate backup",
    ),
    (
        &["restore", "/nowhere"],
        "no backup of Callgate",
        "callgate backup",
    ),
    (
        &["session", "export", "cli:FriendMessage:nobody"],
        "nothing was said",
        "callgate session list",
    ),
    (
        &["session", "replay", "/nowhere.json"],
        "cannot read /nowhere.json",
        "callgate session export",
    ),
    (
        &["session", "set", "cli:FriendMessage:me", "mode=loud"],
        "'mode' is no key",
        "docs/configuration.md",
    ),
    (
        &[
            "timer",
            "add",
            "cli:FriendMessage:me",
            "--at",
            "never",
            "hello",
        ],
        "'never' is no time",
        "docs/speaking.md",
    ),
    (
        &["timer", "remove", "cli:FriendMessage:me", "3"],
        "no timer 3",
        "callgate timer list",
    ),
    (&["persona", "set", "x"], "no prompt to make it", "--prompt"),
    (
        &["persona", "show", "nobody"],
        "no persona 'nobody'",
        "callgate persona list",
    ),
    (
        &["persona", "import", "/nowhere.png"],
        "cannot read /nowhere.png",
        "character card",
    ),
    (
        &["model", "add", "gpt-x"],
        "no provider is called 'gpt-x'",
        "--base-url",
    ),
    (
        &["model", "test", "nobody"],
        "no model 'nobody'",
        "callgate model list",
    ),
    (
        &["model", "add", "x", "--base-url", "nonsense"],
        "no http(s) address",
        "docs/configuration.md",
    ),
    (
        &["send", "hi", "--model", "nobody"],
        "no model 'nobody'",
        "callgate model list",
    ),
    (
        &["key", "new", "--scope", "everything"],
        "no scope 'everything'",
        "there are operator",
    ),
    (
        &["key", "new", "--expires", "soon"],
        "'soon' is no time",
        "write 30d",
    ),
    (&["key", "revoke", "99"], "no key '99'", "callgate key list"),
    (
        &["client", "approve", "nobody"],
        "no client 'nobody'",
        "callgate client list",
    ),
    (
        &["client", "revoke", "nobody"],
        "no client 'nobody'",
        "callgate client list",
    ),
    (
        &["plugin", "install", "/nowhere"],
        "there is no such file",
        "a .zip file",
    ),
    (
        &["plugin", "install", "/etc/passwd"],
        "neither a folder nor",
        "a .zip file",
    ),
    (
        &["plugin", "remove", "nobody"],
        "there is no plugin 'nobody'",
        "callgate plugin list",
    ),
    (
        &["plugin", "reload", "nobody"],
        "there is no plugin 'nobody'",
        "callgate plugin list",
    ),
    (
        &["plugin", "config", "nobody"],
        "no plugin 'nobody' is loaded",
        "callgate plugin list",
    ),
    (
        &["plugin", "new", "Bad Name"],
        "no name for a plugin",
        "as in word_count",
    ),
    (
        &["plugin", "cancel", "nothing"],
        "no job nothing",
        "forgotten when the server ends",
    ),
];

#[test]
fn at_the_terminal() {
    let scene = Scene::new();
    let failures = ROWS.iter().filter_map(|(arguments, error, hint)| {
        let said = scene.callgate(&[*arguments, &["--json"]].concat());
        assert_ne!(said.code, Some(0), "{arguments:?}: {}", said.stdout);
        let told = said.json();
        let text = |field: &str| told[field].as_str().unwrap_or_default();
        let said = (text("error"), text("hint"));
        holds(
            &arguments.join(" "),
            said,
            (error, hint),
            &NEVER_AT_THE_TERMINAL,
        )
    });
    all_hold(failures.collect());
}

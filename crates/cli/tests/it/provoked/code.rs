//! Of code in the sandbox, as whoever runs it reads it.

use super::{NEVER_AT_THE_TERMINAL, all_hold, holds};
use crate::scene::Scene;

/// Code, and pieces of what is told.
pub(super) const ROWS: [(&str, &str, &str); 9] = [
    (
        "import pandas",
        "No module named 'pandas'",
        "callgate sandbox install",
    ),
    (
        "import os; os.system('ls')",
        "processes are not allowed",
        "use Python itself",
    ),
    (
        "import socket; socket.socket()",
        "no network here",
        "fetch_page",
    ),
    ("nothing()", "name 'nothing' is not defined", "line 1"),
    (
        "now(3, 4)",
        "takes 1 positional argument, got 2",
        "now(zone: str | None = None)",
    ),
    (
        "remember(1, 2)",
        "'name' must be str",
        "remember(name: str, text: str)",
    ),
    ("read_file('/etc/passwd')", "is outside", "/app/shared/NAME"),
    ("fetch_page('http://x')", "turned off", "fetch.allow"),
    ("x = [0] * 10**11", "MemoryError", "sandbox.memory_mb"),
];

#[test]
fn of_code() {
    let scene = Scene::new();
    let failures = ROWS.iter().filter_map(|(code, error, hint)| {
        let said = scene.run(code, &[]);
        assert_eq!(said.code, Some(1), "{code}: {}", said.stdout);
        holds(
            code,
            (&said.stderr, &said.stderr),
            (error, hint),
            &NEVER_AT_THE_TERMINAL,
        )
    });
    all_hold(failures.collect());
}

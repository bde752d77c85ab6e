//! Of plugins that cannot be loaded, as their authors read it.

use super::{NEVER_AT_THE_TERMINAL, all_hold, holds};
use crate::scene::Scene;

/// The code of a plugin, and pieces of what is told.
pub(super) const ROWS: [(&str, &str, &str); 5] = [
    (
        "from callgate import method\nimport no_such_package\n",
        "no_such_package",
        "--with no_such_package",
    ),
    (
        "from callgate import method\n1 / 0\n",
        "ZeroDivisionError",
        "line 2",
    ),
    (
        "from callgate import method\ndef\n",
        "SyntaxError",
        "line 2",
    ),
    (
        "from callgate import nothing\n",
        "cannot import name 'nothing'",
        "line 1",
    ),
    (
        "print('hello')\n",
        "it imports none of nekro_agent, astrbot, callgate",
        "callgate plugin new",
    ),
];

#[test]
fn of_plugins() {
    let scene = Scene::new();
    let folder = scene.home().join("broken");
    std::fs::create_dir(&folder).unwrap();
    let failures = ROWS.iter().filter_map(|(code, error, hint)| {
        std::fs::write(folder.join("__init__.py"), code).unwrap();
        let said = scene.callgate(&["plugin", "check", "--no-install", folder.to_str().unwrap()]);
        assert_eq!(said.code, Some(1), "{code}: {}", said.stdout);
        holds(
            code,
            (&said.stdout, &said.stdout),
            (error, hint),
            &NEVER_AT_THE_TERMINAL,
        )
    });
    all_hold(failures.collect());
}

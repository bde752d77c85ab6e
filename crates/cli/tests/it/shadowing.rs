//! A plugin's method that has the name of a built-in one: told wherever plugins are looked at, and the operator's choice.

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const CODE: &str = "\
from callgate import method
@method
def now() -> str:
    \"\"\"Another clock.\"\"\"
    return 'teatime'
";

const TOLD: &str = "now means this plugin's method and not builtin/now";

#[test]
fn a_method_with_the_name_of_a_built_in_one_is_told_of_and_chosen() {
    let scene = Scene::new();
    let folder = scene.home().join("clock");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("__init__.py"), CODE).unwrap();
    let folder = folder.to_str().unwrap();
    let checked = scene.callgate(&["plugin", "check", folder]).succeeded();
    assert!(checked.stdout.contains(TOLD), "{}", checked.stdout);

    let key = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = key.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start(&scene);
    let installed = scene.callgate(&["plugin", "install", folder]).succeeded();
    assert!(
        installed.stdout.contains(TOLD)
            && installed
                .stdout
                .contains("plugins.prefer = [\"builtin/now\"]"),
        "{}",
        installed.stdout
    );
    let listed = scene.callgate(&["plugin", "list"]).succeeded();
    assert!(listed.stdout.contains(TOLD), "{}", listed.stdout);
    let shadows = || server.api("GET", "/api/plugins/clock", &key, None).1["shadows"].clone();
    assert!(
        shadows()[0].as_str().unwrap().contains(TOLD),
        "{}",
        shadows()
    );
    let said = |code: &str| scene.run(code, &["--json"]).json()["stdout"].clone();
    assert_eq!(said("print(now())"), "teatime\n");

    // Chosen while the server runs.
    let prefer = "[plugins]\nprefer = [\"builtin/now\"]\n";
    std::fs::write(scene.data().join("callgate.toml"), prefer).unwrap();
    wait_until(|| said("print(now().year > 2000)") == "True\n");
    let other = scene.callgate(&["call", "plugin:clock/now", "--json"]);
    assert_eq!(other.succeeded().json()["value"], "teatime");
    let told = shadows()[0].as_str().unwrap().to_owned();
    assert!(
        told.contains("now means builtin/now and not this plugin's"),
        "{told}"
    );
}

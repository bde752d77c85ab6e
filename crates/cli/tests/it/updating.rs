//! Plugins that are replaced, edited and reloaded while callgate serves, in every flavour.

use std::path::{Path, PathBuf};

use crate::{
    astrbot::example, environments::equipped, sandbox_methods::with_packages, scene::Scene,
    server::Server,
};

const NATIVE: &str = "\
from callgate import method
from . import sides
@method
def roll() -> int:
    \"\"\"Roll.\"\"\"
    return sides.COUNT
";

const NEKRO: &str = "\
from nekro_agent.api.plugin import NekroPlugin, SandboxMethodType
from nekro_agent.api.schemas import AgentCtx
from . import sides
plugin = NekroPlugin(name='dice', module_name='dice', description='d', version='1', author='a', url='')
@plugin.mount_sandbox_method(SandboxMethodType.TOOL, name='roll', description='Rolls.')
async def roll(_ctx: AgentCtx) -> int:
    \"\"\"Roll.\"\"\"
    return sides.COUNT
";

const ASTRBOT: &str = "\
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Context, Star, register
from . import sides
@register('dice', 'a', 'd', '1')
class Dice(Star):
    def __init__(self, context: Context):
        super().__init__(context)
    @filter.llm_tool(name='roll')
    async def roll(self, event: AstrMessageEvent):
        '''Roll.'''
        return str(sides.COUNT)
";

/// A version of the plugin: what it answers, or nothing that can be loaded.
fn version(scene: &Scene, name: &str, code: &str, sides: &str) -> String {
    let folder = scene.home().join(name).join("dice");
    std::fs::create_dir_all(&folder).unwrap();
    let (file, about) = match code {
        ASTRBOT => (
            "main.py",
            "name: dice\nauthor: a\nversion: v1\ndesc: d\nrepo: ''\n",
        ),
        _ => ("__init__.py", ""),
    };
    if !about.is_empty() {
        std::fs::write(folder.join("metadata.yaml"), about).unwrap();
    }
    std::fs::write(folder.join(file), code).unwrap();
    std::fs::write(folder.join("sides.py"), sides).unwrap();
    folder.to_str().unwrap().to_owned()
}

fn goes_on(scene: &Scene, code: &str) {
    let versions = [
        version(scene, "one", code, "COUNT = 6\n"),
        version(scene, "two", code, "COUNT = 8\n"),
        version(scene, "broken", code, "COUNT = 1 / 0\n"),
        version(scene, "three", code, "COUNT = 20\n"),
    ];
    let server = Server::start(scene);
    let install = |index: usize| {
        let version: &str = &versions[index];
        scene.callgate(&["plugin", "install", version, "--replace", "--json"])
    };
    let rolls = |expected: &str| {
        let said = scene.run("print(roll())", &["--json"]).json();
        assert_eq!(said["stdout"], format!("{expected}\n"), "{said}");
    };
    let listed_error = || {
        let listed = scene.callgate(&["plugin", "list", "--json"]).succeeded();
        listed.json()[0]["error"].clone()
    };
    install(0).succeeded();
    rolls("6");
    install(1).succeeded();
    rolls("8");

    let failed = install(2);
    assert_ne!(failed.code, Some(0), "{}", failed.stdout);
    let told = failed.json()["error"].as_str().unwrap().to_owned();
    assert!(
        told.contains("ZeroDivisionError") && told.contains("the one before is back"),
        "{told}"
    );
    rolls("8");
    assert_eq!(listed_error(), serde_json::Value::Null);

    install(3).succeeded();
    rolls("20");

    // Edited where it lies, and reloaded; then in a way that does not load.
    let sides = scene.data().join("plugins/dice/sides.py");
    std::fs::write(&sides, "COUNT = 100\n").unwrap();
    scene.callgate(&["plugin", "reload", "dice"]).succeeded();
    rolls("100");
    std::fs::write(&sides, "COUNT = 1 / 0\n").unwrap();
    let failed = scene.callgate(&["plugin", "reload", "dice"]);
    assert_eq!(failed.code, Some(1));
    let error = listed_error();
    let error = error.as_str().unwrap();
    assert!(
        error.contains("ZeroDivisionError") && error.contains("the version before goes on"),
        "{error}"
    );
    let listed = scene.callgate(&["plugin", "list"]).succeeded();
    assert!(
        listed.stderr.contains("sides.py\", line 1"),
        "the traceback: {}{}",
        listed.stdout,
        listed.stderr
    );
    rolls("100");
    // So it does after a restart.
    drop(server);
    let _server = Server::start(scene);
    rolls("100");
    assert!(listed_error().is_string());
    std::fs::write(&sides, "COUNT = 4\n").unwrap();
    scene.callgate(&["plugin", "reload", "dice"]).succeeded();
    rolls("4");
    assert_eq!(
        staged(&scene.data()),
        Vec::<PathBuf>::new(),
        "nothing is left behind"
    );
}

fn staged(data: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("plugins")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let hidden = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with('.');
    paths.filter(hidden).collect()
}

#[test]
fn a_native_plugin_is_replaced_while_serving() {
    goes_on(&Scene::new(), NATIVE);
}

#[test]
fn a_nekro_plugin_is_replaced_while_serving() {
    goes_on(&with_packages(), NEKRO);
}

#[test]
fn an_astrbot_plugin_is_replaced_while_serving() {
    goes_on(&equipped(&example("weather_agents")), ASTRBOT);
}

/// A new plugin that does not load stays, to be mended in its place, and the command says so.
#[test]
fn a_new_plugin_that_does_not_load_is_told_of() {
    let scene = Scene::new();
    let broken = version(&scene, "broken", NATIVE, "COUNT = 1 / 0\n");
    let _server = Server::start(&scene);
    let said = scene.callgate(&["plugin", "install", &broken]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr
            .contains("dice is installed, but dice does not load: ZeroDivisionError"),
        "{}",
        said.stderr
    );
    let listed = scene.callgate(&["plugin", "list"]).succeeded();
    assert!(listed.stdout.contains("failed"), "{}", listed.stdout);
}

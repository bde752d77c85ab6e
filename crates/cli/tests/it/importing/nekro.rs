//! The data folder of Nekro Agent.

use std::fs;

use serde_json::{Value as Json, json};

use super::Report;
use crate::{sandbox_methods::with_packages, scene::Scene};

const DICE: &str = "\
from nekro_agent.api.plugin import ConfigBase, NekroPlugin, SandboxMethodType
from nekro_agent.api.schemas import AgentCtx
from pydantic import Field
plugin = NekroPlugin(name='Dice', module_name='dice', description='d', version='1', author='ann', url='')
@plugin.mount_config()
class Settings(ConfigBase):
    SIDES: int = Field(default=6, title='Sides')
@plugin.mount_sandbox_method(SandboxMethodType.TOOL, name='roll', description='Rolls.')
async def roll(_ctx: AgentCtx) -> str:
    \"\"\"Roll.\"\"\"
    luck = (plugin.get_plugin_path() / 'luck.txt').read_text()
    return f'{plugin.get_config(Settings).SIDES} {luck}'
";

const SETTINGS: &str = "\
SYSTEM_LANG: zh-CN
SUPER_USERS:
- '10001'
MODEL_GROUPS:
  default:
    GROUP_NAME: ''
    CHAT_MODEL: gemini-flash
    BASE_URL: http://127.0.0.1:9/v1
    API_KEY: sk-nekro
    MODEL_TYPE: chat
    ENABLE_VISION: true
  draw:
    BASE_URL: http://127.0.0.1:9/v1
    MODEL_TYPE: draw
";

fn rolls(scene: &Scene) -> String {
    let report = scene.run("print(roll())", &["--json"]).json();
    report["stdout"]
        .as_str()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[test]
fn plugins_administrators_and_models_come_and_go() {
    let scene = with_packages();
    let data = scene.home().join("srv/nekro_agent");
    let file = |name: &str, text: &str| {
        let path = data.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("configs/nekro-agent.yaml", SETTINGS);
    file("plugins/workdir/dice.py", DICE);
    file("plugin_data/ann.dice/config.yaml", "SIDES: 20\n");
    file("plugin_data/ann.dice/luck.txt", "seven");
    file("plugin_data/KroMiose.basic/config.yaml", "X: 1\n");
    let folder = data.parent().unwrap().to_str().unwrap().to_owned();

    let report = Report::of(&scene, &["nekro", &folder, "--dry-run"]);
    for (kind, name) in [
        ("persona", "presets"),
        ("conversation", "histories"),
        ("plugin_data", "KroMiose.basic"),
        ("model", "default"),
        ("model", "draw"),
    ] {
        assert_eq!(report.fate(kind, name), "left_out", "{kind} {name}");
    }
    assert!(
        report
            .detail("conversation", "histories")
            .contains("PostgreSQL")
    );
    assert!(!report.0.to_string().contains("sk-nekro"));

    let report = Report::of(&scene, &["nekro", &folder, "--with-secrets"]);
    assert_eq!(report.count("failed"), 0, "{:#}", report.0);
    assert_eq!(report.0["id"], 1);
    assert_eq!(rolls(&scene), "20 seven", "{:#}", report.0);
    let written = fs::read_to_string(scene.data().join("callgate.toml")).unwrap();
    assert!(
        written.contains("onebot_v11:10001") && written.contains("sk-nekro"),
        "{written}"
    );

    let again = Report::of(&scene, &["nekro", &folder, "--with-secrets"]);
    assert_eq!(again.0["id"], Json::Null, "{:#}", again.0);

    let undone = Report::of(&scene, &["undo", "1"]);
    assert_eq!(
        (undone.count("kept"), undone.count("failed")),
        (0, 0),
        "{:#}",
        undone.0
    );
    let plugins = scene.callgate(&["plugin", "list", "--json"]).succeeded();
    assert_eq!(plugins.json(), json!([]));
    let written = fs::read_to_string(scene.data().join("callgate.toml")).unwrap();
    assert!(
        !written.contains("10001") && !written.contains("sk-nekro"),
        "{written}"
    );
    assert!(!scene.data().join("plugin_data/dice/luck.txt").exists());
}

//! Plugins: installed, configured, switched, reloaded and removed, of every flavour.

use serde_json::{Value as Json, json};

use super::{Site, heard};
use crate::{
    environments::equipped,
    sandbox_methods::{with_packages, written},
    scene::{Scene, wait_until},
};

fn plugin<'a>(listed: &'a Json, id: &str) -> &'a Json {
    let mut items = listed["items"].as_array().unwrap().iter();
    items
        .find(|it| it["id"] == id)
        .unwrap_or_else(|| panic!("{id} in {listed}"))
}

const TOWN: &str = r#""""Where we are."""
from dataclasses import dataclass
from callgate import config, tool


@dataclass
class Settings:
    city: str = "Rome"
    count: int = 3
    api_key: str = ""


settings = config(Settings)


@tool
def town() -> str:
    """Tell the town."""
    print("asked for the town")
    return settings.city


@tool
def key_length() -> int:
    """Tell how long the key is."""
    return len(settings.api_key)
"#;

fn town(scene: &Scene) -> String {
    let folder = scene.home().join("town");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("__init__.py"), TOWN).unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_plugin_is_installed_configured_switched_and_removed() {
    let scene = Scene::new();
    let folder = town(&scene);
    let site = Site::start(scene, &[]);
    let mut events = site.listen("?topics=jobs,changes", "");
    let job = site.done(
        "POST",
        "/api/plugins/install",
        Some(json!({ "source": folder })),
    );
    assert_eq!(
        (&job["state"], &job["kind"]),
        (&json!("running"), &json!("install"))
    );
    let id = job["id"].as_str().unwrap().to_owned();
    let ended = |event: &Json| (event["job"]["state"] == "done").then_some(());
    let (last, ()) = heard(&mut events, ended);
    // Whoever was away hears it again, from the number of an event before.
    drop(events);
    let (start, number) = last.split_once('/').unwrap();
    let before = number.parse::<u64>().unwrap() - 1;
    let mut again = site.listen(
        "?topics=jobs",
        &format!("Last-Event-ID: {start}/{before}\r\n"),
    );
    heard(&mut again, ended);
    let job = site.get(&format!("/api/jobs/{id}"));
    assert_eq!(
        job["result"],
        json!({
            "plugin": "town", "folder": "town", "state": "running",
            "error": null, "shadows": [], "needs": [],
        }),
        "{job}"
    );
    assert_eq!(site.get("/api/jobs")["items"][0]["id"], id.as_str());

    let listed = site.get("/api/plugins");
    let view = plugin(&listed, "town");
    assert_eq!(view["state"], "running");
    assert_eq!(
        (&view["flavour"], &view["folder"]),
        (&json!("native"), &json!("town"))
    );
    assert!(view["worker"]["pid"].as_u64().unwrap() > 1, "{view}");
    assert!(
        view["worker"]["memory_bytes"].as_u64().unwrap() > 1 << 20,
        "{view}"
    );
    let names: Vec<&str> = view["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|method| method["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["town", "key_length"]);

    let config = site.get("/api/plugins/town/config");
    assert_eq!(config["schema"]["properties"]["count"]["type"], "integer");
    assert_eq!(config["values"]["api_key"], json!({ "$secret": false }));
    let values = json!({ "city": "Oslo", "api_key": "abc" });
    let path = "/api/plugins/town/config";
    let config = site.done("PUT", path, Some(json!({ "values": values })));
    assert_eq!(config["values"]["api_key"], json!({ "$secret": true }));
    assert!(!config.to_string().contains("abc"), "{config}");
    let call = |name: &str| {
        site.done(
            "POST",
            &format!("/api/methods/{name}/call"),
            Some(json!({})),
        )["value"]
            .clone()
    };
    assert_eq!(call("town"), "Oslo", "live without a restart");
    // The marker leaves the secret as it is.
    let values = json!({ "city": "Bern", "api_key": { "$secret": true } });
    site.done("PUT", path, Some(json!({ "values": values })));
    assert_eq!(
        (call("town"), call("key_length")),
        (json!("Bern"), json!(3))
    );
    let wrong = json!({ "values": { "count": "many", "where": 1 } });
    let (status, problem) = site.ask("PUT", path, Some(wrong));
    assert_eq!(status, 400, "{problem}");
    assert!(problem["fields"]["where"].is_string(), "{problem}");
    let wrong = json!({ "values": { "city": "Nowhere", "count": "many" } });
    let (status, problem) = site.ask("PUT", path, Some(wrong));
    assert_eq!(status, 400, "{problem}");
    assert!(problem["fields"]["count"].is_string(), "{problem}");
    assert_eq!(call("town"), "Bern", "all or nothing");

    let logs = || site.get("/api/plugins/town/logs?limit=5")["lines"].clone();
    let printed = |logs: Json| logs.to_string().contains("asked for the town");
    wait_until(|| printed(logs()));

    let here = "web:FriendMessage:operator";
    let off = json!({ "enabled": false, "session": here });
    let view = site.done("PATCH", "/api/plugins/town", Some(off));
    assert_eq!(
        (&view["enabled"], &view["enabled_here"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(view["disabled_in"], json!([here]));
    assert_eq!(
        site.ask("POST", "/api/methods/town/call", Some(json!({})))
            .0,
        404
    );
    let on = json!({ "enabled": true, "session": here });
    site.done("PATCH", "/api/plugins/town", Some(on));
    assert_eq!(call("town"), "Bern");

    let view = site.done(
        "PATCH",
        "/api/plugins/town",
        Some(json!({ "enabled": false })),
    );
    assert_eq!(
        (&view["id"], &view["state"]),
        (&json!("town"), &json!("disabled"))
    );
    assert_ne!(
        site.ask("POST", "/api/methods/town/call", Some(json!({})))
            .0,
        200
    );
    site.done(
        "PATCH",
        "/api/plugins/town",
        Some(json!({ "enabled": true })),
    );
    assert_eq!(call("town"), "Bern", "its settings are kept");

    let broken = site.scene.data().join("plugins/town/__init__.py");
    std::fs::write(&broken, "from callgate import tool\n1 / 0\n").unwrap();
    let view = site.done("POST", "/api/plugins/town/reload", None);
    assert_eq!(view["state"], "failed", "{view}");
    assert!(
        view["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ZeroDivisionError")
    );
    assert!(
        view["error"]["traceback"]
            .as_str()
            .unwrap()
            .contains("1 / 0"),
        "{view}"
    );

    site.done("DELETE", "/api/plugins/town", None);
    assert_eq!(site.get("/api/plugins")["items"], json!([]));
    assert_eq!(site.ask("GET", "/api/plugins/town", None).0, 404);
    let again = site.done("POST", "/api/plugins/new", Some(json!({ "name": "words" })));
    let path = format!("/api/jobs/{}", again["id"].as_str().unwrap());
    wait_until(|| site.get(&path)["state"] == "done");
    assert_eq!(
        plugin(&site.get("/api/plugins"), "words")["state"],
        "running"
    );
    let none = site.done(
        "POST",
        "/api/plugins/install",
        Some(json!({ "source": "/nowhere" })),
    );
    let path = format!("/api/jobs/{}", none["id"].as_str().unwrap());
    wait_until(|| site.get(&path)["state"] == "failed");
    assert!(site.get(&path)["error"]["hint"].is_string());
}

const NEKRO: &str = r#"
from pydantic import Field
from nekro_agent.api.plugin import ConfigBase, ExtraField


@plugin.mount_config()
class Settings(ConfigBase):
    CITY: str = Field(default="Rome", title="City")
    TOKEN: str = Field(default="", json_schema_extra=ExtraField(is_secret=True).model_dump())
    MODEL: str = Field(default="", json_schema_extra=ExtraField(ref_model_groups=True).model_dump())
    LEVEL: int = Field(default=1, ge=0, le=9)


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, name="town", description="Tells the town.")
async def town(_ctx: AgentCtx) -> str:
    """Tells the town."""
    return plugin.get_config(Settings).CITY
"#;

#[test]
fn a_nekro_plugin_has_a_form_and_its_own_model_judges_it() {
    let scene = with_packages();
    let folder = written(&scene, "town", NEKRO);
    let site = Site::start(scene, &["--plugin", &folder]);
    let config = site.get("/api/plugins/t.town/config");
    let fields = &config["schema"]["properties"];
    assert_eq!(fields["CITY"]["title"], "City");
    assert_eq!(fields["TOKEN"]["x-ui"]["secret"], true);
    assert_eq!(fields["MODEL"]["x-ui"]["select"], "model");
    let put = |values: Json| {
        site.ask(
            "PUT",
            "/api/plugins/t.town/config",
            Some(json!({ "values": values })),
        )
    };
    let (status, problem) = put(json!({ "LEVEL": 20, "CITY": 5 }));
    assert_eq!(status, 400, "{problem}");
    let wrong: Vec<&String> = problem["fields"].as_object().unwrap().keys().collect();
    assert_eq!(wrong, ["CITY", "LEVEL"], "{problem}");
    let (status, config) = put(json!({ "CITY": "Oslo", "TOKEN": "abc" }));
    assert_eq!(status, 200, "{config}");
    assert_eq!(config["values"]["TOKEN"], json!({ "$secret": true }));
    let called = site.done("POST", "/api/methods/town/call", Some(json!({})));
    assert_eq!(called["value"], "Oslo");
}

#[test]
fn an_astrbot_plugin_has_a_form_too() {
    let name = "astrbot_plugin_formed";
    let made = Scene::new();
    let folder = made.home().join(name);
    std::fs::create_dir(&folder).unwrap();
    let code = "from astrbot.api.star import Context, Star, register\n\n\n\
                @register('formed', 'a', 'Has a form.', '1')\n\
                class Formed(Star):\n    def __init__(self, context: Context, config: dict):\n        \
                super().__init__(context)\n        self.config = config\n";
    std::fs::write(folder.join("main.py"), code).unwrap();
    std::fs::write(
        folder.join("metadata.yaml"),
        "name: formed\nauthor: a\ndesc: Has a form.\nversion: '1'\n",
    )
    .unwrap();
    let schema = json!({
        "who": { "type": "string", "description": "Who", "_special": "select_persona" },
        "count": { "type": "int", "default": 2 },
        "token": { "type": "string", "default": "" },
    });
    std::fs::write(folder.join("_conf_schema.json"), schema.to_string()).unwrap();
    let folder = folder.to_str().unwrap();
    let site = Site::start(equipped(folder), &["--plugin", folder]);
    let listed = site.get("/api/plugins");
    let id = listed["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/plugins/{id}/config");
    let config = site.get(&path);
    let fields = &config["schema"]["properties"];
    assert_eq!(fields["who"]["x-ui"]["select"], "persona", "{config}");
    assert_eq!(fields["count"]["type"], "integer");
    let wrong = json!({ "values": { "count": "two" } });
    let (status, problem) = site.ask("PUT", &path, Some(wrong));
    assert_eq!(
        (status, &problem["fields"]["count"]),
        (400, &json!("this is no whole number"))
    );
    let right = json!({ "values": { "count": 5, "token": "abc" } });
    let config = site.done("PUT", &path, Some(right));
    assert_eq!(config["values"]["count"], 5);
    assert_eq!(config["values"]["token"], json!({ "$secret": true }));
}

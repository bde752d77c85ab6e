//! A folder as AstrBot 4 leaves it.

use std::{fs, path::PathBuf};

use callgate_contract::SessionKey;
use rusqlite::Connection;
use serde_json::{Value as Json, json};

use super::Report;
use crate::{astrbot::example, environments::equipped, scene::Scene, server::Server};

const SCHEMA: &str = "
CREATE TABLE personas (created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, id INTEGER NOT NULL PRIMARY KEY,
    persona_id VARCHAR(255) NOT NULL UNIQUE, system_prompt TEXT NOT NULL, begin_dialogs JSON, tools JSON,
    skills JSON, folder_id VARCHAR(36), sort_order INTEGER NOT NULL);
CREATE TABLE conversations (created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL,
    inner_conversation_id INTEGER NOT NULL PRIMARY KEY, conversation_id VARCHAR(36) NOT NULL UNIQUE,
    platform_id VARCHAR NOT NULL, user_id VARCHAR NOT NULL, content JSON, title VARCHAR(255),
    persona_id VARCHAR, token_usage INTEGER NOT NULL);
CREATE TABLE preferences (created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, id INTEGER NOT NULL PRIMARY KEY,
    scope VARCHAR NOT NULL, scope_id VARCHAR NOT NULL, key VARCHAR NOT NULL, value JSON NOT NULL);
";

const FIRST: &str = "6f1c6a0e-5f7e-4f0a-9d5e-000000000001";
const SECOND: &str = "6f1c6a0e-5f7e-4f0a-9d5e-000000000002";
const SESSION: &str = "qq:FriendMessage:10001";

const DICE: &str = "\
import os
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Context, Star, StarTools, register
@register('dice', 'ann', 'd', '1')
class Dice(Star):
    def __init__(self, context: Context, config):
        super().__init__(context)
        self.config = config
    @filter.llm_tool(name='roll')
    async def roll(self, event: AstrMessageEvent):
        '''Roll.'''
        luck = (StarTools.get_data_dir('dice') / 'luck.txt').read_text()
        return f\"{self.config['sides']} {luck} {await self.get_kv_data('lucky', 0)}\"
";

struct AstrBot {
    data: PathBuf,
}

impl AstrBot {
    fn install(scene: &Scene) -> AstrBot {
        let data = scene.home().join("AstrBot/data");
        for folder in [
            "plugins/dice",
            "plugins/broken",
            "config",
            "plugin_data/dice",
        ] {
            fs::create_dir_all(data.join(folder)).unwrap();
        }
        let bot = AstrBot { data };
        bot.database().execute_batch(SCHEMA).unwrap();
        bot.write_persona("poet", "Answer in verse.", r#"["Hi", "Ahoy"]"#);
        bot.write_persona("clerk", "Answer briefly.", "null");
        bot.write_persona("default", "It is taken.", "null");
        bot.say(
            FIRST,
            SESSION,
            json!([said("user", "tea?"), said("assistant", "Green.")]),
        );
        bot.say(SECOND, "nowhere", json!([said("user", "lost")]));
        bot.prefer("umo", SESSION, "sel_conv_id", json!(FIRST));
        bot.prefer("plugin", "ann/dice", "lucky", json!(7));
        bot.configure();
        bot.file("plugins/dice/main.py", DICE);
        bot.file(
            "plugins/dice/metadata.yaml",
            "name: dice\nauthor: ann\nversion: v1\ndesc: d\nrepo: ''\n",
        );
        let schema = json!({"sides": {"type": "int", "default": 6}, "loud": {"type": "bool", "default": false}});
        bot.file("plugins/dice/_conf_schema.json", &schema.to_string());
        bot.file("config/dice_config.json", "\u{feff}{\"sides\": 20}");
        bot.file("plugin_data/dice/luck.txt", "seven");
        bot.file("plugins/broken/main.py", "import astrbot\n1 / 0\n");
        // Not followed, wherever it leads.
        std::os::unix::fs::symlink(scene.home(), bot.data.join("plugins/linked")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", bot.data.join("plugin_data/dice/link")).unwrap();
        bot
    }

    fn folder(&self) -> &str {
        self.data.to_str().unwrap()
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.data.join(name), text).unwrap();
    }

    fn database(&self) -> Connection {
        Connection::open(self.data.join("data_v4.db")).unwrap()
    }

    fn configure(&self) {
        let config = json!({
            "admins_id": ["astrbot", "10001", "20002"],
            "platform": [{"id": "qq", "type": "aiocqhttp", "enable": true},
                         {"id": "tg", "type": "telegram", "enable": true}],
            "provider_sources": [{"id": "deep", "type": "openai_chat_completion", "key": ["sk-deep"],
                                  "api_base": "https://api.deepseek.com/v1"}],
            "provider": [
                {"id": "deep/chat", "provider_source_id": "deep", "model": "deepseek-chat", "enable": true},
                {"id": "near", "type": "openai_chat_completion", "model": "qwen3", "key": [], "enable": true,
                 "api_base": "http://127.0.0.1:9/v1"},
                {"id": "voice", "type": "openai_tts_api", "enable": true},
            ],
        });
        self.file("cmd_config.json", &config.to_string());
    }

    fn write_persona(&self, name: &str, prompt: &str, dialogs: &str) {
        let insert = "INSERT INTO personas (created_at, updated_at, persona_id, system_prompt, begin_dialogs, tools,
                          sort_order) VALUES ('2026-01-01', '2026-01-01', ?1, ?2, ?3, 'null', 0)
                      ON CONFLICT (persona_id) DO UPDATE SET system_prompt = excluded.system_prompt";
        self.database()
            .execute(insert, [name, prompt, dialogs])
            .unwrap();
    }

    fn say(&self, id: &str, place: &str, messages: Json) {
        let insert = "INSERT INTO conversations (created_at, updated_at, conversation_id, platform_id, user_id, content,
                          title, persona_id, token_usage)
                      VALUES ('2026-01-01', '2026-01-01', ?1, 'qq', ?2, ?3, 'Tea', 'poet', 0)
                      ON CONFLICT (conversation_id) DO UPDATE SET content = excluded.content";
        let messages = messages.to_string();
        self.database()
            .execute(insert, [id, place, &messages])
            .unwrap();
    }

    fn prefer(&self, scope: &str, place: &str, name: &str, value: Json) {
        let insert = "INSERT INTO preferences (created_at, updated_at, scope, scope_id, key, value)
                      VALUES ('2026-01-01', '2026-01-01', ?1, ?2, ?3, ?4)";
        let value = json!({"val": value}).to_string();
        self.database()
            .execute(insert, [scope, place, name, &value])
            .unwrap();
    }
}

fn said(role: &str, text: &str) -> Json {
    json!({"role": role, "content": text})
}

/// The histories of the session, and which one goes on.
fn histories(scene: &Scene) -> (Vec<Vec<Json>>, bool) {
    scene.stored(async |store| {
        let session: SessionKey = SESSION.parse().unwrap();
        let all = store
            .conversations()
            .list(Some(&session), None)
            .await
            .unwrap();
        let current = store.conversations().current(&session).await.unwrap();
        let goes_on = all.iter().any(|one| Some(one.id) == current);
        let mut histories = Vec::new();
        for one in &all {
            let rows = store.conversations().history(one.id).await.unwrap();
            histories.push(rows.into_iter().map(|row| row.message).collect());
        }
        (histories, goes_on)
    })
}

fn personas(scene: &Scene) -> Vec<String> {
    let list = scene
        .callgate(&["persona", "list", "--json"])
        .succeeded()
        .json();
    let names = list.as_array().unwrap().iter();
    names
        .map(|persona| persona["name"].as_str().unwrap().to_owned())
        .collect()
}

fn configuration(scene: &Scene) -> String {
    fs::read_to_string(scene.data().join("callgate.toml")).unwrap_or_default()
}

fn rolls(scene: &Scene) -> String {
    let report = scene.run("print(roll())", &["--json"]).json();
    report["stdout"]
        .as_str()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[test]
fn a_rehearsal_lists_everything_and_changes_nothing() {
    let scene = Scene::new();
    let bot = AstrBot::install(&scene);
    let report = Report::of(&scene, &["astrbot", bot.folder(), "--dry-run"]);
    assert_eq!(report.0["id"], Json::Null);
    for (kind, name) in [
        ("persona", "poet"),
        ("conversation", FIRST),
        ("administrator", "10001"),
        ("model", "near"),
        ("plugin", "dice"),
        ("plugin_config", "dice"),
        ("plugin_data", "dice"),
        ("plugin_value", "ann/dice:lucky"),
    ] {
        assert_eq!(report.fate(kind, name), "new", "{kind} {name}");
    }
    for (kind, name, why) in [
        ("persona", "default", "there is another of this name here"),
        ("conversation", SECOND, "is not a session"),
        ("administrator", "astrbot", "AstrBot's own page"),
        ("administrator", "20002", "on which platform is not known"),
        ("model", "deep/chat", "--with-secrets"),
        ("model", "voice", "no model to chat with"),
        ("platform", "qq", "`callgate platform add`"),
    ] {
        assert_eq!(report.fate(kind, name), "left_out", "{kind} {name}");
        let detail = report.detail(kind, name);
        assert!(detail.contains(why), "{kind} {name}: {detail}");
    }
    assert!(
        !report.0.to_string().contains("linked"),
        "links are nothing"
    );
    assert!(!report.0.to_string().contains("sk-deep"));
    assert_eq!(personas(&scene), ["default"]);
    assert_eq!(histories(&scene), (Vec::new(), false));
    assert_eq!(configuration(&scene), "");
    assert!(!scene.data().join("plugins/dice").exists());
    let list = scene.callgate(&["import", "list", "--json"]).succeeded();
    assert_eq!(list.json(), json!([]));
}

#[test]
fn a_strange_database_gives_what_tables_hold_and_no_more() {
    let scene = Scene::new();
    let bot = AstrBot::install(&scene);
    let database = bot.database();
    database
        .execute_batch(
            "DROP TABLE personas;
             CREATE VIEW personas AS SELECT 'spy' AS persona_id, 'x' AS system_prompt FROM conversations;
             UPDATE conversations SET content = 'no JSON' WHERE user_id = 'nowhere';",
        )
        .unwrap();
    drop(database);
    let report = Report::of(&scene, &["astrbot", bot.folder(), "--dry-run"]);
    assert!(!report.0.to_string().contains("spy"), "{:#}", report.0);
    assert_eq!(report.fate("conversation", FIRST), "new");
    let detail = report.detail("conversation", SECOND);
    assert!(detail.contains("no list of messages"), "{detail}");

    let file = bot.data.join("data_v4.db");
    let mut bytes = fs::read(&file).unwrap();
    let half = bytes.len() / 2;
    bytes[100..half].fill(0x5a);
    fs::write(&file, bytes).unwrap();
    let report = Report::of(&scene, &["astrbot", bot.folder(), "--dry-run"]);
    assert_eq!(
        report.fate("other", "data_v4.db"),
        "left_out",
        "{:#}",
        report.0
    );
    assert_eq!(report.fate("plugin", "dice"), "new");
}

#[test]
fn what_comes_works_comes_once_and_goes_again() {
    let scene = equipped(&example("weather_agents"));
    let bot = AstrBot::install(&scene);
    // The folder above is as good.
    let above = bot.data.parent().unwrap().to_str().unwrap().to_owned();
    let report = Report::of(&scene, &["astrbot", &above]);
    assert_eq!(report.0["id"], 1, "{:#}", report.0);
    assert_eq!(report.count("failed"), 0, "{:#}", report.0);
    assert_eq!(report.fate("plugin", "broken"), "new");
    let detail = report.detail("plugin", "broken");
    assert!(
        detail.contains("does not load and is switched off")
            && detail.contains("ZeroDivisionError"),
        "{detail}"
    );

    assert_eq!(personas(&scene), ["default", "poet", "clerk"]);
    let poet = scene
        .callgate(&["persona", "show", "poet", "--json"])
        .succeeded()
        .json();
    assert_eq!(poet["system_prompt"], "Answer in verse.");
    assert_eq!(poet["begin_dialogs"], json!(["Hi", "Ahoy"]));
    let tea = vec![said("user", "tea?"), said("assistant", "Green.")];
    assert_eq!(histories(&scene), (vec![tea.clone()], true));
    let written = configuration(&scene);
    assert!(written.contains("\"qq:10001\""), "{written}");
    assert!(
        written.contains("id = \"near\"") && !written.contains("sk-deep"),
        "{written}"
    );
    assert_eq!(rolls(&scene), "20 seven 7");
    let plugins = scene
        .callgate(&["plugin", "list", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&plugins[0]["name"], &plugins[0]["enabled"]),
        (&json!("broken"), &json!(false))
    );
    assert_eq!(
        (&plugins[1]["name"], &plugins[1]["enabled"]),
        (&json!("dice"), &json!(true))
    );

    let again = Report::of(&scene, &["astrbot", bot.folder()]);
    assert_eq!(
        (&again.0["id"], again.count("new")),
        (&Json::Null, 0),
        "{:#}",
        again.0
    );
    assert_eq!(again.count("changed"), 0, "{:#}", again.0);
    assert_eq!(histories(&scene), (vec![tea.clone()], true));

    // There two things change; here one of them too.
    bot.write_persona("poet", "Answer in prose.", "null");
    bot.write_persona("clerk", "Answer at length.", "null");
    let mut more = tea.clone();
    more.push(said("user", "with milk?"));
    bot.say(FIRST, SESSION, json!(more));
    bot.file("config/dice_config.json", "{\"sides\": 100}");
    scene
        .callgate(&["persona", "set", "clerk", "--prompt", "Mine."])
        .succeeded();
    let third = Report::of(&scene, &["astrbot", bot.folder(), "--with-secrets"]);
    assert_eq!(third.0["id"], 2, "{:#}", third.0);
    assert_eq!(third.fate("persona", "poet"), "changed");
    assert_eq!(third.fate("persona", "clerk"), "kept");
    assert_eq!(third.fate("conversation", FIRST), "changed");
    assert_eq!(third.fate("plugin_config", "dice"), "changed");
    assert_eq!(third.fate("plugin", "dice"), "same");
    assert_eq!(third.fate("model", "deep/chat"), "new");
    assert!(!third.0.to_string().contains("sk-deep"));
    assert!(configuration(&scene).contains("sk-deep"));
    assert_eq!(histories(&scene), (vec![more], true));
    assert_eq!(rolls(&scene), "100 seven 7");

    let undone = Report::of(&scene, &["undo", "2"]);
    assert_eq!(undone.count("undone"), 4, "{:#}", undone.0);
    assert_eq!(histories(&scene), (vec![tea], true));
    assert_eq!(rolls(&scene), "20 seven 7");
    assert!(!configuration(&scene).contains("sk-deep"));

    let undone = Report::of(&scene, &["undo", "1"]);
    assert_eq!(undone.fate("persona", "clerk"), "kept", "{:#}", undone.0);
    assert_eq!(undone.count("kept"), 1, "{:#}", undone.0);
    assert_eq!(personas(&scene), ["default", "clerk"]);
    assert_eq!(histories(&scene), (Vec::new(), false));
    let written = configuration(&scene);
    assert!(
        !written.contains("10001") && !written.contains("near"),
        "{written}"
    );
    let plugins = scene.callgate(&["plugin", "list", "--json"]).succeeded();
    assert_eq!(plugins.json(), json!([]));
    let home = scene.data().join("workers/astrbot/data");
    assert!(!home.join("config/dice_config.json").exists());
    assert!(!home.join("plugin_data/dice").exists());
    assert_eq!(scene.callgate(&["import", "undo", "1"]).code, Some(1));
    let list = scene
        .callgate(&["import", "list", "--json"])
        .succeeded()
        .json();
    assert!(
        list[0]["undone_at"].is_string() && list[1]["undone_at"].is_string(),
        "{list}"
    );

    let fresh = Report::of(&scene, &["astrbot", bot.folder()]);
    assert_eq!(fresh.fate("persona", "poet"), "new");
    assert_eq!(fresh.fate("plugin", "dice"), "new");
    assert_eq!(rolls(&scene), "100 seven 7");
}

#[test]
fn a_running_server_brings_it_and_has_it_at_once() {
    let scene = equipped(&example("weather_agents"));
    let bot = AstrBot::install(&scene);
    let _server = Server::start(&scene);
    let report = Report::of(&scene, &["astrbot", bot.folder()]);
    assert_eq!(report.count("failed"), 0, "{:#}", report.0);
    assert_eq!(rolls(&scene), "20 seven 7");
    assert_eq!(personas(&scene), ["default", "poet", "clerk"]);
    let shown = scene
        .callgate(&["session", "list", "--json"])
        .succeeded()
        .json();
    assert!(shown.to_string().contains(SESSION), "{shown}");
    // What a person writes afterwards is theirs.
    let luck = scene
        .data()
        .join("workers/astrbot/data/plugin_data/dice/luck.txt");
    fs::write(luck, "eight").unwrap();
    let undone = Report::of(&scene, &["undo", "1"]);
    assert_eq!(undone.fate("plugin", "dice"), "undone", "{:#}", undone.0);
    assert_eq!(undone.fate("plugin_data", "dice"), "kept", "{:#}", undone.0);
    assert_eq!(personas(&scene), ["default"]);
    assert_eq!(rolls(&scene), "");
}

//! What an operator looks after: personas, models, settings, plugins, clients, keys, the machine.

use serde_json::{Value as Json, json};

use super::{
    events::Events,
    site::{Site, json_body, no_body},
};
use crate::{
    connection::{Connection, UPGRADE},
    model::FakeModel,
    scene::wait_until,
};

pub fn everything(site: &mut Site, model: &FakeModel, events: &Events) {
    personas(site);
    models_and_settings(site, model);
    plugins(site);
    events.wait_for("job");
    clients(site);
    keys(site);
    for route in [
        "/api/overview",
        "/api/overview?hours=24&days=3",
        "/api/doctor",
    ] {
        site.get(route, &[]);
    }
    for by in [
        "day", "hour", "user", "session", "plugin", "method", "model", "turn",
    ] {
        site.get(&format!("/api/cost?by={by}"), &[]);
    }
    site.get("/api/logs?limit=500", &[]);
    site.fail("GET", "/api/logs?level=loud", &[], no_body());
}

fn personas(site: &mut Site) {
    let one = "/api/personas/{name}";
    let poet =
        json!({ "system_prompt": "In verse.", "begin_dialogs": ["hi", "yo"], "methods": ["now"] });
    site.call("PUT", one, &["poet"], json_body(poet.clone()));
    site.get(one, &["poet"]);
    site.fail("GET", one, &["nobody"], no_body());
    site.fail("PUT", one, &["nobody"], json_body(json!({})));
    site.post(
        "/api/personas/preview",
        &[],
        json!({ "system_prompt": "In verse.", "mode": "tools" }),
    );
    site.post(
        "/api/personas/preview",
        &[],
        json!({ "system_prompt": "In verse.", "mode": "code" }),
    );
    let card = json!({ "name": "Sera", "description": "Kind.", "personality": "", "scenario": "",
        "first_mes": "Hello.", "mes_example": "" });
    let card = Some(("application/octet-stream", card.to_string().into_bytes()));
    site.call("POST", "/api/personas/import", &[], card);
    site.get("/api/personas", &[]);
    site.delete(one, &["poet"]);
}

fn models_and_settings(site: &mut Site, model: &FakeModel) {
    let new =
        json!({ "id": "two", "base_url": model.url(), "fallback": ["fake"], "key": "sk-secret" });
    site.post("/api/models/test", &[], new.clone());
    let dead = json!({ "id": "dead", "base_url": "http://127.0.0.1:9/v1" });
    site.post("/api/models/test", &[], dead.clone());
    site.post("/api/models", &[], new.clone());
    site.fail("POST", "/api/models", &[], json_body(new));
    site.fail("POST", "/api/models", &[], json_body(dead));
    site.get("/api/models", &[]);
    site.get("/api/models/found", &[]);
    site.post("/api/models/{id}/test", &["two"], json!({}));
    site.call(
        "PATCH",
        "/api/models/{id}",
        &["two"],
        json_body(json!({ "fallback": [] })),
    );
    site.delete("/api/models/{id}", &["two"]);
    site.fail("DELETE", "/api/models/{id}", &["two"], no_body());
    platforms(site);
    site.get("/api/settings", &[]);
    let change = json!({ "values": { "sandbox.pool": 4 } });
    site.call("PUT", "/api/settings", &[], json_body(change));
    let wrong = json!({ "values": { "sandbox.pool": "many" } });
    site.fail("PUT", "/api/settings", &[], json_body(wrong));
}

fn platforms(site: &mut Site) {
    let qq = json!({ "id": "qq", "kind": "onebot", "url": "ws://127.0.0.1:9", "token": "shh" });
    let new = json!({ "platform": qq });
    site.post("/api/platforms", &[], new.clone());
    site.fail("POST", "/api/platforms", &[], json_body(new));
    let nowhere = json!({ "platform": { "id": "x", "kind": "onebot" } });
    site.fail("POST", "/api/platforms", &[], json_body(nowhere));
    let tested = site.post("/api/platforms/{id}/test", &["qq"], json!({}));
    assert!(!tested.to_string().contains("shh"), "{tested}");
    site.get("/api/platforms", &[]);
    site.delete("/api/platforms/{id}", &["qq"]);
    site.fail("DELETE", "/api/platforms/{id}", &["qq"], no_body());
}

const TOWN: &str = r#""""Where we are."""
from callgate import config, tool


class Settings:
    city: str = "Rome"
    api_key: str = ""


settings = config(Settings)


@tool
def town() -> str:
    """Tell the town."""
    print("asked for the town")
    return settings.city
"#;

/// A zip archive with one file, as it is: nothing in it is compressed.
fn archive(name: &str, text: &str) -> Vec<u8> {
    let mut sum = u32::MAX;
    for byte in text.bytes() {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg());
        }
    }
    let size = u32::try_from(text.len()).unwrap().to_le_bytes();
    let names = u16::try_from(name.len()).unwrap().to_le_bytes();
    let about = [
        &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..],
        &(!sum).to_le_bytes(),
        &size,
        &size,
        &names,
        &[0; 2],
    ];
    let about = about.concat();
    let file = [b"PK\x03\x04", &about[..], name.as_bytes(), text.as_bytes()].concat();
    let entry = [b"PK\x01\x02\x14\0", &about[..], &[0; 14], name.as_bytes()].concat();
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let end = [
        b"PK\x05\x06\0\0\0\0\x01\0\x01\0",
        &length(&entry)[..],
        &length(&file),
        &[0; 2],
    ]
    .concat();
    [file, entry, end].concat()
}

fn plugins(site: &mut Site) {
    let ended = |site: &mut Site, job: &Json| {
        let id = job["id"].as_str().unwrap();
        wait_until(|| site.get("/api/jobs/{id}", &[id])["state"] != "running");
        site.get("/api/jobs/{id}", &[id])
    };
    let folder = site.scene.home().join("town");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("__init__.py"), TOWN).unwrap();
    let install = json!({ "source": folder });
    let job = site.post("/api/plugins/install", &[], install);
    assert_eq!(ended(site, &job)["state"], "done");
    let job = site.post("/api/plugins/install", &[], json!({ "source": "/nowhere" }));
    assert_eq!(ended(site, &job)["state"], "failed");
    let job = site.post("/api/plugins/new", &[], json!({ "name": "fresh" }));
    assert_eq!(ended(site, &job)["state"], "done");
    let zip = archive("village/__init__.py", &TOWN.replace("town", "village"));
    let job = site.call(
        "POST",
        "/api/plugins/upload?name=village",
        &[],
        Some(("application/zip", zip)),
    );
    let job = ended(site, &job);
    assert_eq!(job["state"], "done", "{job}");
    site.get("/api/jobs", &[]);
    site.fail("GET", "/api/jobs/{id}", &["nothing"], no_body());
    let id = job["id"].as_str().unwrap();
    site.post("/api/jobs/{id}/cancel", &[id], json!({}));
    site.fail("POST", "/api/jobs/{id}/cancel", &["nothing"], no_body());

    site.get("/api/plugins", &[]);
    site.get("/api/plugins?session=web:FriendMessage:ann", &[]);
    let one = "/api/plugins/{id}";
    site.get(one, &["town"]);
    site.fail("GET", one, &["nothing"], no_body());
    site.post("/api/methods/{name}/call", &["town"], json!({}));
    site.get("/api/plugins/{id}/config", &["town"]);
    let values = json!({ "values": { "city": "Oslo", "api_key": "abc" } });
    site.call(
        "PUT",
        "/api/plugins/{id}/config",
        &["town"],
        json_body(values),
    );
    let wrong = json!({ "values": { "city": 3 } });
    site.fail(
        "PUT",
        "/api/plugins/{id}/config",
        &["town"],
        json_body(wrong),
    );
    site.get("/api/plugins/{id}/logs", &["town"]);
    site.post("/api/plugins/{id}/reload", &["town"], json!({}));
    site.post("/api/plugins/{id}/ticket", &["town"], json!({}));
    site.call(
        "PATCH",
        one,
        &["town"],
        json_body(json!({ "enabled": false })),
    );
    site.get(one, &["town"]);
    site.delete(one, &["village"]);
}

/// One with a key that made a room, and one without that asks to be let in.
fn clients(site: &mut Site) {
    let engine = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {}\r\n{UPGRADE}\r\n",
        site.server.address
    );
    let mut desk = Connection::open("a client", &site.server.address, &engine, "\"sid\"");
    let auth = json!({ "clientId": "desk", "clientType": "web-app", "key": site.key });
    desk.say(&format!("40/rooms,{auth}"));
    desk.wait_for("40/rooms,{\"sid\"");
    desk.say(&format!(
        "42/rooms,1{}",
        json!(["CREATE_ROOM", { "roomName": "tea" }])
    ));
    desk.wait_for("43/rooms,1");
    let mut guest = Connection::open("a guest", &site.server.address, &engine, "\"sid\"");
    let auth = json!({ "clientId": "tavern", "clientType": "SillyTavern", "key": "getKey" });
    guest.say(&format!("40/sillytavern,{auth}"));
    guest.wait_for("40/sillytavern,{\"sid\"");
    let asks = json!(["IDENTIFY_SILLYTAVERN", { "clientId": "tavern" }]);
    guest.say(&format!("42/sillytavern,1{asks}"));
    guest.wait_for("43/sillytavern,1");
    site.get("/api/rooms", &[]);
    site.get("/api/clients", &[]);
    site.post(
        "/api/clients/{id}",
        &["tavern"],
        json!({ "state": "approved" }),
    );
    site.get("/api/clients", &[]);
    site.post(
        "/api/clients/{id}",
        &["tavern"],
        json!({ "state": "revoked" }),
    );
    site.fail(
        "POST",
        "/api/clients/{id}",
        &["nobody"],
        json_body(json!({ "state": "approved" })),
    );
}

fn keys(site: &mut Site) {
    let made = site.post("/api/keys", &[], json!({ "scopes": ["methods"] }));
    site.fail(
        "POST",
        "/api/keys",
        &[],
        json_body(json!({ "scopes": ["flying"] })),
    );
    site.get("/api/keys", &[]);
    site.delete("/api/keys/{id}", &[made["id"].as_str().unwrap()]);
    site.fail("DELETE", "/api/keys/{id}", &["nothing"], no_body());
    let key = site.key.clone();
    site.post("/api/login", &[], json!({ "key": key }));
    site.fail(
        "POST",
        "/api/login",
        &[],
        json_body(json!({ "key": "callgate_wrong" })),
    );
    site.post("/api/logout", &[], json!({}));
}

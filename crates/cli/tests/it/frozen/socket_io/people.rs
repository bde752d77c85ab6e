//! Getting in, keys and lists of clients, rooms.

use serde_json::{Value as Json, json};

use super::{Client, Stage};

const NAMESPACES: [&str; 6] = [
    "/function_call",
    "/auth",
    "/clients",
    "/rooms",
    "/llm",
    "/debug",
];

pub fn connecting(stage: &mut Stage) {
    let mut ada = stage.client("ada");
    let mut opened = ada.opened();
    opened["sid"] = json!("<sid>");
    stage.note("engine", &opened);
    for namespace in NAMESPACES.iter().chain(&["/nowhere"]) {
        let packet = ada.sit(namespace);
        stage.note("connect", &json!(without_id(&packet)));
    }
    let wrong = json!({ "clientId": "eve", "key": "callgate_wrong" });
    let nameless = json!({ "key": "callgate_wrong" });
    let thief = json!({ "clientId": "ada", "clientType": "web-app" });
    for auth in [wrong, nameless, thief] {
        let mut eve = Client::open(&stage.server.address, "eve", "");
        let packet = eve.sit_with("/function_call", &auth);
        stage.note("connect", &json!(packet));
    }
    stage.freeze("socket_connecting");
}

fn without_id(packet: &str) -> String {
    match packet.split_once("{\"sid\":\"") {
        Some((start, _)) => format!("{start}{{\"sid\":\"<sid>\"}}"),
        None => packet.to_owned(),
    }
}

/// As the extension of SillyTavern does: without a key.
pub fn pairing(stage: &mut Stage) {
    let mut tavern = Client::open(&stage.server.address, "tavern", "getKey");
    let auth = json!({ "clientId": "tavern", "clientType": "SillyTavern", "key": "getKey", "desc": "a page" });
    tavern.sit_with("/sillytavern", &auth);
    tavern.sit_with("/function_call", &auth);
    let read = |path: &str| json!({ "requestId": path, "target": "server", "functionName": "readJsonFromFile", "args": [path] });
    stage.ask(
        &mut tavern,
        "/function_call",
        "FUNCTION_CALL",
        read("./settings/server_settings.json"),
    );
    stage.ask(
        &mut tavern,
        "/function_call",
        "FUNCTION_CALL",
        read("./settings/other.json"),
    );
    stage.ask(
        &mut tavern,
        "/sillytavern",
        "IDENTIFY_SILLYTAVERN",
        json!({ "clientId": "tavern" }),
    );
    stage.ask(
        &mut tavern,
        "/sillytavern",
        "IDENTIFY_SILLYTAVERN",
        json!({ "clientId": "other" }),
    );
    command(stage, &["client", "list"]);
    command(stage, &["client", "approve", "tavern"]);
    command(stage, &["client", "revoke", "tavern"]);
    stage.freeze("socket_pairing");
}

/// What one says with `--json`, of clients that are really there.
fn command(stage: &mut Stage, words: &[&str]) {
    let said = stage
        .scene
        .callgate(&[words, &["--json"]].concat())
        .succeeded();
    let told = match said.json() {
        Json::Array(clients) => clients
            .into_iter()
            .filter(|it| it["id"] == "tavern")
            .collect(),
        told => told,
    };
    stage.note(&words.join(" "), &told);
}

pub fn keys_and_lists(stage: &mut Stage) {
    let (mut boss, mut bob) = (stage.boss(), stage.client("bob"));
    for namespace in ["/clients", "/auth"] {
        boss.sit(namespace);
        bob.sit(namespace);
    }
    stage.ask(
        &mut boss,
        "/clients",
        "GENERATE_CLIENT_KEY",
        json!({ "targetClientId": "carl" }),
    );
    stage.ask(
        &mut bob,
        "/clients",
        "GENERATE_CLIENT_KEY",
        json!({ "targetClientId": "carl" }),
    );
    stage.ask(&mut boss, "/clients", "GENERATE_CLIENT_KEY", json!({}));
    stage.ask(
        &mut boss,
        "/clients",
        "GET_CLIENT_KEY",
        json!({ "clientId": "carl" }),
    );
    stage.ask(&mut bob, "/clients", "GET_ALL_CLIENT_KEYS", json!({}));
    stage.ask(
        &mut boss,
        "/clients",
        "REMOVE_CLIENT_KEY",
        json!({ "targetClientId": "carl" }),
    );
    stage.ask(
        &mut boss,
        "/clients",
        "REMOVE_CLIENT_KEY",
        json!({ "targetClientId": "nobody" }),
    );
    stage.ask(&mut bob, "/clients", "GET_ROOMS", json!({}));
    stage.ask(&mut bob, "/clients", "NOT_AN_EVENT", json!({}));
    for event in ["GET_CLIENT_LIST", "UPDATE_CONNECTED_CLIENTS"] {
        // Who else is there still depends on the moment.
        let ack = bob.ask("/clients", event, &json!({}));
        let clients = ack[0]["clients"].as_array().unwrap().iter();
        let own: Vec<&Json> = clients.filter(|client| client["id"] == "bob").collect();
        let status = &ack[0]["status"];
        stage.note(event, &json!({ "status": status, "clients": own }));
    }
    bob.hear("CONNECTED_CLIENTS_UPDATE");
    stage.ask(
        &mut bob,
        "/auth",
        "GET_CLIENT_KEY",
        json!({ "clientId": "bob" }),
    );
    stage.ask(
        &mut bob,
        "/auth",
        "GET_CLIENT_KEY",
        json!({ "clientId": "boss" }),
    );
    stage.ask(&mut bob, "/auth", "GET_SILLYTAVERN_EXTENSION", json!({}));
    stage.freeze("socket_clients");
}

pub fn rooms(stage: &mut Stage) {
    let (mut boss, mut dora) = (stage.boss(), stage.client("dora"));
    boss.sit("/rooms");
    dora.sit("/rooms");
    let room = json!({ "roomName": "tea" });
    let member =
        |identity: &str| json!({ "roomName": "tea", "identity": identity, "role": "guest" });
    let target = |fields: Json| {
        let mut target = json!({ "roomName": "tea", "targetIdentity": "dora" });
        target
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        target
    };
    stage.ask(&mut boss, "/rooms", "CREATE_ROOM", room.clone());
    stage.ask(&mut boss, "/rooms", "CREATE_ROOM", room.clone());
    stage.ask(
        &mut dora,
        "/rooms",
        "CREATE_ROOM",
        json!({ "roomName": "lair" }),
    );
    stage.ask(&mut boss, "/rooms", "ADD_CLIENT_TO_ROOM", member("dora"));
    stage.hear(&mut dora, "MEMBER_ROLE_CHANGED");
    stage.hear(&mut boss, "MEMBER_JOINED");
    stage.ask(&mut dora, "/rooms", "GET_ROOMS", json!({}));
    stage.ask(&mut dora, "/rooms", "GET_CLIENTS_IN_ROOM", room.clone());
    stage.ask(
        &mut boss,
        "/rooms",
        "SET_MEMBER_ROLE",
        target(json!({ "role": "manager" })),
    );
    stage.hear(&mut dora, "MEMBER_ROLE_CHANGED");
    stage.ask(
        &mut boss,
        "/rooms",
        "SET_MEMBER_ROLE",
        target(json!({ "role": "king" })),
    );
    let mode = json!({ "roomName": "tea", "mode": "MasterOnly" });
    stage.ask(&mut boss, "/rooms", "SET_ROOM_MESSAGE_REQUEST_MODE", mode);
    stage.hear(&mut dora, "ROOM_MODE_CHANGED");
    stage.ask(
        &mut boss,
        "/rooms",
        "MUTE_MEMBER",
        target(json!({ "durationSeconds": 60 })),
    );
    stage.ask(&mut boss, "/rooms", "UNMUTE_MEMBER", target(json!({})));
    stage.ask(&mut dora, "/rooms", "GET_CONNECTION_POLICY", json!({}));
    stage.ask(
        &mut dora,
        "/rooms",
        "SET_CONNECTION_POLICY",
        json!({ "policy": "Manual" }),
    );
    stage.ask(
        &mut boss,
        "/rooms",
        "SET_CONNECTION_POLICY",
        json!({ "policy": "Manual" }),
    );
    stage.ask(
        &mut boss,
        "/rooms",
        "GET_ASSIGNMENTS_FOR_ROOM",
        json!({ "roomName": "dora" }),
    );
    boss.ask(
        "/rooms",
        "SET_CONNECTION_POLICY",
        &json!({ "policy": "Free" }),
    );
    stage.ask(&mut boss, "/rooms", "KICK_MEMBER", target(json!({})));
    stage.hear(&mut dora, "WARNING");
    stage.ask(&mut boss, "/rooms", "DELETE_ROOM", room.clone());
    stage.ask(&mut boss, "/rooms", "DELETE_ROOM", room);
    stage.freeze("socket_rooms");
}

//! `/llm`: answers of our own agent and of another client, whole and by streams; and `/debug`.

use serde_json::json;

use super::{Client, Stage};

const NAMESPACE: &str = "/llm";

pub fn asking(stage: &mut Stage) {
    let mut gina = stage.client("gina");
    gina.sit(NAMESPACE);
    let request = |id: &str, target: &str| json!({ "requestId": id, "target": target, "message": "hello", "requestType": "newMessage" });
    stage.ask(
        &mut gina,
        NAMESPACE,
        "LLM_REQUEST",
        request("own", "server"),
    );
    stage.hear(&mut gina, "message");
    stage.hear(&mut gina, "REQUEST_STATUS_UPDATE");
    stage.ask(
        &mut gina,
        NAMESPACE,
        "GET_FULL_CONTEXT",
        json!({ "roomName": "gina" }),
    );
    stage.hear(&mut gina, "UPDATE_CONTEXT_PAGE");
    stage.ask(
        &mut gina,
        NAMESPACE,
        "GET_OFFLINE_MESSAGES",
        json!({ "roomName": "gina" }),
    );
    stage.ask(
        &mut gina,
        NAMESPACE,
        "EDIT_MESSAGE",
        json!({ "roomName": "gina", "messageId": "none", "newContent": "x" }),
    );
    stage.ask(
        &mut gina,
        NAMESPACE,
        "DELETE_MESSAGE",
        json!({ "roomName": "gina", "messageId": "none" }),
    );
    stage.ask(
        &mut gina,
        NAMESPACE,
        "CLEAR_MESSAGES",
        json!({ "roomName": "gina" }),
    );
    gina.emit(
        NAMESPACE,
        "message",
        &json!({ "type": 0, "data": "Connection active?", "requestId": "test" }),
    );
    stage.hear(&mut gina, "message");

    stage.ask(
        &mut gina,
        NAMESPACE,
        "LLM_REQUEST",
        request("nobody", "nobody"),
    );
    let key = stage.key(&["--client", "host"]);
    let auth = json!({ "clientId": "host", "clientType": "SillyTavern", "key": key });
    let mut host = Client::open(&stage.server.address, "host", &key);
    host.sit_with(NAMESPACE, &auth);
    stage.ask(
        &mut gina,
        NAMESPACE,
        "LLM_REQUEST",
        request("whole", "host"),
    );
    stage.hear(&mut host, "LLM_REQUEST");
    let whole = json!({ "type": 0, "data": "fine", "source": "ext", "requestId": "whole", "outputId": "o-1" });
    host.emit(NAMESPACE, "message", &whole);
    stage.hear(&mut gina, "message");
    stage.hear(&mut gina, "REQUEST_STATUS_UPDATE");

    stage.ask(
        &mut gina,
        NAMESPACE,
        "LLM_REQUEST",
        request("streamed", "host"),
    );
    let about = |event: &str| {
        let mut about =
            json!({ "streamId": "s", "outputId": "o-2", "requestId": "streamed", "source": "ext" });
        about["type"] = json!(event);
        about
    };
    host.emit(NAMESPACE, "CLIENT_STREAM_START", &about("1"));
    let mut piece = about("5");
    piece["chunkIndex"] = json!(0);
    piece["data"] = json!("one two");
    host.emit(NAMESPACE, "CLIENT_STREAM_DATA_MIDDLE", &piece);
    let opened = stage.hear(&mut gina, "$stream");
    gina.emit(NAMESPACE, "$stream-read", &opened[1]["$stream"]);
    let written = stage.hear(&mut gina, "$stream-write");
    gina.answer(NAMESPACE, &written[0]["asks for ack"], &json!(null));
    host.emit(NAMESPACE, "CLIENT_STREAM_END", &about("3"));
    stage.hear(&mut gina, "message");
    gina.emit(NAMESPACE, "$stream-read", &opened[1]["$stream"]);
    stage.hear(&mut gina, "$stream-end");
    stage.hear(&mut gina, "SERVER_STREAM_END");
    stage.freeze("socket_requests");
}

pub fn debugging(stage: &mut Stage) {
    let mut boss = stage.boss();
    boss.sit("/debug");
    for event in ["SERVER_STATUS", "TOGGLE_DEBUG_MODE", "READ_LOG"] {
        let ack = boss.ask("/debug", event, &json!({}));
        stage.note(event, &crate::frozen::redact::outline(&ack));
    }
    stage.freeze("socket_debug");
}

//! `/function_call`: the server's functions, other clients' functions, files and static resources.

use serde_json::{Value as Json, json};

use super::{Client, Stage};
use crate::scene::finish;

const NAMESPACE: &str = "/function_call";

fn call(id: &str, function: &str, arguments: Json) -> Json {
    json!({ "requestId": id, "functionName": function, "args": arguments, "target": "server" })
}

pub fn calling(stage: &mut Stage) {
    let mut erin = stage.client("erin");
    erin.sit(NAMESPACE);
    let (file, data) = ("./settings/erin.json", json!({ "a": 1, "b": { "x": 1 } }));
    std::fs::create_dir_all(stage.scene.data().join("remote/web")).unwrap();
    std::fs::write(stage.scene.data().join("remote/web/a.html"), "<p>hello").unwrap();
    for data in [
        call("1", "remember", json!(["colour", "blue"])),
        call("2", "x", json!([])),
        call("3", "remember", json!(["colour"])),
        call("4", "fetch_page", json!(["http://127.0.0.1"])),
        call("5", "__proto__", json!([])),
        call("6", "saveJsonToFile", json!([file, data])),
        call("7", "saveJsonToFile", json!([file, { "b": { "y": 2 } }])),
        call("8", "readJsonFromFile", json!([file])),
        call("9", "readJsonFromFile", json!(["./settings/none.json"])),
        call("10", "readJsonFromFile", json!(["../../callgate.toml"])),
        call("11", "saveJsonToFile", json!([file, [1]])),
        call(
            "12",
            "addStaticResources",
            json!([{ "/x": "web", "/y": "nothing" }]),
        ),
        json!({ "requestId": { "any": ["JSON"] }, "functionName": "x", "args": [], "target": "server" }),
        json!({ "requestId": "14", "functionName": "x", "args": [] }),
        json!({ "requestId": "15", "functionName": "x", "args": [], "target": "nobody" }),
        json!({ "requestId": "16", "args": [], "target": "server" }),
        json!(null),
    ] {
        stage.ask(&mut erin, NAMESPACE, "FUNCTION_CALL", data);
    }
    let host = [("Host", stage.server.address.as_str())];
    let page = stage.server.get("/x/a.html", &host);
    let page: Vec<&str> = page
        .lines()
        .filter(|line| !line.starts_with("date:") && !line.starts_with("etag:"))
        .collect();
    let page = json!(page);
    stage.note("GET /x/a.html", &page);
    stage.freeze("socket_functions");
}

pub fn offering(stage: &mut Stage) {
    let (mut boss, mut fred) = (stage.boss(), stage.client("fred"));
    boss.sit(NAMESPACE);
    fred.sit(NAMESPACE);
    let price = json!({
        "name": "price", "description": "What an article costs.", "kind": "tool",
        "parameters": { "type": "object", "properties": { "article": { "type": "string" } },
                        "required": ["article"] },
    });
    stage.ask(
        &mut boss,
        NAMESPACE,
        "REGISTER_FUNCTIONS",
        json!([{ "name": "no name" }]),
    );
    stage.ask(&mut boss, NAMESPACE, "REGISTER_FUNCTIONS", json!("price"));
    stage.ask(&mut boss, NAMESPACE, "REGISTER_FUNCTIONS", json!([price]));

    let code = stage.scene.start("print(price('tea') + 1)", &["--json"]);
    let asked = stage.hear(&mut boss, "FUNCTION_CALL");
    answer(&mut boss, &asked, json!({ "success": true, "result": 30 }));
    stage.note("a run of print(price('tea') + 1)", &finish(code).json());

    let mut other = stage.boss();
    other.sit(NAMESPACE);
    let mut by_name = call("by name", "price", json!(["tea"]));
    by_name["progress"] = json!(true);
    let id = other.begin(NAMESPACE, "FUNCTION_CALL", &by_name);
    let asked = stage.hear(&mut boss, "FUNCTION_CALL");
    let request = &asked[1]["requestId"];
    let progress = json!({ "requestId": request, "done": 1, "total": 2, "text": "half" });
    boss.emit(NAMESPACE, "FUNCTION_PROGRESS", &progress);
    stage.hear(&mut other, "FUNCTION_PROGRESS");
    answer(&mut boss, &asked, json!({ "success": true, "result": 40 }));
    stage.note("ack of the caller", &other.acked(NAMESPACE, id));

    let results = [
        json!({ "success": true, "result": 50 }),
        json!({ "success": false, "error": { "message": "sold out" } }),
    ];
    for (name, result) in ["at a client", "and refused"].into_iter().zip(results) {
        let mut at_client = call(name, "price", json!(["tea"]));
        at_client["target"] = json!("boss");
        let id = fred.begin(NAMESPACE, "FUNCTION_CALL", &at_client);
        let asked = stage.hear(&mut boss, "FUNCTION_CALL");
        answer(&mut boss, &asked, result);
        stage.note("ack of the caller", &fred.acked(NAMESPACE, id));
    }
    stage.freeze("socket_offers");
}

fn answer(client: &mut Client, asked: &Json, mut answer: Json) {
    answer["requestId"] = asked[1]["requestId"].clone();
    client.answer(NAMESPACE, &asked[0]["asks for ack"], &answer);
}

//! Clients as the operator sees and admits them over HTTP.

use std::time::Duration;

use callgate_server::Api;
use callgate_service::{OPERATOR, Service};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{client::Client, scene::Scene};

struct Office {
    address: String,
    key: String,
}

impl Office {
    async fn open(scene: &Scene, service: Service) -> Office {
        let api = Api::new(service);
        api.follow();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, api.routes()).await });
        let made = scene.store.keys().create(&[OPERATOR.to_owned()]).await;
        let key = made.unwrap().1;
        Office { address, key }
    }

    async fn send(&self, verb: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let head = format!(
            "{verb} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.key,
            body.len()
        );
        stream.write_all((head + body).as_bytes()).await.unwrap();
        stream
    }

    async fn ask(&self, verb: &str, path: &str, body: Json) -> (u16, Json) {
        let mut stream = self.send(verb, path, &body.to_string()).await;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    async fn client(&self, id: &str) -> Json {
        let (status, listed) = self.ask("GET", "/api/clients", json!({})).await;
        assert_eq!(status, 200, "{listed}");
        let mut items = listed["items"].as_array().unwrap().iter();
        items.find(|it| it["id"] == id).cloned().unwrap_or_default()
    }
}

/// Until these words have come.
async fn until(stream: &mut TcpStream, words: &str) {
    let reading = async {
        let (mut text, mut chunk) = (String::new(), [0; 1024]);
        while !text.contains(words) {
            let count = stream.read(&mut chunk).await.unwrap();
            assert_ne!(count, 0, "it ended: {text}");
            text.push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(60), reading).await;
    told.expect("it was never told");
}

#[tokio::test]
async fn a_client_is_seen_admitted_and_shut_out_over_http() {
    let (scene, service) = Scene::administered().await;
    let office = Office::open(&scene, service).await;
    assert_eq!(office.client("page").await, Json::Null);
    let mut events = office.send("GET", "/api/events?topics=changes", "").await;
    until(&mut events, "\r\n\r\n").await;

    let mut client = Client::open(&scene.address, &[("Origin", "http://localhost:8000")]).await;
    let auth = json!({ "clientId": "page", "clientType": "test", "key": "getKey" });
    client.join("/function_call", auth).await.unwrap();
    until(&mut events, r#""clients""#).await;
    let peers = scene.remote.roster().sockets("page");
    let asked = scene.remote.clients().identify(peers.last().unwrap()).await;
    asked.unwrap();
    let seen = office.client("page").await;
    assert_eq!(
        (&seen["state"], &seen["connected"]),
        (&json!("pending"), &json!(true))
    );
    assert_eq!(seen["namespaces"], json!(["/function_call"]));
    assert_eq!(seen["origin"], "http://localhost:8000");

    let word = |state: &str| json!({ "state": state });
    let (status, seen) = office
        .ask("POST", "/api/clients/page", word("approved"))
        .await;
    assert_eq!(
        (status, &seen["state"]),
        (200, &json!("approved")),
        "{seen}"
    );
    let (status, problem) = office
        .ask("POST", "/api/clients/nobody", word("approved"))
        .await;
    assert_eq!(status, 404, "{problem}");

    scene.store.rooms().create("den", "page").await.unwrap();
    let (_, rooms) = office.ask("GET", "/api/rooms", json!({})).await;
    let member = &rooms["items"][0]["members"][0];
    assert_eq!(
        (&member["client"], &member["role"]),
        (&json!("page"), &json!("master"))
    );
    assert_eq!(
        office.client("page").await["rooms"],
        json!([{ "name": "den", "role": "master" }])
    );

    let mut other = scene.client("maker").await;
    let offered = json!({ "functions": [{ "name": "fold_paper" }] });
    other.ask("REGISTER_FUNCTIONS", &[offered]).await;
    let seen = office.client("maker").await;
    assert_eq!(
        (&seen["state"], &seen["offers"]),
        (&json!("key"), &json!(["fold_paper"]))
    );

    let (_, seen) = office
        .ask("POST", "/api/clients/page", word("revoked"))
        .await;
    assert_eq!(seen["state"], "revoked");
    assert_eq!(client.hear().await.as_deref(), Some("1/function_call,"));
}

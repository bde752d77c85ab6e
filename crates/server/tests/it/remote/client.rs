//! [`Client`]: the Socket.IO protocol over a websocket, packet by packet.

use std::{collections::VecDeque, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest},
};

/// Everything the tests wait for comes sooner.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    namespace: String,
    /// What came while something else was waited for.
    inbox: VecDeque<String>,
    next: u64,
}

impl Client {
    /// A connection in no namespace.
    pub async fn open(address: &str, headers: &[(&'static str, &str)]) -> Client {
        let opened = Client::try_open(address, headers).await;
        opened.expect("a server")
    }

    async fn try_open(address: &str, headers: &[(&'static str, &str)]) -> Option<Client> {
        let url = format!("ws://{address}/socket.io/?EIO=4&transport=websocket");
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let (socket, _) = connect_async(request).await.ok()?;
        let mut client = Client {
            socket,
            namespace: "/".to_owned(),
            inbox: VecDeque::new(),
            next: 0,
        };
        let opened = client.raw().await?;
        assert!(opened.starts_with('0'), "{opened}");
        Some(client)
    }

    /// In `namespace`, or what the server said against it.
    pub async fn connect(address: &str, namespace: &str, auth: Json) -> Result<Client, String> {
        let mut client = Client::open(address, &[]).await;
        client.join(namespace, auth).await.map(|()| client)
    }

    pub async fn join(&mut self, namespace: &str, auth: Json) -> Result<(), String> {
        let joined = self.try_join(namespace, auth).await;
        joined.expect("an answer to CONNECT")
    }

    /// `None` where the server has gone.
    pub async fn try_connect(address: &str, namespace: &str, auth: Json) -> Option<Client> {
        let mut client = Client::try_open(address, &[]).await?;
        client.try_join(namespace, auth).await?.unwrap();
        Some(client)
    }

    pub async fn try_call(&mut self, function: &str, args: Json) -> Option<Json> {
        let data = json!({ "functionName": function, "args": args, "target": "server" });
        let id = self.emit("FUNCTION_CALL", &[data]).await;
        self.try_ack(id).await
    }

    async fn try_join(&mut self, namespace: &str, auth: Json) -> Option<Result<(), String>> {
        self.namespace = namespace.to_owned();
        self.say(&format!("0{namespace},{auth}")).await;
        let answer = self.hear().await?;
        let (kind, rest) = answer.split_at(1);
        let (_, payload) = rest.split_once(',').unwrap();
        let payload: Json = serde_json::from_str(payload).unwrap();
        match kind {
            "0" => Some(Ok(())),
            "4" => Some(Err(payload["message"].as_str().unwrap().to_owned())),
            other => panic!("{other} {payload}"),
        }
    }

    /// One Socket.IO packet, whatever it is.
    pub async fn say(&mut self, packet: &str) {
        let text = Message::text(format!("4{packet}"));
        // Where the server has gone, the end is heard next.
        let _ = self.socket.send(text).await;
    }

    pub async fn say_binary(&mut self, bytes: &[u8]) {
        let bytes = Message::binary(bytes.to_vec());
        self.socket.send(bytes).await.unwrap();
    }

    /// What follows a packet that announced it.
    pub async fn hear_binary(&mut self) -> Vec<u8> {
        match timeout(PATIENCE, self.socket.next()).await {
            Ok(Some(Ok(Message::Binary(bytes)))) => bytes.to_vec(),
            other => panic!("no attachment but {other:?}"),
        }
    }

    /// The next Socket.IO packet; `None` once the server has hung up.
    pub async fn hear(&mut self) -> Option<String> {
        match self.inbox.pop_front() {
            Some(packet) => Some(packet),
            None => self.packet().await,
        }
    }

    /// Emits without waiting; the ack's number.
    pub async fn emit(&mut self, event: &str, arguments: &[Json]) -> u64 {
        let id = self.next;
        self.next += 1;
        let mut items = vec![Json::from(event)];
        items.extend_from_slice(arguments);
        let packet = format!("2{},{id}{}", self.namespace, Json::Array(items));
        self.say(&packet).await;
        id
    }

    /// The ack of that number, which is the only one.
    pub async fn ack(&mut self, id: u64) -> Json {
        self.try_ack(id).await.expect("an ack, not the end")
    }

    async fn try_ack(&mut self, id: u64) -> Option<Json> {
        let start = format!("3{},{id}[", self.namespace);
        loop {
            let waiting = self
                .inbox
                .iter()
                .position(|packet| packet.starts_with(&start));
            if let Some(place) = waiting {
                let packet = self.inbox.remove(place).unwrap();
                let (_, payload) = packet.split_at(start.len() - 1);
                let items: Vec<Json> = serde_json::from_str(payload).unwrap();
                assert_eq!(items.len(), 1, "an ack is one object: {packet}");
                return items.into_iter().next();
            }
            let packet = self.packet().await?;
            self.inbox.push_back(packet);
        }
    }

    pub async fn ask(&mut self, event: &str, arguments: &[Json]) -> Json {
        let id = self.emit(event, arguments).await;
        self.ack(id).await
    }

    /// FUNCTION_CALL of one of the server's.
    pub async fn call(&mut self, function: &str, args: Json) -> Json {
        let data = json!({
            "requestId": format!("r{}", self.next),
            "functionName": function,
            "args": args,
            "target": "server",
        });
        self.ask("FUNCTION_CALL", &[data]).await
    }

    /// The next event: its name and arguments, and the number of the ack it asks for.
    pub async fn event(&mut self) -> (String, Vec<Json>, Option<u64>) {
        let start = format!("2{},", self.namespace);
        let is_event = |packet: &String| packet.starts_with(&start);
        let packet = loop {
            if let Some(place) = self.inbox.iter().position(is_event) {
                break self.inbox.remove(place).unwrap();
            }
            let packet = self.packet().await.expect("an event");
            self.inbox.push_back(packet);
        };
        let rest = packet.strip_prefix(&start).unwrap();
        let (id, payload) = rest.split_once('[').unwrap();
        let mut items: Vec<Json> = serde_json::from_str(&format!("[{payload}")).unwrap();
        let name = items.remove(0).as_str().unwrap().to_owned();
        (name, items, id.parse().ok())
    }

    pub async fn answer(&mut self, id: u64, answer: Json) {
        let packet = format!("3{},{id}[{answer}]", self.namespace);
        self.say(&packet).await;
    }

    async fn packet(&mut self) -> Option<String> {
        loop {
            let text = self.raw().await?;
            match text.split_at_checked(1)? {
                ("2", _) => self.socket.send(Message::text("3")).await.ok()?,
                ("4", packet) => return Some(packet.to_owned()),
                _ => return None,
            }
        }
    }

    async fn raw(&mut self) -> Option<String> {
        match timeout(PATIENCE, self.socket.next())
            .await
            .expect("something to hear")
        {
            Some(Ok(Message::Text(text))) => Some(text.to_string()),
            _ => None,
        }
    }
}

//! The load: websocket clients that keep a number of calls in flight. They speak the protocol by
//! hand, so that a client costs little beside the server it measures, whichever that is.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use super::Server;
use crate::stats::Samples;

const NAMESPACE: &str = "/function_call";

/// One connected client.
pub(super) struct Client {
    socket: WebSocketStream<TcpStream>,
}

impl Client {
    pub(super) async fn connect(server: &Server, number: usize) -> anyhow::Result<Client> {
        let stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        let url = format!(
            "ws://{}/socket.io/?EIO=4&transport=websocket",
            server.address
        );
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await?;
        let mut client = Client { socket };
        ensure!(client.next().await?.starts_with('0'), "no handshake");
        let auth = json!({
            "clientType": "bench",
            "clientId": format!("bench-{number}"),
            "key": server.key,
        });
        client.send(format!("40{NAMESPACE},{auth}")).await?;
        let answer = client.next().await?;
        ensure!(answer.starts_with("40"), "refused: {answer}");
        Ok(client)
    }

    async fn send(&mut self, packet: String) -> anyhow::Result<()> {
        Ok(self.socket.send(Message::text(packet)).await?)
    }

    /// The next packet that is no ping.
    pub(super) async fn next(&mut self) -> anyhow::Result<String> {
        loop {
            let message = self.socket.next().await.context("the server has gone")??;
            match message {
                Message::Text(text) if text.as_str() == "2" => self.send("3".to_owned()).await?,
                Message::Text(text) => return Ok(text.as_str().to_owned()),
                Message::Close(_) => bail!("the server hung up"),
                _ => {}
            }
        }
    }

    async fn call(&mut self, number: usize) -> anyhow::Result<()> {
        let data = json!({
            "requestId": number.to_string(),
            "functionName": "add",
            "args": [number, 2],
            "target": "server",
        });
        let packet = format!("42{NAMESPACE},{number}{}", json!(["FUNCTION_CALL", data]));
        self.send(packet).await
    }

    /// Keeps `in_flight` calls under way until `until`; the time of each.
    async fn run(mut self, in_flight: usize, until: Instant) -> anyhow::Result<(Self, Samples)> {
        let mut samples = Samples::default();
        let mut sent = vec![Instant::now(); in_flight];
        let (mut number, mut waiting) = (0, 0);
        let ack = format!("43{NAMESPACE},");
        while waiting > 0 || Instant::now() < until {
            while waiting < in_flight && Instant::now() < until {
                sent[number % in_flight] = Instant::now();
                self.call(number).await?;
                number += 1;
                waiting += 1;
            }
            if waiting == 0 {
                break;
            }
            let answer = self.next().await?;
            let rest = answer.strip_prefix(&ack).with_context(|| answer.clone())?;
            let (id, result) = rest.split_once('[').context("no answer")?;
            let id: usize = id.parse()?;
            let sum = format!("\"result\":{}", id + 2);
            ensure!(result.contains(&sum), "{answer}");
            samples.push(sent[id % in_flight].elapsed());
            waiting -= 1;
        }
        Ok((self, samples))
    }
}

/// What a load did.
pub(super) struct LoadResult {
    pub(super) samples: Samples,
    pub(super) wall: Duration,
    /// Of the server's process.
    pub(super) cpu: Duration,
}

pub(super) async fn run(
    server: &Server,
    clients: usize,
    in_flight: usize,
    during: Duration,
) -> anyhow::Result<LoadResult> {
    let mut connected = Vec::new();
    for number in 0..clients {
        connected.push(Client::connect(server, number).await?);
    }
    let (began, cpu) = (Instant::now(), server.cpu()?);
    let mut tasks = JoinSet::new();
    for client in connected {
        tasks.spawn(client.run(in_flight, began + during));
    }
    let mut samples = Samples::default();
    let mut clients = Vec::new();
    while let Some(done) = tasks.join_next().await {
        let (client, times) = done??;
        samples.append(times);
        clients.push(client);
    }
    Ok(LoadResult {
        samples,
        wall: began.elapsed(),
        cpu: server.cpu()? - cpu,
    })
}

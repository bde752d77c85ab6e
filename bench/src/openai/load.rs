//! The load: clients that ask one completion after the other over a connection that stays open. They
//! speak HTTP by hand, so that a client costs little beside the server it measures.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinSet,
};

use crate::{remote::Server, stats::Samples};

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
    chunks: bool,
    during: Duration,
) -> anyhow::Result<LoadResult> {
    let request = request(server, chunks);
    let mut connected = Vec::new();
    for _ in 0..clients {
        let mut client = Client::connect(server).await?;
        // The first one warms up.
        client.ask(&request).await?;
        connected.push(client);
    }
    let (began, cpu) = (Instant::now(), server.cpu()?);
    let mut tasks = JoinSet::new();
    for mut client in connected {
        let request = request.clone();
        tasks.spawn(async move {
            let mut samples = Samples::default();
            while began.elapsed() < during {
                let asked = Instant::now();
                client.ask(&request).await?;
                samples.push(asked.elapsed());
            }
            anyhow::Ok(samples)
        });
    }
    let mut samples = Samples::default();
    while let Some(done) = tasks.join_next().await {
        samples.append(done??);
    }
    Ok(LoadResult {
        samples,
        wall: began.elapsed(),
        cpu: server.cpu()? - cpu,
    })
}

/// Both know a model of this name.
fn request(server: &Server, chunks: bool) -> Vec<u8> {
    let body = json!({
        "model": "model/bench",
        "stream": chunks,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Say that it is done."},
        ],
    });
    let body = body.to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.address,
        server.key,
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

struct Client(BufReader<TcpStream>);

impl Client {
    async fn connect(server: &Server) -> anyhow::Result<Client> {
        let stream = TcpStream::connect(&server.address).await?;
        stream.set_nodelay(true)?;
        Ok(Client(BufReader::new(stream)))
    }

    /// One request and the whole of its answer.
    async fn ask(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.0.write_all(request).await?;
        let status = self.line().await?;
        let mut length = None;
        loop {
            let line = self.line().await?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = Some(value.trim().parse()?);
            }
        }
        let body = match length {
            Some(length) => self.bytes(length).await?,
            None => self.pieces().await?,
        };
        let body = String::from_utf8_lossy(&body);
        ensure!(status.contains(" 200 "), "{status}: {body}");
        let whole = body.contains("words") || body.contains("[DONE]");
        ensure!(whole, "{body}");
        Ok(())
    }

    async fn pieces(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = self.line().await?;
            let size = usize::from_str_radix(&size, 16).context("the size of a chunk")?;
            body.extend(self.bytes(size).await?);
            ensure!(self.line().await?.is_empty(), "no end of a chunk");
            if size == 0 {
                return Ok(body);
            }
        }
    }

    async fn bytes(&mut self, count: usize) -> anyhow::Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).await?;
        Ok(bytes)
    }

    async fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        ensure!(self.0.read_line(&mut line).await? > 0, "the server hung up");
        Ok(line.trim_end().to_owned())
    }
}

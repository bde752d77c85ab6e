//! The real binary under those who hold back and those who will not stop: connections that never say the
//! rest, and calls that always fail. Its memory and its disk have to stay as they are.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use serde_json::{Value as Json, json};

use crate::process::{Server, binary, field};

/// Connections that are open at once, and how often they come again.
const CONNECTIONS: usize = 600;
const ROUNDS: usize = 30;
/// Failing calls, and bytes that each sends.
const CALLS: usize = 20_000;
const SENT: usize = 64 << 10;
/// A key has a rate of its own.
const KEYS: usize = 20;

/// What either may grow by once it is warm.
const GROWTH: u64 = 32 << 20;

pub(crate) fn flood() -> anyhow::Result<()> {
    let binary = binary().context("build the binary first, beside this one")?;
    let server = Server::start(&binary)?;
    server.is_healthy()?;
    let began = Instant::now();
    let memory = withheld(&server)?;
    let disk = failing(&server)?;
    println!(
        "{ROUNDS} times {CONNECTIONS} connections that say half of something, and {CALLS} failing calls \
         of {} kB, in {:.0} s: memory grew by {} kB, the disk by {} kB",
        SENT >> 10,
        began.elapsed().as_secs_f64(),
        memory >> 10,
        disk >> 10,
    );
    if memory > GROWTH || disk > GROWTH {
        bail!("neither may grow by more than {} kB", GROWTH >> 10);
    }
    Ok(())
}

/// Heads, bodies with a key, and attachments of connections without a seat. Returns by how much memory
/// has grown since the third round.
fn withheld(server: &Server) -> anyhow::Result<u64> {
    let (host, key) = (&server.address, &server.key);
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Slow: ");
    let body = format!(
        "PUT /api/sessions/web:FriendMessage:a/files/uploads/a HTTP/1.1\r\nHost: {host}\r\n\
         Authorization: Bearer {key}\r\nContent-Length: 67000000\r\n\r\n{}",
        "x".repeat(1 << 10)
    );
    let socket = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {host}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut warm = 0;
    for round in 0..ROUNDS {
        let mut held = Vec::new();
        for place in 0..CONNECTIONS {
            let mut stream = TcpStream::connect(host)?;
            let said = [&head, &body, &socket][place % 3];
            stream.write_all(said.as_bytes())?;
            if place % 3 == 2 {
                // Says that an attachment follows, which never comes.
                let packet = b"451-/function_call,[\"x\",{\"_placeholder\":true,\"num\":0}]";
                let length = u8::try_from(packet.len())?;
                // One too many of its address is hung up on.
                let frame = [&[0x81, 0x80 | length, 0, 0, 0, 0], &packet[..]].concat();
                let _ = stream.write_all(&frame);
            }
            held.push(stream);
        }
        server.is_healthy()?;
        if round == 2 {
            warm = resident(server.child.id())?;
        }
    }
    Ok(resident(server.child.id())?.saturating_sub(warm))
}

fn resident(process: u32) -> anyhow::Result<u64> {
    let kilobytes = field(&format!("/proc/{process}/status"), "VmRSS:");
    Ok(kilobytes.context("no VmRSS")? << 10)
}

/// Returns by how much the database has grown since a quarter of the calls was made.
fn failing(server: &Server) -> anyhow::Result<u64> {
    let mut stream = BufReader::new(TcpStream::connect(&server.address)?);
    let mut keys = Vec::new();
    for _ in 0..KEYS {
        let made = json!({ "scopes": ["methods"] });
        let (status, made) = post(&mut stream, server, &server.key, "/api/keys", &made)?;
        ensure!(status == 200, "{made}");
        keys.push(made["key"].as_str().context("no key")?.to_owned());
    }
    let call = json!({ "arguments": { "nothing": "x".repeat(SENT) } });
    let mut quarter = 0;
    let mut made = 0;
    while made < CALLS {
        if made == CALLS / 4 {
            quarter = disk(server)?;
        }
        let path = "/api/methods/readJsonFromFile/call";
        let key = &keys[made % KEYS];
        let (status, answer) = post(&mut stream, server, key, path, &call)?;
        match status {
            400..=422 => made += 1,
            429 => std::thread::sleep(Duration::from_millis(20)),
            _ => bail!("{status}: {answer}"),
        }
    }
    Ok(disk(server)?.saturating_sub(quarter))
}

fn post(
    stream: &mut BufReader<TcpStream>,
    server: &Server,
    key: &str,
    path: &str,
    body: &Json,
) -> anyhow::Result<(u16, Json)> {
    let body = body.to_string();
    write!(
        stream.get_mut(),
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len(),
    )?;
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        ensure!(stream.read_line(&mut line)? > 0, "the server hung up");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest.split(' ').next().unwrap_or_default().parse()?;
        } else if let Some(rest) = line.strip_prefix("content-length: ") {
            length = rest.parse()?;
        } else if line.is_empty() {
            break;
        }
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    Ok((status, serde_json::from_slice(&answer).unwrap_or_default()))
}

/// What stays: the log of what is not yet moved into the database has a bound of its own.
fn disk(server: &Server) -> anyhow::Result<u64> {
    Ok(fs::metadata(server.data.path().join("callgate.db"))?.len())
}

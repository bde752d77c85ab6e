//! [`Client`]: a websocket that speaks packets of Socket.IO, and nothing that a library would add.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::connection::UPGRADE;

/// Beyond it a test has hung.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    pub name: &'static str,
    key: String,
    stream: TcpStream,
    heard: Arc<Mutex<Vec<String>>>,
    acks: u64,
}

impl Client {
    /// Connected, and seated nowhere yet.
    pub fn open(address: &str, name: &'static str, key: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}\r\n"
        )
        .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let (hears, mut reading) = (heard.clone(), stream.try_clone().unwrap());
        thread::spawn(move || {
            while let Some(text) = read_frame(&mut reading) {
                match text.as_str() {
                    "2" => write_frame(&mut reading, "3"),
                    _ => hears.lock().unwrap().push(text),
                }
            }
        });
        Client {
            name,
            key: key.to_owned(),
            stream,
            heard,
            acks: 0,
        }
    }

    pub fn hang_up(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
    }

    /// The first packet of the engine.
    pub fn opened(&self) -> Json {
        let packet = self.take(|packet| packet.strip_prefix('0').map(str::to_owned));
        serde_json::from_str(&packet).unwrap()
    }

    /// Asks for a seat, and gives the packet that answers.
    pub fn sit(&mut self, namespace: &str) -> String {
        let auth = json!({ "clientId": self.name, "clientType": "web-app", "key": self.key });
        self.sit_with(namespace, &auth)
    }

    pub fn sit_with(&mut self, namespace: &str, auth: &Json) -> String {
        write_frame(&mut self.stream, &format!("40{namespace},{auth}"));
        let answers = ["0", "4"].map(|kind| format!("4{kind}{namespace},"));
        self.take(|packet| {
            let is_answer = answers.iter().any(|answer| packet.starts_with(answer));
            is_answer.then(|| packet.to_owned())
        })
    }

    pub fn ask(&mut self, namespace: &str, event: &str, data: &Json) -> Json {
        let id = self.begin(namespace, event, data);
        self.acked(namespace, id)
    }

    /// Emits, and gives the number under which the ack will come.
    pub fn begin(&mut self, namespace: &str, event: &str, data: &Json) -> u64 {
        self.acks += 1;
        let (id, packet) = (self.acks, json!([event, data]));
        write_frame(&mut self.stream, &format!("42{namespace},{id}{packet}"));
        id
    }

    pub fn acked(&self, namespace: &str, id: u64) -> Json {
        let start = format!("43{namespace},{id}[");
        let ack = self.take(|packet| {
            let rest = packet.strip_prefix(&start);
            rest.map(|rest| format!("[{rest}"))
        });
        serde_json::from_str(&ack).unwrap()
    }

    /// Without asking for an ack.
    pub fn emit(&mut self, namespace: &str, event: &str, data: &Json) {
        write_frame(
            &mut self.stream,
            &format!("42{namespace},{}", json!([event, data])),
        );
    }

    /// Namespace and arguments of the next event of this name; with the id of its ack before them where
    /// it asks for one.
    pub fn hear(&mut self, event: &str) -> (String, Json) {
        let found = self.take(|packet| {
            let (namespace, id, arguments) = read_event(packet)?;
            (arguments[0] == event).then(|| json!([namespace, id, arguments]).to_string())
        });
        let found: Json = serde_json::from_str(&found).unwrap();
        let mut told = found[2].as_array().unwrap()[1..].to_vec();
        if let Some(id) = found[1].as_u64() {
            told.insert(0, json!({ "asks for ack": id }));
        }
        (found[0].as_str().unwrap().to_owned(), told.into())
    }

    pub fn answer(&mut self, namespace: &str, id: &Json, data: &Json) {
        write_frame(&mut self.stream, &format!("43{namespace},{id}[{data}]"));
    }

    /// Takes the first packet that is wanted, once it is there.
    fn take(&self, wanted: impl Fn(&str) -> Option<String>) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut heard = self.heard.lock().unwrap();
            let place = heard.iter().position(|packet| wanted(packet).is_some());
            if let Some(place) = place {
                return wanted(&heard.remove(place)).unwrap();
            }
            assert!(
                Instant::now() < until,
                "{} heard only {heard:#?}",
                self.name
            );
            drop(heard);
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Namespace, ack and arguments.
fn read_event(packet: &str) -> Option<(String, Option<u64>, Json)> {
    let rest = packet.strip_prefix("42")?;
    let start = rest.find('[')?;
    let (head, arguments) = rest.split_at(start);
    let (namespace, id) = head.rsplit_once(',')?;
    Some((
        namespace.to_owned(),
        id.parse().ok(),
        serde_json::from_str(arguments).ok()?,
    ))
}

fn write_frame(stream: &mut TcpStream, text: &str) {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    let frame = [&[0x81, 0xfe], &length[..], &[0; 4], text.as_bytes()].concat();
    // A server that has hung up answers nothing, which is what fails.
    let _ = stream.write_all(&frame);
}

/// Bytes are told by their number.
fn read_frame(stream: &mut TcpStream) -> Option<String> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let length = match head[1] {
        126 => {
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes).ok()?;
            u64::from(u16::from_be_bytes(bytes))
        }
        127 => {
            let mut bytes = [0; 8];
            stream.read_exact(&mut bytes).ok()?;
            u64::from_be_bytes(bytes)
        }
        short => u64::from(short),
    };
    let mut text = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut text).ok()?;
    match head[0] {
        0x81 => String::from_utf8(text).ok(),
        0x82 => Some(format!("<{length} bytes>")),
        _ => None,
    }
}

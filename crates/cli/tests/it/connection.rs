//! [`Connection`]: one to a server, byte by byte, that is read as long as it stays open.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Headers that ask for a web socket.
pub const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

pub struct Connection {
    pub what: &'static str,
    stream: TcpStream,
    heard: Arc<Mutex<String>>,
    ended: Arc<AtomicBool>,
}

impl Connection {
    /// Says `request`, and waits until the answer holds `first`.
    pub fn open(what: &'static str, address: &str, request: &str, first: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let (heard, ended) = (
            Arc::<Mutex<String>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let mut reading = stream.try_clone().unwrap();
        let (hears, ends) = (heard.clone(), ended.clone());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reading.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]);
                hears.lock().unwrap().push_str(&text);
            }
            ends.store(true, Ordering::Release);
        });
        let open = Connection {
            what,
            stream,
            heard,
            ended,
        };
        open.wait_for(first);
        open
    }

    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }

    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub fn wait_for(&self, text: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.heard().contains(text) {
            let late = Instant::now() > until || self.has_ended();
            assert!(!late, "{}: no {text:?} in {:?}", self.what, self.heard());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Fails if it is still open then.
    pub fn ends_within(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while !self.has_ended() {
            let heard = self.heard();
            assert!(Instant::now() < until, "{} is open: {heard:?}", self.what);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// One message on a web socket.
    pub fn say(&mut self, text: &str) {
        let length = u16::try_from(text.len()).unwrap().to_be_bytes();
        let head = [&[0x81, 0xfe], &length[..], &[0; 4]].concat();
        self.stream.write_all(&head).unwrap();
        // A server that has hung up meanwhile is what some wait for.
        let _ = self.stream.write_all(text.as_bytes());
    }
}

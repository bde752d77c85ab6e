//! A web server on this machine that answers as a test says, and remembers what it was asked.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

pub(crate) enum Answer {
    /// Whole response, head and body.
    Bytes(Vec<u8>),
    /// The same, and then nothing more: the connection stays open.
    Stalled(Vec<u8>),
    /// The same, and then `x` for ever.
    Endless(Vec<u8>),
}

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    /// A mutex, since connections are served by tasks of their own.
    asked: Arc<Mutex<Vec<Request>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Site {
    /// On `ip`, at a free port.
    pub(crate) async fn open(
        ip: &str,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Site {
        Site::open_at(ip, 0, answer).await
    }

    pub(crate) async fn open_at(
        ip: &str,
        port: u16,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Site {
        let listener = TcpListener::bind((ip, port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (asked.clone(), Arc::new(answer));
        // Ends with the test's runtime.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (seen.clone(), answer.clone());
                tokio::spawn(async move {
                    let (request, stream) = request(stream).await?;
                    seen.lock().unwrap().push(request.clone());
                    send(stream, answer(&request)).await
                });
            }
        });
        Site { address, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

pub(crate) fn page(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

pub(crate) fn redirect(location: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )
    .into_bytes()
}

async fn request(stream: TcpStream) -> Option<(Request, TcpStream)> {
    let mut stream = BufReader::new(stream);
    let mut request = Request::default();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            return Some((request, stream.into_inner()));
        }
        match line.split_once(": ") {
            Some((name, value)) => {
                let name = name.to_ascii_lowercase();
                request.headers.push((name, value.to_owned()));
            }
            None => request.path = line.split(' ').nth(1)?.to_owned(),
        }
    }
}

async fn send(mut stream: TcpStream, answer: Answer) -> Option<()> {
    match answer {
        Answer::Bytes(bytes) => stream.write_all(&bytes).await.ok(),
        Answer::Stalled(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            std::future::pending().await
        }
        Answer::Endless(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
            None
        }
    }
}

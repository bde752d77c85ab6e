//! [`Server`]: `callgate serve` on a scene, asked over HTTP.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command},
};

use serde_json::Value as Json;

use crate::scene::{Scene, finish, interrupt};

pub struct Server {
    /// `None` once it has ended.
    pub child: Option<Child>,
    pub address: String,
    /// What it said when it was ready.
    pub ready: Json,
}

/// A test that fails leaves no server behind.
impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Server {
    /// Ready when this returns.
    pub fn start(scene: &Scene) -> Self {
        Server::start_at(scene, "127.0.0.1:0")
    }

    pub fn start_at(scene: &Scene, listen: &str) -> Self {
        Server::start_with(scene, &["--listen", listen])
    }

    pub fn start_with(scene: &Scene, options: &[&str]) -> Self {
        Server::start_killed_at("", scene, options)
    }

    /// One that kills itself at the crash point, if any.
    pub fn start_killed_at(point: &str, scene: &Scene, options: &[&str]) -> Self {
        let listen: &[&str] = if options.contains(&"--listen") {
            &[]
        } else {
            &["--listen", "127.0.0.1:0"]
        };
        let mut command = scene.command(&[&["serve", "--json"], listen, options].concat());
        Server::spawn(command.env("CALLGATE_CRASH_AT", point))
    }

    /// What the command starts must say where it listens.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let ready: Json = serde_json::from_str(&line).unwrap();
        let address = ready["address"].as_str().unwrap();
        let address = address.strip_prefix("http://").unwrap().to_owned();
        Server {
            child: Some(child),
            address,
            ready,
        }
    }

    /// Status line, headers and body.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> String {
        self.at(&self.address, path, headers)
    }

    /// The same, of another address that it listens on.
    pub fn at(&self, address: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub fn asked(&self, path: &str) -> String {
        self.get(path, &[("Host", &self.address)])
    }

    /// As `kill -9` does.
    pub fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub fn end(mut self) {
        let child = self.child.take().unwrap();
        interrupt(child.id());
        finish(child).succeeded();
    }

    /// Status and JSON of one request with a key.
    pub fn api(&self, verb: &str, path: &str, key: &str, body: Option<&Json>) -> (u16, Json) {
        let (status, body) = self.text(verb, path, key, body);
        (status, serde_json::from_str(&body).unwrap_or(Json::Null))
    }

    /// Status and body of one request with a key.
    pub fn text(&self, verb: &str, path: &str, key: &str, body: Option<&Json>) -> (u16, String) {
        let asked = self.try_text(verb, path, key, &[], body);
        asked.expect("the server is gone")
    }

    /// With more headers; `None` if it ended without an answer.
    pub fn try_api(
        &self,
        verb: &str,
        path: &str,
        key: &str,
        headers: &[(&str, &str)],
        body: Option<&Json>,
    ) -> Option<(u16, Json)> {
        let (status, body) = self.try_text(verb, path, key, headers, body)?;
        Some((status, serde_json::from_str(&body).unwrap_or(Json::Null)))
    }

    /// Status and body of one request, with whatever stands in it.
    pub fn raw(&self, verb: &str, path: &str, key: Option<&str>, body: &str) -> (u16, String) {
        let key = key.map(|key| format!("Authorization: Bearer {key}\r\n"));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: {}\r\n{}Content-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            key.unwrap_or_default(),
            body.len(),
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    fn try_text(
        &self,
        verb: &str,
        path: &str,
        key: &str,
        headers: &[(&str, &str)],
        body: Option<&Json>,
    ) -> Option<(u16, String)> {
        let body = body.map_or_else(String::new, Json::to_string);
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        let mut stream = TcpStream::connect(&self.address).ok()?;
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len(),
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some((status, body.to_owned()))
    }
}

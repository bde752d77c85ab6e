//! A Python process that answers frames: `peer.py` with the product's `wire.py`.

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use callgate_contract::{
    Value,
    codec::decode,
    frame::{FrameReader, write_frame},
};

/// What `peer.py` does with the value of a frame.
#[derive(Clone, Copy)]
pub enum Ask {
    /// Send the description of its types, then the value itself.
    Echo = 1,
    /// Evaluate a text, send the result toward the host.
    Evaluate = 2,
    /// Evaluate a text, send the result toward the sandbox.
    EvaluateOutward = 3,
    Repr = 4,
}

const FAILED: u8 = 9;

pub struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    reader: FrameReader,
}

impl Peer {
    #[allow(
        clippy::disallowed_methods,
        reason = "the other side of the codec under test"
    )]
    pub fn start() -> Self {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/peer.py");
        let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/guest");
        let e2e = concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e");
        let installed = Command::new(format!("{e2e}/install"))
            .arg("python")
            .status();
        assert!(installed.unwrap().success(), "numpy could not be installed");
        let mut child = Command::new("/usr/bin/python3")
            .arg(here)
            .env("PYTHONPATH", format!("{guest}:{e2e}/python_modules"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        Peer {
            stdin: child.stdin.take().unwrap(),
            stdout: child.stdout.take().unwrap(),
            child,
            reader: FrameReader::new(),
        }
    }

    pub fn send(&mut self, ask: Ask, value: &Value) {
        let mut out = Vec::new();
        write_frame(&mut out, ask as u8, value).unwrap();
        self.stdin.write_all(&out).unwrap();
    }

    /// The body of the next frame, or the error text the peer sent instead.
    pub fn receive(&mut self) -> Result<Vec<u8>, String> {
        loop {
            if let Some(frame) = self.reader.next_frame().unwrap() {
                if frame.kind == FAILED {
                    return Err(text(decode(frame.body).unwrap()));
                }
                return Ok(frame.body.to_vec());
            }
            let count = self.stdout.read(self.reader.spare()).unwrap();
            assert!(count > 0, "python ended");
            self.reader.filled(count);
        }
    }

    pub fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        self.send(Ask::Evaluate, &Value::from(expression));
        self.receive().map(|body| decode(&body).unwrap())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn text(value: Value) -> String {
    value.as_str().expect("text").to_owned()
}

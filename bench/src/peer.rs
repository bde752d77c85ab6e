//! What people use instead: a plain interpreter, bubblewrap around it, and a FastAPI server that is
//! sent pickles over loopback. The peers are real; only the few lines that use them are ours.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};

const PRINT: [&str; 2] = ["-c", "print(sum(i * i for i in range(100)), flush=True)"];

/// Debian's own: a `python3` found earlier on the path may be a slow wrapper.
const PYTHON: &str = "/usr/bin/python3";

pub(crate) fn python_start() -> anyhow::Result<Duration> {
    first_byte(Command::new(PYTHON).args(PRINT))
}

/// `None` where bubblewrap is not installed.
pub(crate) fn bubblewrap_start() -> anyhow::Result<Option<Duration>> {
    const BUBBLEWRAP: &str = "/usr/bin/bwrap";
    if !Path::new(BUBBLEWRAP).exists() {
        return Ok(None);
    }
    let mut command = Command::new(BUBBLEWRAP);
    for folder in ["/usr", "/lib", "/lib64", "/bin"] {
        command.args(["--ro-bind-try", folder, folder]);
    }
    let walls = "--dev /dev --tmpfs /tmp --unshare-all --die-with-parent --clearenv --chdir /tmp";
    command.args(walls.split(' ')).arg(PYTHON);
    first_byte(command.args(PRINT)).map(Some)
}

fn first_byte(command: &mut Command) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut output = process.stdout.take().context("no stdout")?;
    output.read_exact(&mut [0]).context("it printed nothing")?;
    let time = began.elapsed();
    output.read_to_end(&mut Vec::new())?;
    ensure!(process.wait()?.success(), "{command:?} failed");
    Ok(time)
}

/// A server and a client in processes of their own, as an agent and its container would be.
pub(crate) struct HttpPeer {
    server: Child,
    client: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl HttpPeer {
    pub(crate) fn start() -> anyhow::Result<HttpPeer> {
        let python = environment()?.join("bin/python");
        let program = |name| {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("peer")
                .join(name)
        };
        let mut server = Command::new(&python)
            .arg(program("server.py"))
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()?;
        // Its first line is the address it listens on.
        let mut address = String::new();
        let output = server.stdout.take().context("no stdout")?;
        BufReader::new(output).read_line(&mut address)?;
        let mut client = Command::new(&python)
            .arg(program("client.py"))
            .arg(address.trim())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = client.stdin.take().context("no stdin")?;
        let answers = BufReader::new(client.stdout.take().context("no stdout")?);
        let mut peer = HttpPeer {
            server,
            client,
            orders,
            answers,
        };
        peer.calls(0, 20).context("the peer does not answer")?;
        Ok(peer)
    }

    /// Nanoseconds of each of `count` calls that send `size` bytes and get them back.
    pub(crate) fn calls(&mut self, size: usize, count: usize) -> anyhow::Result<Vec<u64>> {
        writeln!(self.orders, "{size} {count}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        for process in [&mut self.client, &mut self.server] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The virtual environment of the peer, made on first use, next to the build's other products.
fn environment() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("callgate-bench-peer");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/prepare");
    let made = Command::new(script)
        .arg(&path)
        .stdout(Stdio::null())
        .status();
    ensure!(
        made.context("bench/peer/prepare")?.success(),
        "its packages could not be installed; see the messages above"
    );
    Ok(path)
}

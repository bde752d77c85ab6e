//! Starting processes that live beside ours. A worker gets its wall, a clean environment, a folder of its
//! own, and four descriptors over the socket that is its standard input; a script of ours gets standard
//! input and output only.

use std::{
    collections::BTreeMap,
    io::IoSlice,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::net::{UnixListener, UnixStream as StdStream},
    },
    path::{Path, PathBuf},
    process::Stdio,
};

use rustix::{
    net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
        SocketType, sendmsg, socketpair,
    },
    pipe::{PipeFlags, pipe_with},
};
use serde_json::{Value as Json, json};
use tokio::{
    net::{UnixStream, unix::pipe},
    process::{Child, Command},
};

use crate::{control::Control, wall::Wall};

/// Of our own environment, what a plugin may need to reach the network and tell the time.
const PASSED_ON: [&str; 12] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// What a worker is to be.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) python: PathBuf,
    pub(crate) flavour: String,
    /// Where our own Python packages lie.
    pub(crate) library: PathBuf,
    /// Further places to import from.
    pub(crate) paths: Vec<PathBuf>,
    /// The worker's own folder: its working directory and home.
    pub(crate) home: PathBuf,
    /// Where the host reaches the routes of its plugins: out of the worker's own reach, so that the
    /// socket there is ours.
    pub(crate) web: PathBuf,
    pub(crate) wall: Wall,
    /// Top-level modules that code in the sandbox can import.
    pub(crate) packages: Vec<String>,
}

pub(crate) struct SpawnedProcess {
    /// The process that keeps its wall, and ends as it ends.
    pub(crate) child: Child,
    pub(crate) control: Control,
    pub(crate) main: UnixStream,
    pub(crate) lane: UnixStream,
    pub(crate) dump: pipe::Receiver,
    pub(crate) output: [pipe::Receiver; 2],
}

pub(crate) fn spawn(order: &Order) -> std::io::Result<SpawnedProcess> {
    let temporary = order.home.join("tmp");
    std::fs::create_dir_all(&temporary)?;
    let web = listen(&order.web)?;
    let (setup, their_setup) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let (control, their_control) = StdStream::pair()?;
    let (main, their_main) = StdStream::pair()?;
    let (lane, their_lane) = StdStream::pair()?;
    let (dump, their_dump) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stdout, their_stdout) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC)?;

    let mut command = Command::from(order.wall.command(&order.python)?);
    command
        .args(["-P", "-X", "utf8", "-m", "callgate_worker"])
        .env_clear()
        .envs(
            PASSED_ON
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .env("NO_PROXY", unproxied("NO_PROXY"))
        .env("no_proxy", unproxied("no_proxy"))
        .env("PYTHONPATH", &order.library)
        .env("HOME", &order.home)
        .env("TMPDIR", &temporary)
        .env("MPLCONFIGDIR", order.home.join("matplotlib"))
        .stdin(Stdio::from(their_setup))
        .stdout(Stdio::from(their_stdout))
        .stderr(Stdio::from(their_stderr))
        // A group, so that what a plugin starts ends with the worker, also without a wall.
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn()?;
    hand_over(&setup, b"control", &[their_control.as_fd()])?;
    let descriptors = [
        their_main.as_fd(),
        their_lane.as_fd(),
        their_dump.as_fd(),
        web.as_fd(),
    ];
    hand_over(&setup, order.to_json().to_string().as_bytes(), &descriptors)?;
    Ok(SpawnedProcess {
        child,
        control: Control::new(ours(control)?),
        main: ours(main)?,
        lane: ours(lane)?,
        dump: pipe::Receiver::from_owned_fd(nonblocking(dump)?)?,
        output: [
            pipe::Receiver::from_owned_fd(nonblocking(stdout)?)?,
            pipe::Receiver::from_owned_fd(nonblocking(stderr)?)?,
        ],
    })
}

/// One packet, with descriptors for whoever reads it.
fn hand_over(socket: &OwnedFd, text: &[u8], descriptors: &[BorrowedFd<'_>]) -> std::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    let packet = [IoSlice::new(text)];
    sendmsg(socket, &packet, &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Runs a module of our own Python packages behind a wall: asked on standard input, answering on
/// standard output.
pub(crate) fn script(
    python: &Path,
    library: &Path,
    module: &str,
    wall: &Wall,
) -> std::io::Result<Child> {
    let mut command = Command::from(wall.command(python)?);
    command
        .args(["-P", "-B", "-X", "utf8", "-m", module])
        .env_clear()
        .envs(["PATH", "LANG", "TZ"].map(|name| (name, std::env::var_os(name).unwrap_or_default())))
        .env("PYTHONPATH", library)
        .env("HOME", &wall.folder)
        .env("TMPDIR", &wall.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command.spawn()
}

/// Compiles folders of our own packages, by an interpreter that runs nothing but its standard library:
/// behind their walls workers may read them and not write there.
pub(crate) async fn compile(python: &Path, folders: &[PathBuf]) -> std::io::Result<()> {
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that starts processes beside ours"
    )]
    let mut command = Command::new(python);
    command
        .args(["-I", "-S", "-m", "compileall", "-q"])
        .args(folders)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let status = command.status().await?;
    if status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(status.to_string()))
    }
}

/// A program of somebody else's that speaks over its standard streams. It finds in its environment
/// what it was given, where programs are, and where the user's home is.
pub(crate) fn beside(
    program: &str,
    arguments: &[String],
    environment: &BTreeMap<String, String>,
) -> std::io::Result<Child> {
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that starts processes beside ours"
    )]
    let mut command = Command::new(program);
    let found = ["PATH", "HOME"].map(|name| (name, std::env::var_os(name)));
    command
        .args(arguments)
        .env_clear()
        .envs(
            found
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command.spawn()
}

/// Where the operator keeps certificates, if not where the system does.
pub(crate) fn certificates() -> impl Iterator<Item = PathBuf> {
    let named = ["SSL_CERT_FILE", "SSL_CERT_DIR"].map(std::env::var_os);
    named.into_iter().flatten().map(PathBuf::from)
}

/// Through which the operator has programs reach the network.
pub(crate) fn proxies() -> impl Iterator<Item = String> {
    let named = PASSED_ON.iter().filter(|name| {
        let name = name.to_ascii_lowercase();
        name.ends_with("_proxy") && name != "no_proxy"
    });
    named.filter_map(|name| std::env::var(name).ok())
}

/// Where no proxy is asked: what the operator says, and this machine, where models are reached.
fn unproxied(variable: &str) -> String {
    let given = std::env::var(variable).unwrap_or_default();
    let all = [given.as_str(), "127.0.0.1", "localhost"];
    let all: Vec<&str> = all.into_iter().filter(|host| !host.is_empty()).collect();
    all.join(",")
}

impl Order {
    fn to_json(&self) -> Json {
        json!({
            "flavour": self.flavour,
            "paths": self.paths,
            "packages": self.packages,
        })
    }
}

/// A socket's address holds 107 bytes; through a descriptor of its folder, which is to be kept
/// meanwhile, any folder fits.
fn short(socket: &Path) -> std::io::Result<(std::fs::File, PathBuf)> {
    let folder = std::fs::File::open(socket.parent().unwrap_or(socket))?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    let path = path.join(socket.file_name().unwrap_or_default());
    Ok((folder, path))
}

/// In the place of one that an earlier process left.
fn listen(socket: &Path) -> std::io::Result<UnixListener> {
    if let Some(folder) = socket.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (_folder, path) = short(socket)?;
    UnixListener::bind(path)
}

/// To the routes of a worker's plugins.
pub(crate) async fn connect(socket: &Path) -> std::io::Result<UnixStream> {
    let (_folder, path) = short(socket)?;
    UnixStream::connect(path).await
}

fn ours(stream: StdStream) -> std::io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn nonblocking(fd: OwnedFd) -> std::io::Result<OwnedFd> {
    rustix::fs::fcntl_setfl(&fd, rustix::fs::OFlags::NONBLOCK)?;
    Ok(fd)
}

//! Our wire against a fake server made by others, npm's `@copilotkit/aimock`: text, streaming,
//! tool calls and back, refusals, a stream cut short. Needs Node; without it these tests fail.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use callgate_contract::{
    CallArguments, FinishReason, Model, ModelError, ModelEvent, ModelMessage, ModelRequest,
    ToolSpec,
};
use callgate_models::{ModelSettings, OpenAi};
use secrecy::SecretString;
use serde_json::{Value as Json, json};

const MISSING: &str = "these tests need Node 20 or newer with npm: `apt-get install nodejs npm`";

struct Aimock {
    base_url: String,
    /// Ends at the end of its input, which is ours to hold.
    server: Child,
}

impl Aimock {
    fn start() -> Self {
        static INSTALLED: OnceLock<()> = OnceLock::new();
        INSTALLED.get_or_init(install);
        let mut server = command("node")
            .arg("aimock.mjs")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{MISSING} (node: {error})"));
        let mut address = String::new();
        let mut said = BufReader::new(server.stdout.take().unwrap());
        said.read_line(&mut address).unwrap();
        assert!(address.starts_with("http"), "aimock said {address:?}");
        Aimock {
            base_url: address.trim().to_owned(),
            server,
        }
    }

    fn model(&self) -> OpenAi {
        OpenAi::new(ModelSettings {
            keys: vec![SecretString::from("sk-test")],
            retries: 0,
            ..ModelSettings::new("gpt-test", self.base_url.clone())
        })
        .unwrap()
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e")
}

#[allow(clippy::disallowed_methods, reason = "a server for the tests")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder());
    command
}

/// `npm ci`, unless what is installed is what the lock file wants.
fn install() {
    let read = |path: &str| -> Option<Json> {
        serde_json::from_str(&fs::read_to_string(folder().join(path)).ok()?).ok()
    };
    let wanted = read("package-lock.json").expect("e2e/package-lock.json");
    let version = |lock: &Json| lock["packages"]["node_modules/@copilotkit/aimock"].clone();
    // One process installs, the others wait: a runner may start one for each test.
    let guard = fs::File::open(folder().join("package-lock.json")).unwrap();
    guard.lock().unwrap();
    let installed = read("node_modules/.package-lock.json");
    if installed.is_some_and(|installed| version(&installed) == version(&wanted)) {
        return;
    }
    let status = command("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .stdout(Stdio::null())
        .status()
        .unwrap_or_else(|error| panic!("{MISSING} (npm: {error})"));
    assert!(status.success(), "`npm ci` in e2e/ failed: {status}");
}

fn asking(text: &str) -> ModelRequest {
    ModelRequest::new(vec![ModelMessage::user(text)])
}

#[tokio::test]
async fn text_comes_in_pieces_and_whole() {
    let server = Aimock::start();
    let mut stream = server.model().stream(asking("Say hello")).await.unwrap();
    let (mut pieces, mut last) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            ModelEvent::TextDelta { text } => pieces.push(text),
            event => last = Some(event),
        }
    }
    assert!(pieces.len() > 5, "{pieces:?}");
    assert_eq!(pieces.concat(), "Hello from 世界, to 🌍 and back.");
    let reason = FinishReason::Stop;
    assert_eq!(last, Some(ModelEvent::Finished { reason }));

    let reply = server.model().complete(asking("Say hello")).await.unwrap();
    assert_eq!(reply.text, pieces.concat());
    assert!(reply.usage.is_some_and(|usage| usage.output > 0));
}

#[tokio::test]
async fn tools_are_called_and_their_results_read() {
    let server = Aimock::start();
    let mut request = asking("What is the weather in both?");
    request.tools.push(ToolSpec {
        name: "weather".into(),
        description: "The weather of a city.".into(),
        parameters: json!({
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        }),
    });
    let reply = server.model().complete(request.clone()).await.unwrap();
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    let cities = reply.tool_calls.iter().map(|call| match &call.arguments {
        CallArguments::Object(arguments) => (call.name.as_str(), arguments["city"].clone()),
        other => panic!("{other:?}"),
    });
    let expected = [("weather", json!("Beijing")), ("weather", json!("Oslo"))];
    assert_eq!(cities.collect::<Vec<_>>(), expected);

    let calls = reply.tool_calls.clone();
    request.messages.push(reply.into());
    for (call, result) in calls.iter().zip(["sun in Beijing", "rain in Oslo"]) {
        request.messages.push(ModelMessage::tool(&call.id, result));
    }
    let reply = server.model().complete(request).await.unwrap();
    assert_eq!(reply.text, "Sun there, rain here.");
    assert_eq!(reply.finish, FinishReason::Stop);
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let server = Aimock::start();
    let refused = async |text: &str| server.model().complete(asking(text)).await.unwrap_err();
    let busy = refused("Be busy").await;
    assert!(
        matches!(
            busy,
            ModelError::RateLimited {
                retry_after: Some(_),
                ..
            }
        ),
        "{busy:?}"
    );
    let broke = refused("Be broke").await;
    assert!(matches!(broke, ModelError::Credits { .. }), "{broke:?}");
    let key = refused("Refuse the key").await;
    assert!(matches!(key, ModelError::Auth { .. }), "{key:?}");
    let broken = refused("Break down").await;
    let expected = ModelError::Server {
        status: 500,
        message: "Something broke.".into(),
    };
    assert_eq!(broken, expected);
}

#[tokio::test]
async fn a_stream_cut_short_is_no_answer() {
    let server = Aimock::start();
    let cut = server.model().complete(asking("Stop in the middle")).await;
    assert!(
        matches!(
            cut,
            Err(ModelError::CutStream | ModelError::Unreachable { .. })
        ),
        "{cut:?}"
    );
}

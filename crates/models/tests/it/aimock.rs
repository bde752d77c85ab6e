//! Our wires against a fake server made by others, npm's `@copilotkit/aimock`: text, streaming,
//! tool calls and back, thoughts, refusals, a stream cut short, embeddings. Needs Node; without it these tests fail.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use callgate_contract::{
    CallArguments, FinishReason, Model, ModelError, ModelEvent, ModelMessage, ModelRequest,
    ToolSpec,
};
use callgate_models::{ModelSettings, Remote, Wire};
use secrecy::SecretString;
use serde_json::json;

const MISSING: &str = "these tests need Node 20 or newer with npm: `apt-get install nodejs npm`";

struct Aimock {
    address: String,
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
            address: address.trim().to_owned(),
            server,
        }
    }

    fn model(&self, wire: Wire) -> Remote {
        let base_url = match wire {
            Wire::Openai | Wire::Responses => format!("{}/v1", self.address),
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => self.address.clone(),
        };
        Remote::new(ModelSettings {
            wire: Some(wire),
            keys: vec![SecretString::from("sk-test")],
            retries: 0,
            ..ModelSettings::new("gpt-test", base_url)
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

fn install() {
    let status = command("./install")
        .arg("node")
        .status()
        .unwrap_or_else(|error| panic!("{MISSING} (e2e/install: {error})"));
    assert!(status.success(), "{MISSING} (e2e/install: {status})");
}

fn asking(text: &str) -> ModelRequest {
    ModelRequest::new(vec![ModelMessage::user(text)])
}

#[tokio::test]
async fn text_comes_in_pieces_and_whole() {
    let server = Aimock::start();
    for wire in Wire::ALL {
        let model = server.model(wire);
        let mut stream = model.stream(asking("Say hello")).await.unwrap();
        let (mut pieces, mut last) = (Vec::new(), None);
        while let Some(event) = stream.next().await {
            match event.unwrap() {
                ModelEvent::TextDelta { text } => pieces.push(text),
                event => last = Some(event),
            }
        }
        assert!(pieces.len() > 5, "{wire} {pieces:?}");
        assert_eq!(pieces.concat(), "Hello from 世界, to 🌍 and back.");
        let reason = FinishReason::Stop;
        assert_eq!(last, Some(ModelEvent::Finished { reason }));

        let reply = model.complete(asking("Say hello")).await.unwrap();
        assert_eq!(reply.text, pieces.concat());
        // Only on this wire does the server count.
        let counted = reply.usage.unwrap().output > 0;
        assert!(counted || wire != Wire::Openai, "{wire}");
    }
}

fn asking_for_weather() -> ModelRequest {
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
    request
}

#[tokio::test]
async fn tools_are_called_and_their_results_read() {
    let server = Aimock::start();
    for wire in Wire::ALL {
        let mut request = asking_for_weather();
        let reply = server.model(wire).complete(request.clone()).await.unwrap();
        assert_eq!(reply.finish, FinishReason::ToolCalls);
        let cities = reply.tool_calls.iter().map(|call| match &call.arguments {
            CallArguments::Object(arguments) => (call.name.as_str(), arguments["city"].clone()),
            other => panic!("{other:?}"),
        });
        let expected = [("weather", json!("Beijing")), ("weather", json!("Oslo"))];
        assert_eq!(cities.collect::<Vec<_>>(), expected, "{wire}");

        let calls = reply.tool_calls.clone();
        request.messages.push(reply.into());
        for (call, result) in calls.iter().zip(["sun in Beijing", "rain in Oslo"]) {
            request.messages.push(ModelMessage::tool(&call.id, result));
        }
        let reply = server.model(wire).complete(request).await.unwrap();
        assert_eq!(reply.text, "Sun there, rain here.", "{wire}");
        assert_eq!(reply.finish, FinishReason::Stop);
    }
}

#[tokio::test]
async fn thoughts_are_told_apart_and_kept_with_their_signature() {
    let server = Aimock::start();
    for wire in [Wire::Openai, Wire::Responses, Wire::Anthropic, Wire::Gemini] {
        let reply = server
            .model(wire)
            .complete(asking("Think first"))
            .await
            .unwrap();
        assert_eq!(reply.text, "Forty-two.", "{wire}");
        assert_eq!(reply.reasoning, "Six times seven.", "{wire}");
        if wire == Wire::Anthropic {
            let kept = &reply.extra.unwrap()["anthropic"]["kept"][0]["block"];
            let thoughts = json!({
                "type": "thinking",
                "thinking": "Six times seven.",
                "signature": "c2lnbmVk",
            });
            assert_eq!(*kept, thoughts);
        }
    }
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let server = Aimock::start();
    for wire in Wire::ALL {
        let refused =
            async |text: &str| server.model(wire).complete(asking(text)).await.unwrap_err();
        let busy = refused("Be busy").await;
        assert!(
            matches!(busy, ModelError::RateLimited { .. }),
            "{wire} {busy:?}"
        );
        let key = refused("Refuse the key").await;
        assert!(matches!(key, ModelError::Auth { .. }), "{wire} {key:?}");
        let broken = refused("Break down").await;
        let expected = ModelError::Server {
            status: 500,
            retry_after: None,
            message: "Something broke.".into(),
        };
        assert_eq!(broken, expected, "{wire}");
    }
    let chat = server.model(Wire::Openai);
    let broke = chat.complete(asking("Be broke")).await.unwrap_err();
    assert!(matches!(broke, ModelError::Credits { .. }), "{broke:?}");
    let busy = chat.complete(asking("Be busy")).await.unwrap_err();
    let wait = matches!(
        busy,
        ModelError::RateLimited {
            retry_after: Some(_),
            ..
        }
    );
    assert!(wait, "{busy:?}");
}

#[tokio::test]
async fn a_stream_cut_short_is_no_answer() {
    let server = Aimock::start();
    for wire in Wire::ALL {
        let cut = server
            .model(wire)
            .complete(asking("Stop in the middle"))
            .await;
        assert!(
            matches!(
                cut,
                Err(ModelError::CutStream | ModelError::Unreachable { .. })
            ),
            "{wire} {cut:?}"
        );
    }
}

#[tokio::test]
async fn texts_become_vectors() {
    let server = Aimock::start();
    let model = server.model(Wire::Openai);
    let found = model.embed(vec!["a cat".to_owned()]).await.unwrap();
    assert_eq!(found.vectors, [[0.5, -0.25, 1.0]]);
}

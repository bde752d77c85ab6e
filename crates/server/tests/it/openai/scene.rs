//! [`Scene`]: the API on a store of its own, over a model that reads its answers from a list.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use callgate_agent::{Agent, AgentSettings, Coder, Sessions, Wiring};
use callgate_contract::{
    Accepts, Arguments, BoxFuture, CallArguments, Change, CodeCall, CodeReply, DeliveryError,
    Effect, Embeddings, FinishReason, HostCall, Kind, Limits, Message, Model, ModelError,
    ModelEvent, ModelInfo, ModelReply, ModelRequest, ModelStream, Models, NamedModel, Outbox, Part,
    Piece, Price, Receipt, Reply, Report, RunSpec, Sandbox, SandboxError, Stop, ToolCall, Usage,
    Value,
};
use callgate_gate::{Call, Gate, GatePolicy, method};
use callgate_server::OpenAi;
use callgate_store::{Store, Turn};
use callgate_testkit::Home;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub struct Scene {
    _home: Home,
    pub store: Store,
    pub gate: Gate,
    pub openai: OpenAi,
    pub model: Scripted,
    pub address: String,
    /// Made last.
    pub key: String,
}

pub struct Asked {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Asked {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The data of each event.
    pub fn events(&self) -> Vec<Json> {
        let data = self.text.lines().filter_map(|it| it.strip_prefix("data: "));
        let data = data.filter(|it| *it != "[DONE]");
        data.map(|it| serde_json::from_str(it).unwrap()).collect()
    }

    pub fn error(&self) -> (u16, String, Json) {
        let error = &self.json()["error"];
        assert!(!error["message"].as_str().unwrap().is_empty());
        let code = error["code"].as_str().unwrap_or_default().to_owned();
        (self.status, code, error["param"].clone())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    #[serde(default)]
    text: String,
}

impl Scene {
    pub async fn new(answers: Vec<ModelReply>) -> Scene {
        Scene::with(answers, AgentSettings::default(), GatePolicy::default()).await
    }

    pub async fn with(
        answers: Vec<ModelReply>,
        settings: AgentSettings,
        policy: GatePolicy,
    ) -> Scene {
        let home = Home::sqlite();
        let store = home.open().await;
        let gate = Gate::new(store.clone(), policy);
        register(&gate);
        let model = Scripted::new(answers);
        let named = |id: &str| NamedModel {
            id: id.into(),
            model: Arc::new(model.clone()),
        };
        let agent = Agent::new(Wiring {
            coder: Coder {
                gate: gate.clone(),
                store: store.clone(),
                sandbox: Arc::new(Lines),
                limits: Limits::default(),
            },
            models: Models::new(named("first"), vec![named("second")], None, None),
            settings,
            listeners: Vec::new(),
            outbox: Arc::new(Carried),
            packages: Vec::new(),
            sessions: Sessions::default(),
        });
        let openai = OpenAi::new(
            store.clone(),
            Arc::new(|url| Box::pin(fetched(url))),
            Arc::default(),
            // Nobody here is behind a wall.
            Arc::new(|_| Box::pin(async {})),
        );
        openai.attach(agent);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let routes = openai.routes();
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        let mut scene = Scene {
            _home: home,
            store,
            gate,
            openai,
            model,
            address,
            key: String::new(),
        };
        scene.takes_key(&["chat"]).await;
        scene
    }

    /// Asks with a new key from here on; its id.
    pub async fn takes_key(&mut self, scopes: &[&str]) -> String {
        let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
        let (id, key) = self.store.keys().create(&scopes).await.unwrap();
        self.key = key;
        id
    }

    pub async fn get(&self, path: &str) -> Asked {
        self.ask(&self.address, "GET", path, "").await
    }

    pub async fn post(&self, path: &str, body: Json) -> Asked {
        self.ask(&self.address, "POST", path, &body.to_string())
            .await
    }

    pub async fn chat(&self, mut body: Json) -> Asked {
        body["model"] = body.get("model").cloned().unwrap_or(json!("bare"));
        self.post("/v1/chat/completions", body).await
    }

    /// What was said: a chat of one message.
    pub async fn says(&self, text: &str) -> Json {
        let messages = json!([{"role": "user", "content": text}]);
        let asked = self.chat(json!({ "messages": messages })).await;
        assert_eq!(asked.status, 200, "{}", asked.text);
        asked.json()["choices"][0]["message"].clone()
    }

    pub async fn ask(&self, address: &str, verb: &str, path: &str, body: &str) -> Asked {
        let mut stream = self.open(address, verb, path, body).await;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        Asked {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            text: text.to_owned(),
        }
    }

    /// Asked and not read. Of the older protocol an answer comes in one piece up to the end.
    pub async fn open(&self, address: &str, verb: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "{verb} {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.key,
            body.len()
        );
        let request = [head.as_bytes(), body.as_bytes()].concat();
        stream.write_all(&request).await.unwrap();
        stream
    }

    /// All of them, oldest first.
    pub async fn turns(&self) -> Vec<Turn> {
        let mut turns = self.store.turns().before(None, None, 100).await.unwrap();
        turns.reverse();
        turns
    }
}

/// One image is known.
async fn fetched(url: String) -> Result<Vec<u8>, String> {
    if url.ends_with(".png") {
        Ok(b"\x89PNG\r\n\x1a\n".to_vec())
    } else {
        Err("'there' is not among the hosts that may be fetched".into())
    }
}

fn register(gate: &Gate) {
    let look = async |_: Call, it: Text| Ok(format!("saw {}", it.text));
    let say = async |call: Call, it: Text| {
        let message = Message {
            session: call.caller.session,
            parts: vec![Part::text(it.text)],
        };
        Ok(Reply {
            changes: vec![Change::Send { message }],
            ..Reply::from(Value::from("said"))
        })
    };
    let act = async |_: Call, _: Text| Ok("done");
    let find = async |_: Call, it: Text| Ok(format!("found {}", it.text));
    let methods = [
        method("look", Kind::Tool, look).effect(Effect::Pure),
        method("say", Kind::Tool, say).effect(Effect::Rows),
        method("act", Kind::Tool, act),
        method("find", Kind::Agent, find),
    ];
    for method in methods {
        gate.register(Arc::new(method)).unwrap();
    }
}

/// The sandbox whose code is one call per line: `name argument`. `fail` ends it with an error.
struct Lines;

impl Sandbox for Lines {
    fn run(
        &self,
        spec: RunSpec,
        mut host: HostCall,
    ) -> BoxFuture<'_, Result<Report, SandboxError>> {
        Box::pin(async move {
            let (mut stop, mut error) = (Stop::Finished, None);
            for (line, sequence) in spec.code.lines().zip(1..) {
                let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
                let reply = host(CodeCall {
                    sequence,
                    method: name.into(),
                    arguments: Arguments {
                        positional: vec![argument.into()],
                        named: Vec::new(),
                    },
                    clocks: Vec::new(),
                    threaded: false,
                })
                .await;
                match reply {
                    CodeReply::Value(_) => continue,
                    CodeReply::Error(text) => (stop, error) = (Stop::Error, Some(text)),
                    CodeReply::End(end) => stop = end,
                }
                break;
            }
            Ok(Report {
                stop,
                stdout: String::new(),
                stdout_total: 0,
                error,
                line: None,
                calls: 0,
                wall: Default::default(),
                cpu: Default::default(),
                memory_peak: 0,
                clocks: Vec::new(),
                threaded: false,
            })
        })
    }
}

/// Code as a model writes it.
pub fn writes(code: &str) -> ModelReply {
    says(&format!("```python\n{code}\n```"))
}

/// As the product delivers in sessions of the API: the answer takes everything along.
struct Carried;

impl Outbox for Carried {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        assert_eq!(piece.session.platform(), callgate_service::OPENAI_PLATFORM);
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}

/// Answers in order; running out is an error.
#[derive(Clone, Default)]
pub struct Scripted {
    replies: Arc<Mutex<VecDeque<ModelReply>>>,
    asked: Arc<Mutex<Vec<ModelRequest>>>,
}

/// This text is never answered, this one fails, and this one breaks off and begins anew.
pub const HANGS: &str = "!hang";
pub const BUSY: &str = "!busy";
pub const BREAKS: &str = "!break";

impl Scripted {
    fn new(replies: Vec<ModelReply>) -> Self {
        Scripted {
            replies: Arc::new(Mutex::new(replies.into())),
            asked: Arc::default(),
        }
    }

    pub fn requests(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// Texts of the messages of the last request, each after its role.
    pub fn last(&self) -> Vec<String> {
        let requests = self.requests();
        let last = requests.last().unwrap();
        let shown = |message| {
            let json = serde_json::to_value(message).unwrap();
            let role = json["role"].as_str().unwrap().to_owned();
            let text = json["text"].as_str().map(str::to_owned);
            let part = || {
                json["parts"][0]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            format!("{role}: {}", text.unwrap_or_else(part))
        };
        last.messages.iter().map(shown).collect()
    }
}

impl Model for Scripted {
    fn accepts(&self) -> Accepts {
        Accepts {
            image: true,
            audio: true,
        }
    }

    fn about(&self) -> ModelInfo {
        ModelInfo {
            name: Some("gpt-test".into()),
            price: Some(Price::FREE),
            ..ModelInfo::default()
        }
    }

    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request);
            let reply = self.replies.lock().unwrap().pop_front();
            let reply = reply.ok_or(ModelError::Exhausted {
                message: "the script has no answer left".into(),
            })?;
            match reply.text.as_str() {
                HANGS => std::future::pending().await,
                BUSY => {
                    let (message, wait) = ("slow down".into(), std::time::Duration::from_secs(7));
                    let retry_after = Some(wait);
                    Err(ModelError::RateLimited {
                        retry_after,
                        message,
                    })
                }
                _ => Ok(ModelStream::of(events(reply))),
            }
        })
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        let vectors = texts.iter().map(|text| vec![text.len() as f32, 0.5]);
        let made = Embeddings {
            vectors: vectors.collect(),
            usage: Some(Usage {
                input: 3,
                ..Usage::default()
            }),
        };
        Box::pin(std::future::ready(Ok(made)))
    }
}

fn events(reply: ModelReply) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    if !reply.reasoning.is_empty() {
        let text = reply.reasoning;
        events.push(ModelEvent::ReasoningDelta { text });
    }
    if reply.text == BREAKS {
        let text = "half of it".to_owned();
        events.extend([ModelEvent::TextDelta { text }, ModelEvent::Restarted]);
    }
    for word in reply.text.split_inclusive(' ') {
        let text = word.to_owned();
        events.push(ModelEvent::TextDelta { text });
    }
    events.extend(reply.media.into_iter().map(ModelEvent::Media));
    events.extend(reply.tool_calls.into_iter().map(ModelEvent::ToolCall));
    events.extend(reply.usage.map(ModelEvent::Usage));
    let reason = reply.finish;
    events.push(ModelEvent::Finished { reason });
    events
}

pub fn says(text: &str) -> ModelReply {
    ModelReply {
        text: text.into(),
        usage: Some(Usage {
            input: 10,
            cached: 4,
            output: 5,
            reasoning: 2,
            ..Usage::default()
        }),
        ..ModelReply::default()
    }
}

/// One reply with these calls: name and the `text` argument.
pub fn calls(calls: &[(&str, &str)]) -> ModelReply {
    let call = |(place, (name, text)): (usize, &(&str, &str))| ToolCall {
        id: format!("c{place}"),
        name: (*name).into(),
        arguments: CallArguments::Object(
            [("text".to_owned(), (*text).into())].into_iter().collect(),
        ),
        extra: Some(json!({"signature": place})),
    };
    ModelReply {
        tool_calls: calls.iter().enumerate().map(call).collect(),
        finish: FinishReason::ToolCalls,
        ..says("")
    }
}

/// A tool of the asker's.
pub fn tool(name: &str) -> Json {
    json!({"type": "function", "function": {
        "name": name, "description": "a tool of the asker's",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    }})
}

//! What a plugin sends and pushes during a step, overheard on its way to the host.

use std::{mem, sync::Arc};

use callgate_contract::{
    BoxFuture, CallContext, Effect, Exposure, Kind, Method, MethodError, MethodInfo, Part, Reply,
    SessionKey, Value, json as value_json,
};
use callgate_gate::Gate;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};

/// A mutex, since a plugin may send from several tasks.
#[derive(Clone, Default)]
pub struct SentMessages(Arc<Mutex<Vec<SentCall>>>);

/// A method and its arguments.
type SentCall = (&'static str, Map<String, Json>);

const SEND: &str = "message_send";
const PUSH: &str = "system_push";

impl SentMessages {
    /// Puts ears before the two methods.
    pub fn listen(gate: &Gate) -> SentMessages {
        let heard = SentMessages::default();
        for name in [SEND, PUSH] {
            let inner = gate.find(name);
            let info = inner
                .as_ref()
                .map_or_else(|| info(name), |inner| inner.info().clone());
            let ear = Arc::new(Ear {
                name,
                info,
                inner,
                heard: heard.clone(),
            });
            // That a method is replaced is worth a warning, except here.
            let quiet = tracing::subscriber::NoSubscriber::default();
            let registered = tracing::subscriber::with_default(quiet, || gate.register(ear));
            if let Err(error) = registered {
                tracing::warn!(%error, "could not deliver a plugin's message");
            }
        }
        heard
    }

    /// The messages that the plugin sent since the last time, each with its chat.
    pub fn said(&self) -> Vec<(String, Vec<Part>)> {
        let heard = self.0.lock();
        let said = heard.iter().filter(|(name, _)| *name == SEND);
        said.map(|(_, arguments)| {
            let field = |name: &str| arguments.get(name).cloned().unwrap_or_default();
            let session = field("session").as_str().unwrap_or_default().to_owned();
            (
                session,
                serde_json::from_value(field("parts")).unwrap_or_default(),
            )
        })
        .collect()
    }

    /// What was sent and what was pushed since the last time, in the words of scenarios.
    pub fn take(&self) -> (Vec<Json>, Vec<Json>) {
        let heard = mem::take(&mut *self.0.lock());
        let of = |method: &str, told: fn(&Map<String, Json>) -> Json| {
            let of = heard.iter().filter(|(name, _)| *name == method);
            of.map(|(_, arguments)| told(arguments)).collect()
        };
        (of(SEND, sent), of(PUSH, pushed))
    }
}

fn sent(arguments: &Map<String, Json>) -> Json {
    let parts = arguments.get("parts").and_then(Json::as_array);
    let segments: Vec<Json> = parts.into_iter().flatten().map(segment).collect();
    json!({
        "chat_key": chat_key(arguments),
        "segs": segments,
        "record": arguments.get("record").is_none_or(|it| *it == true),
    })
}

fn segment(part: &Json) -> Json {
    let kind = part["type"].as_str().unwrap_or_default();
    let content = ["text", "url", "name", "id"]
        .iter()
        .find_map(|key| part.get(*key));
    json!([kind, content])
}

fn pushed(arguments: &Map<String, Json>) -> Json {
    json!({
        "chat_key": chat_key(arguments),
        "msg": arguments.get("text"),
        "trigger": arguments.get("trigger").is_some_and(|it| *it == true),
    })
}

fn chat_key(arguments: &Map<String, Json>) -> Json {
    let session = arguments
        .get("session")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let key: Result<SessionKey, _> = session.parse();
    json!(key.map_or_else(|_| session.to_owned(), |key| key.chat_key()))
}

struct Ear {
    name: &'static str,
    info: MethodInfo,
    inner: Option<Arc<dyn Method>>,
    heard: SentMessages,
}

impl Method for Ear {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        let told = arguments.iter();
        let told = told.map(|(name, value)| (name.clone(), value_json::to_json(value)));
        self.heard.0.lock().push((self.name, told.collect()));
        match &self.inner {
            Some(inner) => inner.call(context, arguments),
            None => Box::pin(std::future::ready(Ok(Value::Null.into()))),
        }
    }
}

/// Of a method that the product does not have.
fn info(name: &str) -> MethodInfo {
    let nothing = |_: callgate_gate::Call, (): ()| async { Ok(Value::Null) };
    let plugins = Exposure {
        code: false,
        tool_calls: false,
        remote: false,
        plugins: true,
    };
    let function = callgate_gate::method(name, Kind::Tool, nothing)
        .effect(Effect::Effectful)
        .exposure(plugins);
    let mut info = function.info().clone();
    info.parameters = json!({ "type": "object", "additionalProperties": true });
    info
}

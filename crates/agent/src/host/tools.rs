//! Tools that a plugin hands over as data: each lives in one loop alone, is called back by its handle
//! and passes the gate like any method.

use std::sync::Arc;

use callgate_contract::{
    Arguments, Binding, BoxFuture, CallContext, Effect, Exposure, Kind, Method, MethodError,
    MethodInfo, Origin, Part, Peer, Reply, Trust, Value, json,
};
use callgate_gate::AdHoc;
use serde_json::{Value as Json, json};

use super::{LONG, failed, openai, value};
use crate::{
    texts,
    turn::{Tool, ToolResult},
};

/// The tools of `list`; one without a handle is the gate's method of that name.
pub(crate) fn offered(
    list: &Json,
    peer: &Peer,
    reference: &Json,
) -> Result<Vec<Tool>, MethodError> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut tools = Vec::with_capacity(list.len());
    for described in list {
        // A bare name is a method of the gate as well.
        let Some(spec) = openai::tool(described) else {
            return Err(MethodError::new("a tool without a name"));
        };
        let handle = described.get("handle").filter(|handle| !handle.is_null());
        let ad_hoc = match handle {
            None => None,
            Some(handle) => {
                let method = Handle {
                    info: info(&spec.name, &spec.description, spec.parameters.clone()),
                    peer: peer.clone(),
                    known_as: json!({"ref": reference, "handle": handle, "name": spec.name}),
                };
                Some(AdHoc::new(Arc::new(method)).map_err(failed)?)
            }
        };
        tools.push(Tool { spec, ad_hoc });
    }
    Ok(tools)
}

/// In place of a plugin's id: its tools for one loop are methods of nobody else.
const LOOP: &str = "loop";

/// What tools of one loop are recorded as coming from.
pub(crate) fn is_loop(origin: &str) -> bool {
    origin.strip_prefix("plugin:") == Some(LOOP)
}

/// Is a call of `name` on record as one of a tool of its loop? That tool is gone after a restart.
pub(crate) fn is_of_loop(recorded: &str, name: &str) -> bool {
    let told = recorded.rsplit_once('/');
    told.is_some_and(|(origin, known_as)| is_loop(origin) && known_as == identifier(name))
}

fn info(name: &str, description: &str, parameters: Json) -> MethodInfo {
    MethodInfo {
        name: identifier(name),
        aliases: Vec::new(),
        title: name.to_owned(),
        description: description.to_owned(),
        doc: description.to_owned(),
        parameters,
        returns: "Any".to_owned(),
        kind: Kind::Tool,
        origin: Origin::Plugin(LOOP.into()),
        exposure: Exposure::AI,
        // Compat(astrbot): tools share an event, so that no two of them may run at once.
        effect: Effect::Effectful,
        deadline: LONG,
        binding: Binding::Loose,
        leaf: false,
        trust: Trust::default(),
    }
}

/// Compat(astrbot): a tool's name may hold what no identifier does; the model sees it as it is.
fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_numeric()) {
        format!("_{name}")
    } else {
        name
    }
}

/// A tool of the plugin's that waits there under its handle.
struct Handle {
    info: MethodInfo,
    peer: Peer,
    known_as: Json,
}

impl Method for Handle {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        self.call_loosely(context, Arguments::by_name(arguments))
    }

    fn call_loosely<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async move {
            let named = arguments.named.into_iter();
            let given = named.map(|(name, value)| (Value::Str(name), value));
            let mut asked = match value(self.known_as.clone())? {
                Value::Dict(entries) => entries
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value)))
                    .collect(),
                _ => Vec::new(),
            };
            asked.push(("arguments".to_owned(), Value::Dict(given.collect())));
            let id = format!("{}-{}", context.caller.journal.0, context.sequence);
            asked.push(("id".to_owned(), Value::Str(id)));
            self.peer.ask("tool", asked).await.map(Reply::from)
        })
    }
}

/// What a tool called back gave: texts and pictures, a text alone, or nothing, which ends the loop.
pub(crate) fn answer_of(answer: &Value) -> ToolResult {
    let Value::Dict(entries) = answer else {
        let mut result = match answer {
            Value::Null => ToolResult::text(texts::DONE),
            Value::Str(text) => ToolResult::text(text.as_str()),
            other => ToolResult::text(json::to_json(other).to_string()),
        };
        result.ends_turn = *answer == Value::Null;
        return result;
    };
    let field = |name: &str| {
        let found = entries.iter().find(|(key, _)| key.as_str() == Some(name));
        found.map(|(_, value)| value)
    };
    let texts = match field("texts") {
        Some(Value::List(texts) | Value::Tuple(texts)) => texts.as_slice(),
        _ => &[],
    };
    let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
    let images = match field("images") {
        Some(Value::List(images) | Value::Tuple(images)) => images.as_slice(),
        _ => &[],
    };
    let mut result = ToolResult::text(texts.join("\n\n"));
    result.media = images.iter().filter_map(image).collect();
    result.ends_turn = field("ends") == Some(&Value::Bool(true));
    result
}

fn image(image: &Value) -> Option<Part> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let Value::Dict(entries) = image else {
        return None;
    };
    let field = |name: &str| entries.iter().find(|(key, _)| key.as_str() == Some(name));
    let mime = field("mime")
        .and_then(|(_, mime)| mime.as_str())
        .unwrap_or("image/png");
    let url = match field("data").map(|(_, data)| data) {
        Some(Value::Bytes(data)) => format!("data:{mime};base64,{}", STANDARD.encode(data)),
        _ => field("url")?.1.as_str()?.to_owned(),
    };
    Some(Part::Image { url })
}

//! The offline demo: no model at all, a few fixed answers that show what Callgate does with code
//! and with tool calls. Every answer says what it is.

mod code;

use callgate_contract::{
    BoxFuture, CallArguments, FinishReason, Model, ModelError, ModelEvent, ModelInfo, ModelMessage,
    ModelRequest, ModelStream, Part, Price, ToolCall, Usage,
};
use serde_json::{Map, Value as Json, json};

const LABEL: &str = "[offline demo]";

#[derive(Clone, Copy, Debug, Default)]
pub struct Demo;

impl Demo {
    pub const ID: &'static str = "demo";
}

impl Model for Demo {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let stream = Ok(ModelStream::of(answer(&request)));
        Box::pin(std::future::ready(stream))
    }

    /// Nothing was asked of anybody.
    fn about(&self) -> ModelInfo {
        ModelInfo {
            price: Some(Price::FREE),
            ..ModelInfo::default()
        }
    }
}

/// What the demo understands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Intent {
    Time,
    Remember,
    Send,
    Draw,
}

const WORDS: &[(&str, Intent)] = &[
    ("what time", Intent::Time),
    ("the time", Intent::Time),
    ("the date", Intent::Time),
    ("几点", Intent::Time),
    ("时间", Intent::Time),
    ("何時", Intent::Time),
    ("remember", Intent::Remember),
    ("记住", Intent::Remember),
    ("覚えて", Intent::Remember),
    ("send", Intent::Send),
    ("say hello", Intent::Send),
    ("发送", Intent::Send),
    ("送って", Intent::Send),
    ("draw", Intent::Draw),
    ("画", Intent::Draw),
    ("描いて", Intent::Draw),
];

fn answer(request: &ModelRequest) -> Vec<ModelEvent> {
    if let Some(results) = results(&request.messages) {
        return words(&format!("{LABEL} Done: {results}"));
    }
    let said = last_said(&request.messages);
    let said = newest(&said);
    let Some((wish, about)) = wish(said).filter(|(wish, _)| can(request, *wish)) else {
        return words(&format!(
            "{LABEL} No model is configured, so fixed answers stand in for one. Ask me what time \
             it is, to remember something, to send a message, or to draw. For real answers set \
             OPENAI_API_KEY (or another provider's key), start Ollama, or write a model into \
             callgate.toml."
        ));
    };
    if request.tools.is_empty() {
        let code = code::code(wish, said, &about, offers(request, "recall"));
        words(&format!("{LABEL}\n```python\n{}\n```", code.trim_end()))
    } else {
        call(wish, &about)
    }
}

impl Intent {
    fn method(self) -> &'static str {
        match self {
            Intent::Time => "now",
            Intent::Remember => "remember",
            Intent::Send => "send_message",
            Intent::Draw => "send_file",
        }
    }

    fn arguments(self, about: &str) -> Map<String, Json> {
        let object = match self {
            Intent::Time | Intent::Draw => json!({}),
            Intent::Remember => json!({"name": "from the demo", "text": about}),
            Intent::Send => json!({"text": format!("{LABEL} {about}")}),
        };
        object.as_object().cloned().unwrap_or_default()
    }
}

/// What the newest message says: of a chat shown line by line, the last entry of a user. The facts
/// of the moment, which follow, are nobody's wish.
fn newest(said: &str) -> &str {
    let said = said.split("# This moment").next().unwrap_or(said);
    let of_user = |line: &&str| line.starts_with("[#") && line.contains("] user ");
    match said.lines().rev().find(of_user) {
        Some(entry) => entry.split_once(": ").map_or("", |(_, text)| text),
        None => said,
    }
}

/// What is wished for last in the text, and what follows the word for it. Who asks for a picture to
/// be sent wants it drawn first.
fn wish(said: &str) -> Option<(Intent, String)> {
    let lower = said.to_ascii_lowercase();
    let found = WORDS.iter().filter_map(|(word, wish)| {
        let place = lower.rfind(word)?;
        let after = said.get(place + word.len()..)?;
        // In Japanese the verb comes last.
        let about = match *word {
            "覚えて" => said.get(..place)?.trim_end_matches(['と', 'を']),
            _ => after,
        };
        Some((place, *wish, about))
    });
    let (_, wish, about) = found.max_by_key(|(place, wish, _)| (*wish == Intent::Draw, *place))?;
    let line = about.lines().next().unwrap_or_default();
    let line = match wish {
        Intent::Remember => fact(line),
        _ => line,
    };
    let about = line.trim_matches([' ', ':', ',', '.', '!', '?', '：', '，', '。', '！', '？']);
    let about = if about.is_empty() { "Hello!" } else { about };
    Some((wish, about.to_owned()))
}

/// Of "that I like tea, then tell me so" what is to be remembered.
fn fact(said: &str) -> &str {
    let ends = [", then", " and then", "，然后"].into_iter();
    let first = ends.filter_map(|end| said.split_once(end));
    let shortest = first.map(|(said, _)| said).min_by_key(|said| said.len());
    let said = shortest.unwrap_or(said).trim();
    said.strip_prefix("that ").unwrap_or(said)
}

/// Drawing takes code; everything else is a method that was offered.
fn can(request: &ModelRequest, wish: Intent) -> bool {
    let drawable = wish != Intent::Draw || request.tools.is_empty();
    drawable && offers(request, wish.method())
}

/// As a tool, or in a prompt that shows its signature.
fn offers(request: &ModelRequest, method: &str) -> bool {
    let signature = format!("{method}(");
    let prompted = |message: &ModelMessage| match message {
        ModelMessage::System { text } => text.contains(&signature),
        _ => false,
    };
    if request.tools.is_empty() {
        request.messages.iter().any(prompted)
    } else {
        request.tools.iter().any(|tool| tool.name == method)
    }
}

/// What the tools called last have answered, if that is the end of the conversation.
fn results(messages: &[ModelMessage]) -> Option<String> {
    let last = messages.iter().rev().map_while(|message| match message {
        ModelMessage::Tool { parts, .. } => Some(plain(parts)),
        _ => None,
    });
    let mut results: Vec<String> = last.collect();
    results.reverse();
    Some(results.join("; ")).filter(|_| !results.is_empty())
}

fn last_said(messages: &[ModelMessage]) -> String {
    let said = messages.iter().rev().find_map(|message| match message {
        ModelMessage::User { parts } => Some(plain(parts)),
        _ => None,
    });
    said.unwrap_or_default()
}

fn plain(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> Vec<ModelEvent> {
    let text = text.to_owned();
    let reason = FinishReason::Stop;
    vec![
        ModelEvent::TextDelta { text },
        ModelEvent::Usage(Usage::default()),
        ModelEvent::Finished { reason },
    ]
}

fn call(wish: Intent, about: &str) -> Vec<ModelEvent> {
    let reason = FinishReason::ToolCalls;
    let call = ToolCall {
        id: "demo_call".to_owned(),
        name: wish.method().to_owned(),
        arguments: CallArguments::Object(wish.arguments(about)),
        extra: None,
    };
    vec![
        ModelEvent::ToolCall(call),
        ModelEvent::Usage(Usage::default()),
        ModelEvent::Finished { reason },
    ]
}

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn only_the_newest_message_is_a_wish() {
        let chat = "# The chat\n[#1 07:41] user ann: remember the milk\n[#2 07:41] system: \
            Remembered 'milk'\n[#3 07:42] user ann (to you): hello\n# This moment\n- remember";
        assert_eq!(newest(chat), "hello");
        assert_eq!(
            newest("what time is it?\n# This moment\n- x"),
            "what time is it?\n"
        );
    }
}

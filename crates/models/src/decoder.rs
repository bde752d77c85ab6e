//! Bytes of an answer to events, as they arrive. Pure: it neither reads nor waits. A stream that
//! ends before its finish reason is an error, never a short answer.

use std::fmt;

use callgate_contract::{ModelError, ModelEvent};
use serde_json::Value as Json;

use crate::{
    draft::Draft,
    failure,
    lines::{Lines, StreamLine, line},
    surrogates::{self, Halves, ParsedJson},
    wire::Wire,
};

/// No honest answer is longer; a server that never stops must not fill the memory.
pub(crate) const LONGEST: usize = 64 << 20;

/// What one wire makes of the values of an answer.
pub(crate) trait AnswerReader: fmt::Debug + Send {
    fn read(&mut self, value: &Json, draft: &mut Draft) -> Result<(), ModelError>;

    /// Is this, sent in one piece though a stream was asked for, an answer of this wire?
    fn is_answer(&self, whole: &Json) -> bool;

    /// What was held back, once nothing more will come.
    fn flush(&mut self, _draft: &mut Draft) {}
}

#[derive(Debug)]
pub struct Decoder {
    wire: Wire,
    model: String,
    reader: Box<dyn AnswerReader>,
    draft: Draft,
    body: Body,
    received: usize,
    /// Data of an event that goes on in the next line.
    held: String,
    /// Of an answer in which half a character was seen.
    halves: Option<Halves>,
}

#[derive(Debug)]
enum Body {
    /// Nothing but blanks so far.
    Unknown(Vec<u8>),
    Stream(Lines),
    /// Not a stream, though one was asked for: an answer in one piece, or no answer at all.
    Whole(Vec<u8>),
}

impl Decoder {
    /// `model` is its name on the wire.
    pub fn new(wire: Wire, model: impl Into<String>) -> Self {
        let model = model.into();
        Decoder {
            wire,
            reader: wire.reader(&model),
            model,
            draft: Draft::default(),
            body: Body::Unknown(Vec::new()),
            received: 0,
            held: String::new(),
            halves: None,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ModelEvent>, ModelError> {
        self.received += bytes.len();
        if self.received > LONGEST {
            return Err(too_long());
        }
        match &mut self.body {
            Body::Whole(body) => body.extend_from_slice(bytes),
            Body::Stream(lines) => lines.push(bytes),
            Body::Unknown(begun) => {
                begun.extend_from_slice(bytes);
                self.body = recognise(self.wire, std::mem::take(begun));
            }
        }
        while let Body::Stream(lines) = &mut self.body
            && let Some(text) = lines.next()
        {
            self.line(&text)?;
        }
        let events = self.draft.take();
        Ok(self.joined(events))
    }

    /// The last events, once the server has nothing more to say.
    pub fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        match &mut self.body {
            Body::Unknown(_) => {}
            Body::Whole(body) => {
                let body = std::mem::take(body);
                self.whole(&String::from_utf8_lossy(&body))?;
            }
            Body::Stream(lines) => {
                let rest = lines.rest();
                self.line(&rest)?;
            }
        }
        if !self.is_complete() {
            return Err(ModelError::CutStream);
        }
        self.reader.flush(&mut self.draft);
        let events = self.draft.end(self.wire, &self.model);
        Ok(self.joined(events))
    }

    fn joined(&mut self, events: Vec<ModelEvent>) -> Vec<ModelEvent> {
        match &mut self.halves {
            Some(halves) => halves.joined(events),
            None => events,
        }
    }

    /// The answer has its finish reason; only its usage may be missing.
    pub fn is_complete(&self) -> bool {
        self.draft.is_complete()
    }

    /// The server has said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.draft.done
    }

    fn line(&mut self, text: &str) -> Result<(), ModelError> {
        match line(text) {
            StreamLine::Other => Ok(()),
            StreamLine::Data(data) if data.trim() == "[DONE]" => {
                self.draft.done = true;
                Ok(())
            }
            StreamLine::Data(data) => {
                self.held.push_str(data);
                // Not whole yet: data may go on in another line until the event ends.
                let Ok(parsed) = surrogates::parse(&self.held) else {
                    self.held.push('\n');
                    return Ok(());
                };
                self.held.clear();
                let value = self.noted(parsed);
                self.value(&value)
            }
            StreamLine::End if self.held.trim().is_empty() => {
                self.held.clear();
                Ok(())
            }
            StreamLine::End => Err(failure::no_json(&std::mem::take(&mut self.held))),
        }
    }

    fn whole(&mut self, body: &str) -> Result<(), ModelError> {
        let answer = match surrogates::parse(body) {
            Ok(parsed) => self.noted(parsed),
            Err(error) if error.is_eof() => return Err(ModelError::CutStream),
            Err(_) => return Err(failure::no_json(body)),
        };
        // Gemini's stream without server-sent events is one list.
        let values = match answer {
            Json::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            if present(&value, "error").is_none() && !self.reader.is_answer(&value) {
                return Err(failure::no_json(body));
            }
            self.value(&value)?;
        }
        self.draft.done = true;
        Ok(())
    }

    fn noted(&mut self, parsed: ParsedJson) -> Json {
        if parsed.marked {
            self.halves.get_or_insert_default();
        }
        parsed.value
    }

    fn value(&mut self, value: &Json) -> Result<(), ModelError> {
        let read = match present(value, "error") {
            Some(error) => Err(failure::reported(error)),
            None => self.reader.read(value, &mut self.draft),
        };
        match self.halves {
            Some(_) => read.map_err(surrogates::mend_error),
            None => read,
        }
    }

    /// Events of an assistant message in OpenAI's shape that was never sent: a script's line. It may
    /// hold the usage that a whole answer has beside it.
    pub(crate) fn events_of(message: &Json) -> Result<Vec<ModelEvent>, ModelError> {
        let mut decoder = Decoder::new(Wire::Openai, "");
        let usage = message.get("usage");
        let answer = serde_json::json!({"choices": [{"message": message}], "usage": usage});
        decoder.reader.read(&answer, &mut decoder.draft)?;
        decoder.draft.done = true;
        decoder.end()
    }
}

pub(crate) fn too_long() -> ModelError {
    let message = format!("an answer of more than {} MB", LONGEST >> 20);
    ModelError::Malformed { message }
}

fn recognise(wire: Wire, begun: Vec<u8>) -> Body {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let text = begun
        .strip_prefix(MARK)
        .unwrap_or(&begun)
        .trim_ascii_start();
    match text.first() {
        // A byte order mark may be cut by a chunk's border.
        None => Body::Unknown(begun),
        Some(_) if MARK.starts_with(text) => Body::Unknown(begun),
        // Ollama's stream is an object a line.
        Some(b'{') if wire != Wire::Ollama => Body::Whole(text.to_vec()),
        Some(b'<' | b'[') => Body::Whole(text.to_vec()),
        Some(_) => {
            let mut lines = Lines::default();
            lines.push(text);
            Body::Stream(lines)
        }
    }
}

/// The field, unless it is null.
pub(crate) fn present<'a>(object: &'a Json, key: &str) -> Option<&'a Json> {
    object.get(key).filter(|value| !value.is_null())
}

/// The text of a field, else nothing.
pub(crate) fn text<'a>(object: &'a Json, key: &str) -> &'a str {
    let text = object.get(key).and_then(Json::as_str);
    text.unwrap_or_default()
}

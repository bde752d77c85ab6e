//! `script:FILE`: a model whose answers are written down beforehand, one JSON line each, in the
//! shape of OpenAI's assistant messages, with their `usage` if it is to count. For tests,
//! demonstrations and authors of plugins.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use callgate_contract::{
    Accepts, BoxFuture, Model, ModelError, ModelEvent, ModelInfo, ModelRequest, ModelStream, Price,
};
use serde_json::Value as Json;

use crate::{decoder::Decoder, error::InvalidModel, surrogates};

#[derive(Debug)]
pub struct Script {
    file: String,
    answers: Vec<Vec<ModelEvent>>,
    /// Shared by all sessions of the process, which may ask at once; each answer is given once.
    given: AtomicUsize,
}

impl Script {
    pub fn open(file: &Path) -> Result<Self, InvalidModel> {
        let name = file.display().to_string();
        match std::fs::read_to_string(file) {
            Ok(text) => Self::parse(&name, &text),
            Err(error) => Err(InvalidModel::Script {
                file: name,
                reason: error.to_string(),
            }),
        }
    }

    /// `file` is only what errors call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, InvalidModel> {
        let lines = text.lines().enumerate();
        let answers = lines
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| {
                answer(line).map_err(|reason| InvalidModel::Script {
                    file: file.to_owned(),
                    reason: format!("line {}: {reason}", number + 1),
                })
            });
        Ok(Script {
            answers: answers.collect::<Result<_, _>>()?,
            file: file.to_owned(),
            given: AtomicUsize::new(0),
        })
    }
}

fn answer(line: &str) -> Result<Vec<ModelEvent>, String> {
    let message = surrogates::parse_whole(line).map_err(|error| error.to_string())?;
    match message.get("role").and_then(Json::as_str) {
        None | Some("assistant") => {}
        Some(role) => return Err(format!("the role is '{role}', not 'assistant'")),
    }
    if message.get("content").is_none() && message.get("tool_calls").is_none() {
        return Err("neither 'content' nor 'tool_calls'".to_owned());
    }
    Decoder::events_of(&message).map_err(|error| error.to_string())
}

impl Model for Script {
    fn stream(&self, _request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let place = self.given.fetch_add(1, Ordering::Relaxed);
        let answer = self.answers.get(place).cloned();
        let stream = answer.map(ModelStream::of).ok_or_else(|| {
            let (file, count) = (&self.file, self.answers.len());
            let message = format!("the script '{file}' has no answer left after its {count}");
            ModelError::Exhausted { message }
        });
        Box::pin(std::future::ready(stream))
    }

    /// Nobody charges for what is read from a file. What its lines say they cost is counted.
    fn about(&self) -> ModelInfo {
        ModelInfo {
            price: Some(Price::FREE),
            ..ModelInfo::default()
        }
    }

    /// A script never looks, so nothing need be kept from it.
    fn accepts(&self) -> Accepts {
        Accepts {
            image: true,
            audio: true,
        }
    }
}

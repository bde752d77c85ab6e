//! Personas as other programs keep them: SillyTavern's character cards and AstrBot's personas, read
//! into ours. Only words are taken over: what a card's author wrote is text for a model, never code,
//! and gives no rights.

mod astrbot;
mod macros;
mod png;
mod tavern;

pub(crate) use self::macros::{USER, address};

use callgate_store::NewPersona;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Bytes of a file with a card in it; they carry a picture.
pub const MAX_CARD: u64 = 32 << 20;
/// Bytes of the text of one persona.
const MAX_TEXT: usize = 1 << 20;

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CardError {
    #[error("the picture cannot be read: {0}")]
    Picture(&'static str),
    #[error("the picture has no character in it")]
    NoCharacter,
    #[error("the character in the picture cannot be read: {0}")]
    Encoding(String),
    #[error("this is neither a picture of type PNG nor JSON: {0}")]
    Neither(String),
    #[error("this JSON is neither a character card nor a persona: {0}")]
    Unknown(&'static str),
    #[error("the text of '{0}' is longer than 1 MB")]
    TooLong(String),
    #[error("there is no greeting {asked}: '{name}' has {has}")]
    Greeting {
        name: String,
        asked: usize,
        has: usize,
    },
}

impl CardError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            CardError::Greeting { .. } => "choose a smaller number, or leave it out",
            CardError::TooLong(_) => "shorten it where it was made",
            _ => "give a character card (PNG or JSON) or the JSON of an AstrBot persona",
        }
    }
}

/// What a file held.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub persona: NewPersona,
    pub source: Source,
    /// What people should know of it, and what was left out. Never shown to a model.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Sillytavern,
    Astrbot,
}

/// Reads a PNG or JSON; `greeting` chooses among a card's first messages, 0 being the usual one.
/// Several personas only where the file is a list of AstrBot's.
pub fn read(bytes: &[u8], greeting: usize) -> Result<Vec<Card>, CardError> {
    let json = if png::is_png(bytes) {
        parse(&png::character(bytes)?).map_err(CardError::Encoding)?
    } else {
        parse(bytes).map_err(CardError::Neither)?
    };
    let cards = match &json {
        Json::Array(list) => {
            let cards: Result<Vec<Card>, CardError> = list.iter().map(astrbot::read).collect();
            cards?
        }
        json if tavern::is_card(json) => vec![tavern::read(json, greeting)?],
        json if json["data"].is_array() => read_list(&json["data"])?,
        json if json["data"].is_object() => vec![astrbot::read(&json["data"])?],
        json => vec![astrbot::read(json)?],
    };
    if cards.is_empty() {
        return Err(CardError::Unknown("the list is empty"));
    }
    for card in &cards {
        let lines = card.persona.begin_dialogs.iter().flatten();
        let length = card.persona.system_prompt.len() + lines.map(String::len).sum::<usize>();
        if length > MAX_TEXT {
            return Err(CardError::TooLong(card.persona.name.clone()));
        }
    }
    Ok(cards)
}

fn read_list(list: &Json) -> Result<Vec<Card>, CardError> {
    let list = list.as_array().into_iter().flatten();
    list.map(astrbot::read).collect()
}

fn parse(bytes: &[u8]) -> Result<Json, String> {
    // Written by editors of Windows.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// A name that a persona can have: on one line, without what a terminal would act on.
fn name(text: &str) -> Option<String> {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let clean: String = text.chars().map(visible).collect();
    let words: Vec<&str> = clean.split_whitespace().collect();
    let name: String = words
        .join(" ")
        .chars()
        .take(callgate_store::MAX_PERSONA_NAME)
        .collect();
    (!name.is_empty()).then_some(name)
}

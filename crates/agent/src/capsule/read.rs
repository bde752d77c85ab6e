//! A capsule to and from bytes. Reading bounds what it takes in and never trusts a length.

use std::io::{BufRead, Write};

use serde_json::Value as Json;

use super::{
    CapsuleError, VERSION,
    format::{Capsule, Header, Line},
};

/// Bytes of a whole capsule.
pub const MAX_CAPSULE: u64 = 256 << 20;

pub fn write(capsule: &Capsule, mut to: impl Write) -> Result<(), CapsuleError> {
    let lines = lines(capsule);
    let count = lines.len() as u64;
    for line in lines.into_iter().chain([Line::End { lines: count }]) {
        serde_json::to_writer(&mut to, &line).map_err(std::io::Error::from)?;
        to.write_all(b"\n")?;
    }
    Ok(to.flush()?)
}

fn lines(capsule: &Capsule) -> Vec<Line> {
    let capsule = capsule.clone();
    let mut lines = vec![Line::Capsule(capsule.header)];
    lines.extend(capsule.personas.into_iter().map(Line::Persona));
    lines.extend(capsule.methods.into_iter().map(Line::Method));
    lines.extend(capsule.conversations.into_iter().map(Line::Conversation));
    lines.extend(capsule.log.into_iter().map(Line::Log));
    lines.extend(capsule.turns.into_iter().map(Line::Turn));
    lines.extend(capsule.runs.into_iter().map(Line::Run));
    lines.extend(capsule.files.into_iter().map(Line::File));
    lines
}

pub fn read(from: impl BufRead) -> Result<Capsule, CapsuleError> {
    let mut from = from.take(MAX_CAPSULE + 1);
    let mut text = Vec::new();
    from.read_until(b'\n', &mut text)?;
    let mut capsule = empty(header(&text)?);
    let mut line = 1;
    loop {
        text.clear();
        let length = from.read_until(b'\n', &mut text)?;
        if from.limit() == 0 {
            return Err(CapsuleError::TooLarge { limit: MAX_CAPSULE });
        }
        if length == 0 || text.last() != Some(&b'\n') {
            return Err(CapsuleError::CutOff);
        }
        let read = serde_json::from_slice(&text);
        let malformed = |reason: String| CapsuleError::Malformed {
            line: line + 1,
            reason,
        };
        match read.map_err(|error| malformed(error.to_string()))? {
            Line::Capsule(_) => return Err(malformed("a second beginning".to_owned())),
            Line::Persona(it) => capsule.personas.push(it),
            Line::Method(it) => capsule.methods.push(it),
            Line::Conversation(it) => capsule.conversations.push(it),
            Line::Log(it) => capsule.log.push(it),
            Line::Turn(it) => capsule.turns.push(it),
            Line::Run(it) => capsule.runs.push(it),
            Line::File(it) => capsule.files.push(it),
            Line::End { lines } if lines == line => return Ok(capsule),
            Line::End { .. } => return Err(malformed("lines are missing before it".to_owned())),
        }
        line += 1;
    }
}

/// The version is looked at before anything else, which another version may spell otherwise.
fn header(text: &[u8]) -> Result<Header, CapsuleError> {
    let json: Json = serde_json::from_slice(text)
        .map_err(|_| CapsuleError::NotOne("it does not begin with a line of JSON".to_owned()))?;
    if json["type"] != "capsule" {
        let reason = "its first line is not one of type \"capsule\"";
        return Err(CapsuleError::NotOne(reason.to_owned()));
    }
    match json["version"].as_u64() {
        Some(found) if found == u64::from(VERSION) => {}
        Some(found) => return Err(CapsuleError::Version { found }),
        None => return Err(CapsuleError::NotOne("it has no version".to_owned())),
    }
    let reason = |error: serde_json::Error| CapsuleError::Malformed {
        line: 1,
        reason: error.to_string(),
    };
    match serde_json::from_value(json).map_err(reason)? {
        Line::Capsule(header) => Ok(header),
        _ => Err(CapsuleError::NotOne("it has no header".to_owned())),
    }
}

fn empty(header: Header) -> Capsule {
    Capsule {
        header,
        personas: Vec::new(),
        methods: Vec::new(),
        conversations: Vec::new(),
        log: Vec::new(),
        turns: Vec::new(),
        runs: Vec::new(),
        files: Vec::new(),
    }
}

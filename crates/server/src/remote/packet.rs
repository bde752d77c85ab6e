//! Packets of the Socket.IO protocol, version 5, as text: what arrives is taken apart without
//! trusting any of it, what leaves is put together. Here within, bytes stand in arguments as
//! `{"$type": "bytes"}` values, the way every JSON surface of ours writes them; on the wire they are
//! binary attachments, both ways.

use std::collections::VecDeque;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde_json::{Map, Value as Json, json};

/// Attachments of one packet.
const MAX_ATTACHMENTS: usize = 16;
/// The same of one that leaves: clients of today close the connection at more.
const MAX_SENT: usize = 10;
/// Bytes of a namespace's name; ours are short, and others get an answer that repeats the name.
const MAX_NAMESPACE: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Connect,
    Disconnect,
    Event,
    Ack,
}

/// A packet as it arrived. `payload` is JSON that nobody has read yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) kind: Kind,
    pub(super) namespace: &'a str,
    pub(super) id: Option<u64>,
    pub(super) payload: &'a str,
    /// How many binary messages follow and belong to it.
    pub(super) attachments: usize,
}

/// It is no packet of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl<'a> Packet<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, Malformed> {
        let (kind, rest) = text.split_at_checked(1).ok_or(Malformed)?;
        let (kind, binary) = match kind {
            "0" => (Kind::Connect, false),
            "1" => (Kind::Disconnect, false),
            "2" => (Kind::Event, false),
            "3" => (Kind::Ack, false),
            "5" => (Kind::Event, true),
            "6" => (Kind::Ack, true),
            _ => return Err(Malformed),
        };
        let (attachments, rest) = if binary {
            let (count, rest) = rest.split_once('-').ok_or(Malformed)?;
            let count = count.parse().map_err(|_| Malformed)?;
            (count, rest)
        } else {
            (0, rest)
        };
        if attachments > MAX_ATTACHMENTS {
            return Err(Malformed);
        }
        let (namespace, rest) = if rest.starts_with('/') {
            rest.split_once(',').unwrap_or((rest, ""))
        } else {
            ("/", rest)
        };
        if namespace.len() > MAX_NAMESPACE {
            return Err(Malformed);
        }
        // Clients may write `/name?query`, which is the same namespace.
        let namespace = namespace.split('?').next().unwrap_or(namespace);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (id, payload) = rest.split_at_checked(digits).ok_or(Malformed)?;
        let id = match id {
            "" => None,
            id => Some(id.parse().map_err(|_| Malformed)?),
        };
        if kind == Kind::Ack && id.is_none() {
            return Err(Malformed);
        }
        Ok(Packet {
            kind,
            namespace,
            id,
            payload,
            attachments,
        })
    }
}

/// The items of an event or ack, with its attachments in their places.
pub(super) fn items(payload: &str, attachments: &[Vec<u8>]) -> Result<Vec<Json>, Malformed> {
    let mut items: Vec<Json> = serde_json::from_str(payload).map_err(|_| Malformed)?;
    if !attachments.is_empty() {
        items.iter_mut().for_each(|item| attach(item, attachments));
    }
    Ok(items)
}

fn attach(item: &mut Json, attachments: &[Vec<u8>]) {
    match item {
        Json::Array(items) => items.iter_mut().for_each(|item| attach(item, attachments)),
        Json::Object(fields) if fields.get("_placeholder") == Some(&Json::Bool(true)) => {
            let place = fields.get("num").and_then(Json::as_u64);
            let bytes = place.and_then(|place| attachments.get(usize::try_from(place).ok()?));
            *item = match bytes {
                Some(bytes) => json!({ "$type": "bytes", "value": BASE64_STANDARD.encode(bytes) }),
                None => Json::Null,
            };
        }
        Json::Object(fields) => fields
            .values_mut()
            .for_each(|item| attach(item, attachments)),
        _ => {}
    }
}

/// A packet that leaves: its text, and the binary messages that follow it at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outgoing {
    pub(super) text: String,
    pub(super) attachments: VecDeque<Bytes>,
}

impl Outgoing {
    pub(super) fn len(&self) -> usize {
        self.text.len() + self.attachments.iter().map(Bytes::len).sum::<usize>()
    }
}

impl From<String> for Outgoing {
    fn from(text: String) -> Self {
        Outgoing {
            text,
            attachments: VecDeque::new(),
        }
    }
}

/// The answer to a CONNECT: the socket's own id, which opens nothing.
pub(super) fn connected(namespace: &str, id: &str) -> Outgoing {
    format!("0{}{}", prefix(namespace), json!({ "sid": id })).into()
}

pub(super) fn refused(namespace: &str, message: &str) -> Outgoing {
    format!("4{}{}", prefix(namespace), json!({ "message": message })).into()
}

pub(super) fn disconnect(namespace: &str) -> Outgoing {
    format!("1{}", prefix(namespace)).into()
}

/// `id` asks for an ack.
pub(super) fn event(namespace: &str, name: &str, arguments: &[Json], id: Option<u64>) -> Outgoing {
    let name = Json::from(name);
    let items: Vec<&Json> = std::iter::once(&name).chain(arguments).collect();
    outgoing(["2", "5"], namespace, id, &items)
}

pub(super) fn ack(namespace: &str, id: u64, answer: &Json) -> Outgoing {
    outgoing(["3", "6"], namespace, Some(id), &[answer])
}

/// Bytes leave as attachments, which clients get as the buffers of their language.
fn outgoing(kinds: [&str; 2], namespace: &str, id: Option<u64>, items: &[&Json]) -> Outgoing {
    let [plain, binary] = kinds;
    let place = prefix(namespace);
    let id = id.map(|id| id.to_string()).unwrap_or_default();
    let mut found = BinaryScan::default();
    items.iter().for_each(|item| found.look(item));
    // Data that looks like a placeholder would take an attachment's place: then none leaves, as where
    // there are too many.
    if found.placeholder || !(1..=MAX_SENT).contains(&found.bytes) {
        return format!("{plain}{place}{id}{}", text(items)).into();
    }
    let mut attachments = VecDeque::new();
    let mut items: Vec<Json> = items.iter().map(|&item| item.clone()).collect();
    items
        .iter_mut()
        .for_each(|item| detach(item, &mut attachments));
    let items: Vec<&Json> = items.iter().collect();
    Outgoing {
        text: format!("{binary}{}-{place}{id}{}", attachments.len(), text(&items)),
        attachments,
    }
}

#[derive(Default)]
struct BinaryScan {
    bytes: usize,
    placeholder: bool,
}

impl BinaryScan {
    fn look(&mut self, item: &Json) {
        match item {
            Json::Array(items) => items.iter().for_each(|item| self.look(item)),
            Json::Object(fields) => {
                self.bytes += usize::from(bytes_of(fields).is_some());
                self.placeholder |= fields.contains_key("_placeholder");
                fields.values().for_each(|item| self.look(item));
            }
            _ => {}
        }
    }
}

fn detach(item: &mut Json, attachments: &mut VecDeque<Bytes>) {
    match item {
        Json::Array(items) => items.iter_mut().for_each(|item| detach(item, attachments)),
        Json::Object(fields) => match bytes_of(fields) {
            Some(bytes) => {
                *item = json!({ "_placeholder": true, "num": attachments.len() });
                attachments.push_back(bytes);
            }
            None => fields
                .values_mut()
                .for_each(|item| detach(item, attachments)),
        },
        _ => {}
    }
}

fn bytes_of(fields: &Map<String, Json>) -> Option<Bytes> {
    let marked = fields.len() == 2 && fields.get("$type")?.as_str()? == "bytes";
    let value = fields.get("value").filter(|_| marked)?.as_str()?;
    BASE64_STANDARD.decode(value).ok().map(Bytes::from)
}

fn text(items: &[&Json]) -> String {
    // Values of serde_json always have a text.
    serde_json::to_string(items).unwrap_or_default()
}

fn prefix(namespace: &str) -> String {
    match namespace {
        "/" => String::new(),
        other => format!("{other},"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Kind, &str, Option<u64>, &str, usize)> {
        let packet = Packet::read(text).ok()?;
        Some((
            packet.kind,
            packet.namespace,
            packet.id,
            packet.payload,
            packet.attachments,
        ))
    }

    #[test]
    fn packets_are_taken_apart() {
        for (text, expect) in [
            ("0", (Kind::Connect, "/", None, "", 0)),
            ("0/llm", (Kind::Connect, "/llm", None, "", 0)),
            (
                "0/llm,{\"a\":1}",
                (Kind::Connect, "/llm", None, "{\"a\":1}", 0),
            ),
            ("1/llm,", (Kind::Disconnect, "/llm", None, "", 0)),
            ("2[\"x\"]", (Kind::Event, "/", None, "[\"x\"]", 0)),
            ("2/f,12[\"x\"]", (Kind::Event, "/f", Some(12), "[\"x\"]", 0)),
            ("2/f?v=1,[22]", (Kind::Event, "/f", None, "[22]", 0)),
            ("3/f,7[null]", (Kind::Ack, "/f", Some(7), "[null]", 0)),
            ("52-/f,[\"x\"]", (Kind::Event, "/f", None, "[\"x\"]", 2)),
        ] {
            assert_eq!(read(text), Some(expect), "{text}");
        }
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        let long = format!("0/{},", "n".repeat(200));
        for text in [
            "",
            "4",
            "7",
            "é",
            "3[1]",
            "5[1]",
            "5x-[1]",
            "599-[1]",
            "2é",
            &long,
            "299999999999999999999[1]",
        ] {
            let malformed = match Packet::read(text) {
                Err(Malformed) => true,
                Ok(packet) => items(packet.payload, &[]).is_err(),
            };
            assert!(malformed, "{text}");
        }
    }

    #[test]
    fn attachments_take_their_places() {
        let payload =
            r#"["x",{"a":[{"_placeholder":true,"num":0}]},{"_placeholder":true,"num":9}]"#;
        let items = items(payload, &[b"abc".to_vec()]).unwrap();
        assert_eq!(
            items[1],
            json!({ "a": [{ "$type": "bytes", "value": "YWJj" }] })
        );
        assert_eq!(items[2], Json::Null);
    }

    #[test]
    fn what_leaves_is_what_clients_read() {
        assert_eq!(connected("/", "s").text, r#"0{"sid":"s"}"#);
        assert_eq!(refused("/f", "no").text, r#"4/f,{"message":"no"}"#);
        assert_eq!(disconnect("/f").text, "1/f,");
        assert_eq!(
            event("/f", "E", &[json!(1), json!("a")], Some(3)).text,
            r#"2/f,3["E",1,"a"]"#
        );
        assert_eq!(
            ack("/f", 3, &json!({ "ok": true })).text,
            r#"3/f,3[{"ok":true}]"#
        );
    }

    #[test]
    fn bytes_leave_as_attachments() {
        let bytes = |text: &str| json!({ "$type": "bytes", "value": text });
        let answer = json!({ "result": [bytes("YWJj"), { "deep": bytes("") }] });
        let sent = ack("/f", 3, &answer);
        assert_eq!(
            sent.text,
            r#"62-/f,3[{"result":[{"_placeholder":true,"num":0},{"deep":{"_placeholder":true,"num":1}}]}]"#
        );
        assert_eq!(sent.attachments, [Bytes::from("abc"), Bytes::new()]);
        let told = event("/", "E", &[bytes("YWJj")], None);
        assert_eq!(told.text, r#"51-["E",{"_placeholder":true,"num":0}]"#);

        // What is no value of bytes, or could be taken for an attachment, stays as it is.
        for plain in [
            json!({ "$type": "bytes", "value": "no base64!" }),
            json!({ "$type": "bytes", "value": "YWJj", "more": 1 }),
            json!([bytes("YWJj"), { "_placeholder": true, "num": 7 }]),
            json!(vec![bytes("YWJj"); MAX_SENT + 1]),
        ] {
            let sent = ack("/", 1, &plain);
            assert_eq!(sent.text, format!("31[{plain}]"));
            assert!(sent.attachments.is_empty());
        }
    }
}

//! The frames between host and worker. Every field is checked as it is read: a worker holds code of
//! many authors, and one that writes nonsense into its channel is cut off, not believed.

use callgate_contract::{
    Value,
    codec::{self, CodecError},
    frame::{PLAIN, write_frame},
};

const REQUEST: u8 = 1;
const RESULT: u8 = 2;
const ERROR: u8 = 3;
const ITEM: u8 = 4;
const END: u8 = 5;
const CREDIT: u8 = 6;
const CANCEL: u8 = 7;
const PING: u8 = 8;
const PONG: u8 = 9;

/// Arguments of a step or a method, by name.
pub(crate) type NamedValues = Vec<(String, Value)>;

#[derive(Debug)]
pub(crate) enum Frame {
    Request {
        id: u64,
        token: Option<Vec<u8>>,
        name: String,
        /// Whose code asks, as the worker has it; of its requests only.
        plugin: String,
        arguments: NamedValues,
    },
    Result {
        id: u64,
        value: Value,
    },
    Error {
        id: u64,
        error: Value,
    },
    Item {
        id: u64,
        value: Value,
    },
    End {
        id: u64,
        value: Value,
    },
    Credit {
        id: u64,
        count: u32,
    },
    Cancel {
        id: u64,
    },
    Ping {
        id: u64,
    },
    Pong {
        id: u64,
    },
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum BadFrame {
    #[error("a frame that cannot be read: {0}")]
    Value(#[from] CodecError),
    #[error("a frame of kind {0} with other fields than it has")]
    Fields(u8),
}

impl Frame {
    pub(crate) fn write(self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let number = |id: u64| Value::Int(i64::try_from(id).unwrap_or(i64::MAX));
        let (kind, fields) = match self {
            Frame::Request {
                id,
                token,
                name,
                arguments,
                ..
            } => {
                let token = token.map_or(Value::Null, Value::Bytes);
                let arguments = arguments.into_iter();
                let arguments = arguments.map(|(name, value)| (Value::Str(name), value));
                let arguments = Value::Dict(arguments.collect());
                (
                    REQUEST,
                    vec![number(id), token, Value::Str(name), arguments],
                )
            }
            Frame::Result { id, value } => (RESULT, vec![number(id), value]),
            Frame::Error { id, error } => (ERROR, vec![number(id), error]),
            Frame::Item { id, value } => (ITEM, vec![number(id), value]),
            Frame::End { id, value } => (END, vec![number(id), value]),
            Frame::Credit { id, count } => (CREDIT, vec![number(id), Value::Int(count.into())]),
            Frame::Cancel { id } => (CANCEL, vec![number(id)]),
            Frame::Ping { id } => (PING, vec![number(id)]),
            Frame::Pong { id } => (PONG, vec![number(id)]),
        };
        write_frame(out, kind, &Value::Tuple(fields))
    }

    pub(crate) fn read(kind: u8, body: &[u8]) -> Result<Frame, BadFrame> {
        let kind = kind & !PLAIN;
        // Of results alone: they may be on their way to the sandbox.
        let value = match kind {
            RESULT => codec::decode_trusted(body)?,
            _ => codec::decode(body)?,
        };
        let bad = || BadFrame::Fields(kind);
        let Value::Tuple(fields) = value else {
            return Err(bad());
        };
        let mut fields = fields.into_iter();
        let mut next = || fields.next().ok_or_else(bad);
        let id = match next()? {
            Value::Int(id) => u64::try_from(id).map_err(|_| bad())?,
            _ => return Err(bad()),
        };
        let frame = match kind {
            REQUEST => match (next()?, next()?, next()?, next()?) {
                (token, Value::Str(name), Value::Str(plugin), Value::Dict(arguments)) => {
                    Frame::Request {
                        id,
                        plugin,
                        token: match token {
                            Value::Bytes(token) => Some(token),
                            _ => None,
                        },
                        name,
                        arguments: named(arguments).ok_or_else(bad)?,
                    }
                }
                _ => return Err(bad()),
            },
            RESULT => Frame::Result { id, value: next()? },
            ERROR => Frame::Error { id, error: next()? },
            ITEM => Frame::Item { id, value: next()? },
            END => Frame::End { id, value: next()? },
            CREDIT => match next()? {
                Value::Int(count) => Frame::Credit {
                    id,
                    count: u32::try_from(count).map_err(|_| bad())?,
                },
                _ => return Err(bad()),
            },
            CANCEL => Frame::Cancel { id },
            PING => Frame::Ping { id },
            PONG => Frame::Pong { id },
            _ => return Err(bad()),
        };
        match fields.next() {
            None => Ok(frame),
            Some(_) => Err(bad()),
        }
    }
}

fn named(entries: Vec<(Value, Value)>) -> Option<NamedValues> {
    let name = |(name, value)| match name {
        Value::Str(name) => Some((name, value)),
        _ => None,
    };
    entries.into_iter().map(name).collect()
}

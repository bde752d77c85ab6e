//! The frames between the host and a run, typed. What comes from the run is checked here and
//! trusted nowhere.

use callgate_contract::{
    Arguments, CodeCall, CodeReply, RunSpec, Stop, Value,
    codec::{self, CodecError},
    frame::{Frame, write_frame},
};

const INIT: u8 = 1;
const VALUE: u8 = 2;
const ERROR: u8 = 3;
const END: u8 = 4;
const CALL: u8 = 16;
const DONE: u8 = 17;

/// Set in the kind of an answer: the machine is busy, do not spin for the next one.
const BUSY: u8 = 0x40;

/// What a run says.
#[derive(Debug)]
pub(crate) enum GuestMessage {
    Call(CodeCall),
    /// A call whose arguments cannot be passed; it is answered with the reason.
    BadCall(String),
    Done(GuestResult),
}

#[derive(Debug, Default)]
pub(crate) struct GuestResult {
    pub(crate) stop: Option<Stop>,
    pub(crate) error: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) clocks: Vec<i64>,
    pub(crate) threaded: bool,
}

/// The run broke the protocol. It is killed.
#[derive(Debug, thiserror::Error)]
#[error("the code broke the call protocol: {0}")]
pub(crate) struct ProtocolError(String);

fn broken(what: impl std::fmt::Display) -> ProtocolError {
    ProtocolError(what.to_string())
}

pub(crate) fn write_init(out: &mut Vec<u8>, spec: &RunSpec) -> Result<(), CodecError> {
    let stub = |stub: &callgate_contract::Stub| {
        let texts = [&stub.name, &stub.signature, &stub.doc];
        Value::Tuple(texts.map(|text| Value::Str(text.clone())).into())
    };
    let clocks = spec.clocks.iter().map(|reading| Value::Int(*reading));
    let fields = [
        ("code", Value::Str(spec.code.clone())),
        ("stubs", Value::List(spec.stubs.iter().map(stub).collect())),
        ("chat_key", Value::Str(spec.chat_key.clone())),
        ("seed", Value::Bytes(spec.seed.to_vec())),
        ("clocks", Value::List(clocks.collect())),
    ];
    let fields = fields.map(|(name, value)| (Value::from(name), value));
    write_frame(out, INIT, &Value::Dict(fields.into()))
}

pub(crate) fn write_reply(out: &mut Vec<u8>, reply: &CodeReply, busy: bool) {
    let busy = if busy { BUSY } else { 0 };
    let unpassable = match reply {
        CodeReply::Value(value) => match write_frame(out, VALUE | busy, value) {
            Ok(()) => return,
            Err(error) => error.at("result").to_string(),
        },
        CodeReply::Error(text) => text.clone(),
        CodeReply::End(_) => String::new(),
    };
    let (kind, value) = match reply {
        CodeReply::End(_) => (END, Value::Null),
        _ => (ERROR, Value::Str(unpassable)),
    };
    if write_frame(out, kind | busy, &value).is_err() {
        // Only a text beyond the frame limit gets here.
        let text = Value::from("the method's error text is too long to pass");
        let _ = write_frame(out, ERROR | busy, &text);
    }
}

/// Reads a frame of the run; `expected` is the sequence its next call must have.
pub(crate) fn read(frame: Frame<'_>, expected: u64) -> Result<GuestMessage, ProtocolError> {
    match frame.kind {
        CALL => read_call(frame.body, expected),
        DONE => match codec::decode(frame.body).map_err(broken)? {
            Value::Dict(fields) => Ok(GuestMessage::Done(read_done(fields))),
            _ => Err(broken("a malformed end")),
        },
        kind => Err(broken(format!("an unknown frame {kind}"))),
    }
}

fn read_call(body: &[u8], expected: u64) -> Result<GuestMessage, ProtocolError> {
    let call = match codec::decode(body) {
        Ok(call) => call,
        // Well framed but not passable: the caller's mistake, which it should read.
        Err(error) if error.place().is_some() => {
            return Ok(GuestMessage::BadCall(in_words(&error)));
        }
        Err(error) => return Err(broken(error)),
    };
    let Value::Tuple(fields) = call else {
        return Err(broken("a malformed call"));
    };
    let Ok([sequence, method, positional, named, clocks, threaded]) =
        <[Value; 6]>::try_from(fields)
    else {
        return Err(broken("a malformed call"));
    };
    let (
        Value::Int(sequence),
        Value::Str(method),
        Value::Tuple(positional),
        Value::Dict(named),
        Value::List(clocks),
        Value::Bool(threaded),
    ) = (sequence, method, positional, named, clocks, threaded)
    else {
        return Err(broken("a malformed call"));
    };
    if u64::try_from(sequence) != Ok(expected) {
        return Err(broken(format!("call {sequence} where {expected} was due")));
    }
    let text_key = |(key, value)| match key {
        Value::Str(key) => Ok((key, value)),
        _ => Err(broken("an argument name that is not text")),
    };
    let named: Result<_, _> = named.into_iter().map(text_key).collect();
    Ok(GuestMessage::Call(CodeCall {
        sequence: expected,
        method,
        arguments: Arguments {
            positional,
            named: named?,
        },
        clocks: read_clocks(clocks),
        threaded,
    }))
}

/// The place is counted from the frame, of which the code knows nothing: fields 2 and 3 are its
/// arguments.
fn in_words(error: &CodecError) -> String {
    let text = error.to_string();
    let arguments = text.strip_prefix("[2]").or(text.strip_prefix("[3]"));
    match arguments {
        Some(rest) => format!("arguments{rest}"),
        None => text,
    }
}

fn read_clocks(readings: Vec<Value>) -> Vec<i64> {
    let nanoseconds = |reading| match reading {
        Value::Int(nanoseconds) => Some(nanoseconds),
        _ => None,
    };
    readings.into_iter().filter_map(nanoseconds).collect()
}

/// Unknown or ill-typed fields are left out: the code can only mislead about itself.
fn read_done(fields: Vec<(Value, Value)>) -> GuestResult {
    let mut done = GuestResult::default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            (Some("stop"), Value::Str(stop)) => {
                done.stop = match stop.as_str() {
                    "finished" => Some(Stop::Finished),
                    "inspect" => Some(Stop::Inspect),
                    "error" => Some(Stop::Error),
                    "memory" => Some(Stop::Memory),
                    _ => None,
                }
            }
            (Some("error"), Value::Str(error)) => done.error = Some(error),
            (Some("line"), Value::Int(line)) => done.line = u32::try_from(line).ok(),
            (Some("clocks"), Value::List(clocks)) => done.clocks = read_clocks(clocks),
            (Some("threaded"), Value::Bool(threaded)) => done.threaded = threaded,
            _ => {}
        }
    }
    done
}

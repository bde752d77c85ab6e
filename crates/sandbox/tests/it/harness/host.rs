//! The host of a trial: grants a fixed set of methods, refuses all else as the gate would, and
//! remembers every call.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_contract::{Arguments, CodeCall, CodeReply, HostCall, Stop, Stub, Value};

#[derive(Clone, Default)]
pub struct Host {
    /// Written from the run's thread, read by the test's after the run.
    calls: Arc<Mutex<Vec<CodeCall>>>,
}

impl Host {
    pub fn answer(&self) -> HostCall {
        let calls = self.calls.clone();
        Box::new(move |call| {
            calls.lock().unwrap().push(call.clone());
            Box::pin(answer(call))
        })
    }

    pub fn calls(&self) -> Vec<CodeCall> {
        self.calls.lock().unwrap().clone()
    }
}

/// What the code sees of the granted methods.
pub fn stubs() -> Vec<Stub> {
    let stub = |name: &str, signature: &str, doc: &str| Stub {
        name: name.into(),
        signature: signature.into(),
        doc: doc.into(),
    };
    vec![
        stub(
            "echo",
            "(value: object = None) -> object",
            "Give the value back.",
        ),
        stub(
            "add",
            "(a: int, b: int = 2) -> int",
            "Add two numbers.\n\nExample:\n    add(1, 2)",
        ),
        stub("fail", "(text: str) -> None", "Fail with this text."),
        stub("slow", "(seconds: float) -> None", "Take this long."),
        stub("stop_agent", "(text: str) -> str", "Start a new round."),
        stub(
            "stop_multimodal",
            "() -> list",
            "Start a new round with pictures.",
        ),
    ]
}

async fn answer(call: CodeCall) -> CodeReply {
    let Arguments { positional, named } = call.arguments;
    match (
        call.method.as_str(),
        positional.as_slice(),
        named.as_slice(),
    ) {
        ("echo", [value], []) => CodeReply::Value(value.clone()),
        ("echo", [], [(_, value)]) => CodeReply::Value(value.clone()),
        ("add", [Value::Int(a), Value::Int(b)], []) => CodeReply::Value(Value::Int(a + b)),
        ("fail", [Value::Str(text)], []) => CodeReply::Error(text.clone()),
        ("slow", [Value::Float(seconds)], []) => {
            tokio::time::sleep(Duration::from_secs_f64(*seconds)).await;
            CodeReply::Value(Value::Null)
        }
        ("stop_agent", [_], []) => CodeReply::End(Stop::Agent),
        ("stop_multimodal", [], []) => CodeReply::End(Stop::Multimodal),
        ("echo" | "add" | "fail" | "slow" | "stop_agent" | "stop_multimodal", _, _) => {
            CodeReply::Error(format!("{}: these arguments do not fit", call.method))
        }
        (other, _, _) => CodeReply::Error(format!("method '{other}' is not granted")),
    }
}

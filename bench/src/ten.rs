//! Ten methods in one turn: as one block of code in the real sandbox, and as tool calls. What counts
//! is how often the model is asked, and how much it must read for it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::ensure;
use callgate_agent::{Coder, tokens};
use callgate_contract::{
    BoxFuture, Effect, FinishReason, Kind, MethodError, Mode, Model, ModelError, ModelEvent,
    ModelRequest, ModelStream,
};
use callgate_gate::{Call, Gate, GatePolicy, method};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    scene::Scene,
    table::Table,
    turns::{agent, call, message, says},
};

const METHODS: usize = 10;

#[derive(Deserialize, JsonSchema)]
struct Text {
    value: String,
}

/// How a model would have ten methods called.
#[derive(Clone, Copy)]
enum CallStyle {
    Code,
    OneByOne,
    AllAtOnce,
}

/// Answers by the number of the round.
struct RoundModel {
    way: CallStyle,
    asked: AtomicUsize,
    /// Estimated tokens, read and written.
    cost: Mutex<(usize, usize)>,
}

impl RoundModel {
    fn events(&self, round: usize) -> Vec<ModelEvent> {
        let calls = |numbers: std::ops::Range<usize>| {
            let calls = numbers.map(|n| ModelEvent::ToolCall(call(&format!("step_{n}"), n)));
            let reason = FinishReason::ToolCalls;
            calls.chain([ModelEvent::Finished { reason }]).collect()
        };
        match (self.way, round) {
            (CallStyle::Code, 0) => says(&code()),
            (CallStyle::AllAtOnce, 0) => calls(0..METHODS),
            (CallStyle::OneByOne, round) if round < METHODS => calls(round..round + 1),
            _ => says("All ten are done."),
        }
    }
}

/// The block prints what it found and asks to see it.
fn code() -> String {
    let calls = (0..METHODS).map(|n| format!("found.append(step_{n}(\"{n}\"))"));
    let calls = calls.collect::<Vec<_>>().join("\n");
    format!("```python\nfound = []\n{calls}\nprint(found)\nexit(9)\n```")
}

impl Model for RoundModel {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let events = self.events(self.asked.fetch_add(1, Ordering::Relaxed));
        let size = |json: serde_json::Result<String>| tokens::estimate(&json.unwrap_or_default());
        let mut cost = self.cost.lock();
        cost.0 += size(serde_json::to_string(&request));
        cost.1 += size(serde_json::to_string(&events));
        Box::pin(std::future::ready(Ok(ModelStream::of(events))))
    }
}

async fn echo(_call: Call, text: Text) -> Result<String, MethodError> {
    Ok(format!("result {}", text.value))
}

pub(crate) async fn report(scene: &Scene, table: &mut Table) -> anyhow::Result<()> {
    let store = scene.coder.store.clone();
    let gate = Gate::new(store, GatePolicy::default());
    for number in 0..METHODS {
        let name = format!("step_{number}");
        gate.register(Arc::new(
            method(&name, Kind::Tool, echo).effect(Effect::Pure),
        ))?;
    }
    for (way, mode, who) in [
        (CallStyle::Code, Mode::Code, "code mode, one block"),
        (CallStyle::OneByOne, Mode::Tools, "tool mode, one by one"),
        (
            CallStyle::AllAtOnce,
            Mode::Tools,
            "tool mode, all in one reply",
        ),
    ] {
        let model = Arc::new(RoundModel {
            way,
            asked: AtomicUsize::new(0),
            cost: Mutex::default(),
        });
        let coder = Coder {
            gate: gate.clone(),
            ..scene.coder.clone()
        };
        let agent = agent(coder, model.clone());
        let session = format!("bench:FriendMessage:ten-{}", way as u8);
        let report = message(&agent, &session, "Do all ten.".into(), mode).await?;
        ensure!(report.calls == METHODS as u64, "{report:?}");
        let rounds = f64::from(report.rounds);
        table.number("ten methods, rounds", who, (rounds, "rounds"), &[]);
        let (read, written) = *model.cost.lock();
        let what = "ten methods, tokens read and written";
        table.number(what, who, ((read + written) as f64, "tokens"), &[]);
    }
    Ok(())
}

//! What DESIGN section 11 asks for, next to which every figure is printed.

use serde_json::{Value as Json, json};

/// In the unit of the row it is a goal of; times are microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    P50AtMost(f64),
    P99AtMost(f64),
    AtMost(f64),
    AtLeast(f64),
}

pub(crate) const START_POOLED: &[Goal] = &[Goal::P50AtMost(800.0), Goal::P99AtMost(3_000.0)];
pub(crate) const START_UNPOOLED: &[Goal] = &[Goal::P50AtMost(5_000.0)];
pub(crate) const CALL_BARE: &[Goal] = &[Goal::P50AtMost(30.0), Goal::P99AtMost(150.0)];
pub(crate) const CALL_PURE: &[Goal] = &[Goal::P50AtMost(60.0)];
pub(crate) const CALL_EFFECTFUL: &[Goal] = &[Goal::P50AtMost(400.0)];
pub(crate) const PLUGIN_PURE: &[Goal] = &[Goal::P50AtMost(200.0)];
pub(crate) const PLUGIN_EFFECTFUL: &[Goal] = &[Goal::P50AtMost(600.0)];
pub(crate) const CALL_RATIO: &[Goal] = &[Goal::AtLeast(80.0)];
pub(crate) const RUNS: &[Goal] = &[Goal::AtLeast(350.0)];
pub(crate) const WAITING_MEMORY: &[Goal] = &[Goal::AtMost(3.0)];
pub(crate) const TOOL_STEP: &[Goal] = &[Goal::P50AtMost(200.0)];
pub(crate) const ASTRBOT_STEP: &[Goal] = &[Goal::P50AtMost(400.0)];
pub(crate) const ASTRBOT_STEP_RATIO: &[Goal] = &[Goal::AtLeast(5.0)];
pub(crate) const NATIVE_STEP_RATIO: &[Goal] = &[Goal::AtLeast(8.0)];
pub(crate) const ASTRBOT_MESSAGE_RATIO: &[Goal] = &[Goal::AtLeast(10.0)];
pub(crate) const MESSAGE: &[Goal] = &[Goal::P50AtMost(800.0)];
pub(crate) const MESSAGES_AT_ONCE: &[Goal] = &[Goal::AtLeast(4_000.0)];
pub(crate) const COMPLETIONS: &[Goal] = &[Goal::AtLeast(3_500.0)];
pub(crate) const COMPLETIONS_RATIO: &[Goal] = &[Goal::AtLeast(15.0)];
pub(crate) const DURABLE_RATIO: &[Goal] = &[Goal::AtLeast(8.0)];
pub(crate) const REMOTE_CPU: &[Goal] = &[Goal::AtMost(10.0)];
pub(crate) const REMOTE_RATIO: &[Goal] = &[Goal::AtLeast(2.0)];
pub(crate) const READY: &[Goal] = &[Goal::P50AtMost(100_000.0)];
pub(crate) const IDLE_MEMORY: &[Goal] = &[Goal::AtMost(40.0)];
pub(crate) const KILL: &[Goal] = &[Goal::P99AtMost(5_000.0)];

/// What a row measured, as far as goals look at it.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Goal {
    pub(crate) fn is_met(self, measured: Measured) -> bool {
        match self {
            Goal::P50AtMost(limit) | Goal::AtMost(limit) => measured.p50 <= limit,
            Goal::P99AtMost(limit) => measured.p99 <= limit,
            Goal::AtLeast(limit) => measured.p50 >= limit,
        }
    }

    /// `number` writes a figure in the row's unit.
    pub(crate) fn in_words(self, number: impl Fn(f64) -> String) -> String {
        match self {
            Goal::P50AtMost(limit) => format!("p50 <= {}", number(limit)),
            Goal::P99AtMost(limit) => format!("p99 <= {}", number(limit)),
            Goal::AtMost(limit) => format!("<= {}", number(limit)),
            Goal::AtLeast(limit) => format!(">= {}", number(limit)),
        }
    }

    pub(crate) fn to_json(self, measured: Measured) -> Json {
        let (of, limit) = match self {
            Goal::P50AtMost(limit) => ("p50_at_most", limit),
            Goal::P99AtMost(limit) => ("p99_at_most", limit),
            Goal::AtMost(limit) => ("at_most", limit),
            Goal::AtLeast(limit) => ("at_least", limit),
        };
        json!({ "goal": of, "limit": limit, "ok": self.is_met(measured) })
    }
}

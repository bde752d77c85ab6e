//! The gate: one registry of methods and the one place where a call becomes an effect.
#![doc = include_str!("docs/authoring.md")]

mod alone;
mod annotation;
mod approval;
mod arguments;
mod author;
mod check;
mod dispatch;
mod error;
mod gate;
mod kind;
mod nearest;
mod observe;
mod policy;
mod progress;
mod python;
mod record;
mod registry;
mod rights;
mod rulebook;
mod running;
mod signature;
mod values;
mod view;
mod written;

pub use author::{Call, Function, method};
pub use dispatch::{AdHoc, CallRequest, Outcome, PluginCallContext};
pub use error::{CallError, InvalidMethod};
pub use gate::{Gate, GatePolicy, WeakGate};
pub use observe::{CallStatus, CompletedCall};
pub use python::text as python_text;
pub use registry::SharedName;
pub use signature::{signature, stub};
pub use values::Confirmer;
pub use written::recorded_arguments;

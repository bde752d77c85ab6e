//! [`Watch`]: what somebody looking on sees of a turn while it runs. Looking changes nothing, and
//! nobody looking costs nothing.

use std::sync::Arc;

use callgate_contract::{Mode, Onlooker, OutputListener, Progress};
use serde::{Deserialize, Serialize};

use crate::{CallReport, TurnReport};

#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The model is asked.
    Round {
        number: u32,
        /// Whether its words can be code.
        #[serde(default)]
        mode: Mode,
    },
    Text {
        text: String,
    },
    Thought {
        text: String,
    },
    /// The answer was cut off and begins anew.
    Restarted,
    /// Code is about to run.
    Code {
        code: String,
    },
    /// What that code prints.
    Output {
        text: String,
    },
    /// How far a call has come that is not answered yet.
    Progress {
        /// Its place among the calls of its run or turn.
        sequence: u64,
        method: String,
        #[serde(flatten)]
        progress: Progress,
    },
    Call {
        call: CallReport,
    },
    Finished {
        report: TurnReport,
    },
}

#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Fn(TurnEvent) + Send + Sync>>);

impl Watch {
    /// `watcher` is called from the turn itself and must be quick.
    pub fn new(watcher: impl Fn(TurnEvent) + Send + Sync + 'static) -> Self {
        Watch(Some(Arc::new(watcher)))
    }

    pub fn tell(&self, event: TurnEvent) {
        if let Some(watcher) = &self.0 {
            watcher(event);
        }
    }

    /// Looks on while one call is made.
    pub(crate) fn progress(&self, sequence: u64, method: &str) -> Onlooker {
        let Some(watcher) = self.0.clone() else {
            return Onlooker::default();
        };
        let method = method.to_owned();
        Onlooker::new(move |progress| {
            watcher(TurnEvent::Progress {
                sequence,
                method: method.clone(),
                progress,
            });
        })
    }

    pub(crate) fn output(&self) -> Option<OutputListener> {
        let watcher = self.0.clone()?;
        Some(Box::new(move |text| {
            watcher(TurnEvent::Output {
                text: text.to_owned(),
            });
        }))
    }
}

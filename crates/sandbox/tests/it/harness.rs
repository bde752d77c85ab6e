//! [`trial`] and [`attack`]: one run on the jail that all tests of a process share, in a session of
//! its own, against a host that grants a few methods and records every call.

mod expect;
mod host;
mod jail;
mod syscalls;

use std::{sync::OnceLock, time::Duration};

use callgate_contract::{Cancel, CodeCall, Limits, Report, RunSpec, Sandbox, Stop};
use tokio::runtime::Runtime;

pub use host::{Host, stubs};
pub use jail::{BAIT_DESCRIPTOR, BAIT_VARIABLE, Session, TestJail};

/// Names for what attacks do, so that each says what it tries and nothing else.
const PRELUDE: &str = include_str!("harness/prelude.py");

/// Longer than any attack takes; a hang then fails its own test and no other.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Trial {
    pub spec: RunSpec,
    session: Session,
    hostile: bool,
}

pub struct Outcome {
    pub report: Report,
    /// Every call that reached the host.
    pub calls: Vec<CodeCall>,
    pub session: Session,
}

/// Code that means well.
pub fn trial(code: &str) -> Trial {
    let session = TestJail::shared().session();
    let mut spec = RunSpec::new(code, session.folders);
    spec.stubs = stubs();
    spec.limits.wall = PATIENCE;
    Trial {
        spec,
        session,
        hostile: false,
    }
}

/// Code that does not. After it, an ordinary run in the same session must be fine.
pub fn attack(code: &str) -> Trial {
    let numbers = syscalls::numbers();
    let mut trial = trial(&format!("{numbers}\n{PRELUDE}\n{code}"));
    trial.hostile = true;
    trial
}

pub fn run(code: &str) -> Report {
    trial(code).run().report
}

impl Trial {
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.spec.limits);
        self
    }

    pub fn in_session(mut self, session: &Session) -> Self {
        self.spec.folders = session.folders;
        self.session = session.clone();
        self
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn cancel(&self) -> Cancel {
        self.spec.cancel.clone()
    }

    pub fn run(self) -> Outcome {
        let host = Host::default();
        let jail = &TestJail::shared().jail;
        let report = runtime().block_on(jail.run(self.spec, host.answer()));
        let outcome = Outcome {
            report: report.expect("the sandbox itself works"),
            calls: host.calls(),
            session: self.session,
        };
        if self.hostile {
            outcome.assert_still_fine();
        }
        outcome
    }
}

impl Outcome {
    /// The same jail and the same session still do ordinary work.
    fn assert_still_fine(&self) {
        let next =
            trial("import json\nprint(add(1, 2), json.dumps([1]))").in_session(&self.session);
        let report = next.run().report;
        let told = (report.stop, report.stdout.as_str());
        assert_eq!(
            told,
            (Stop::Finished, "3 [1]\n"),
            "the run after: {report:?}"
        );
    }
}

/// One for all tests: runs need a runtime to be driven from, and starting one takes a while.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().unwrap())
}

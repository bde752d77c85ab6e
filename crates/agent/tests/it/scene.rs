//! A gate with a few methods, and a sandbox whose "code" is one call per line: `name argument`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callgate_agent::Coder;
use callgate_contract::{
    Arguments, BoxFuture, Caller, CodeCall, CodeReply, Effect, Grant, HostCall, JournalId, Kind,
    Limits, MethodError, Report, Role, RunSpec, Sandbox, SandboxError, Stop, Surface,
};
use callgate_gate::{Call, Gate, GatePolicy, method};
use callgate_store::Store;

/// Makes the calls its code lists. `!threads` says that threads were used, `!crash` ends the run
/// without a word, as a crash of the host would.
pub struct Reader;

impl Sandbox for Reader {
    fn run(
        &self,
        spec: RunSpec,
        mut host: HostCall,
    ) -> BoxFuture<'_, Result<Report, SandboxError>> {
        Box::pin(async move {
            let (mut sequence, mut threaded, mut output) = (0, false, String::new());
            let mut clocks = spec.clocks.into_iter();
            for line in spec.code.lines() {
                match line {
                    "!threads" => threaded = true,
                    "!crash" => std::future::pending().await,
                    "!clock" => output += &format!("{:?};", clocks.next()),
                    _ => {
                        sequence += 1;
                        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
                        let reply = host(CodeCall {
                            sequence,
                            method: name.into(),
                            arguments: Arguments {
                                positional: vec![argument.into()],
                                named: Vec::new(),
                            },
                            clocks: vec![sequence as i64 * 100],
                            threaded,
                        })
                        .await;
                        match reply {
                            CodeReply::Value(value) => {
                                output += &format!("{};", value.as_str().unwrap_or("?"));
                            }
                            CodeReply::Error(error) => {
                                return Ok(report(Stop::Error, output, Some(error)));
                            }
                            CodeReply::End(stop) => return Ok(report(stop, output, None)),
                        }
                    }
                }
            }
            Ok(report(Stop::Finished, output, None))
        })
    }
}

fn report(stop: Stop, stdout: String, error: Option<String>) -> Report {
    Report {
        stop,
        stdout_total: stdout.len() as u64,
        stdout,
        error,
        line: None,
        calls: 0,
        wall: Duration::ZERO,
        cpu: Duration::ZERO,
        memory_peak: 0,
        clocks: Vec::new(),
        threaded: false,
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

/// How often each method really ran.
#[derive(Clone, Default)]
pub struct Ran {
    pub look: Arc<AtomicUsize>,
    pub act: Arc<AtomicUsize>,
}

impl Ran {
    pub fn counts(&self) -> (usize, usize) {
        (
            self.look.load(Ordering::SeqCst),
            self.act.load(Ordering::SeqCst),
        )
    }
}

pub fn coder(store: Store, policy: GatePolicy, ran: &Ran) -> Coder {
    let gate = Gate::new(store.clone(), policy);
    let say = |prefix: &'static str, counter: Option<Arc<AtomicUsize>>| {
        move |_call: Call, arguments: Text| {
            let counter = counter.clone();
            async move {
                if let Some(counter) = counter {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
                match arguments.text.as_str() {
                    "fail" => Err(MethodError::new("it failed")),
                    "hang" => std::future::pending().await,
                    text => Ok(format!("{prefix} {text}")),
                }
            }
        }
    };
    let methods = [
        method("look", Kind::Tool, say("saw", Some(ran.look.clone()))).effect(Effect::Pure),
        method("act", Kind::Tool, say("did", Some(ran.act.clone()))),
        method("note", Kind::Behavior, say("noted", None)),
        method("search", Kind::Agent, say("found", None)),
        method("show", Kind::MultimodalAgent, say("picture of", None)),
    ];
    for method in methods {
        gate.register(Arc::new(method)).unwrap();
    }
    Coder {
        gate,
        store,
        sandbox: Arc::new(Reader),
        limits: Limits::default(),
    }
}

pub fn caller() -> Caller {
    Caller {
        session: "cli:FriendMessage:ann".parse().unwrap(),
        principal: "cli:ann".parse().unwrap(),
        role: Role::Member,
        surface: Surface::Code,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant::everything()),
    }
}

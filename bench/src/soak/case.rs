//! [`Case`]: one sort of code, made different by its number, with what must come of it.

use std::time::Duration;

use callgate_contract::{
    BoxFuture, Cancel, CodeCall, CodeReply, HostCall, Report, RunFolders, RunSpec, Stop, Stub,
    Value,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    sort: Sort,
    number: usize,
}

#[derive(Clone, Copy, Debug)]
enum Sort {
    Sums,
    Values,
    Files,
    Threads,
    Raises,
    MethodFails,
    MethodCaught,
    Agent,
    Inspects,
    Exits,
    Forever,
    TooMuchMemory,
    TooMuchOutput,
    TooManyCalls,
    Cancelled,
    Abandoned,
    RaisesMidCall,
}

/// Ordinary work is most of it.
const MIX: [Sort; 33] = {
    use Sort::*;
    #[rustfmt::skip]
    let mix = [
        Sums, Values, Files, Raises, Sums, Values, MethodFails, Sums, Threads, Files, Sums,
        Forever, Values, Sums, MethodCaught, Sums, Agent, Values, Sums, TooMuchMemory, Files, Sums,
        Inspects, Values, Sums, TooMuchOutput, Exits, Sums, TooManyCalls, Values, Cancelled,
        Abandoned, RaisesMidCall,
    ];
    mix
};

const CALLS: u64 = 40;

impl Case {
    pub(crate) fn of(number: usize) -> Case {
        let sort = MIX[number % MIX.len()];
        Case { sort, number }
    }

    pub(crate) fn prepare(self, folders: RunFolders) -> (RunSpec, HostCall) {
        let mut spec = RunSpec::new(self.code(), folders);
        spec.stubs = ["add", "echo", "fail", "finish", "stop_me", "wait"]
            .map(stub)
            .into();
        spec.limits.calls = CALLS;
        spec.limits.output = 1 << 20;
        if matches!(self.sort, Sort::Forever) {
            spec.limits.wall = Duration::from_millis(60);
        }
        if matches!(self.sort, Sort::TooMuchMemory) {
            spec.limits.memory = 64 << 20;
        }
        let cancel = spec.cancel.clone();
        let answer = move |call: CodeCall| -> BoxFuture<'static, CodeReply> {
            let cancel = cancel.clone();
            Box::pin(async move {
                // Some answers come at once, some from another thread.
                if call.sequence.is_multiple_of(3) {
                    tokio::task::yield_now().await;
                }
                if call.method == "wait" {
                    tokio::time::sleep(Duration::from_secs(20)).await;
                }
                answer(call, &cancel)
            })
        };
        (spec, Box::new(answer))
    }

    fn code(self) -> String {
        let n = self.number;
        match self.sort {
            Sort::Sums => format!(
                "total = 0\nfor k in range({}):\n    total = add(total, k * {n})\nprint(total)",
                1 + n % 9
            ),
            Sort::Values => format!(
                "import datetime, decimal\n\
                 sent = {{'n': {n}, 'text': '门🚪' * {}, 'bytes': bytes({}), 'pair': (1, [2.5, None]),\n\
                 7: {{1, 2}}, 'big': {n} << 80, 'when': datetime.date(2024, 5, 6)}}\n\
                 print(echo(sent) == sent, echo(decimal.Decimal('{n}.5')))",
                n % 50,
                (n % 7) * 20_000,
            ),
            Sort::Files => format!(
                "import os\nname = '/app/shared/{n}.txt'\n\
                 with open(name, 'w') as file: file.write('{n}' * 100)\n\
                 print(len(open(name).read()), add({n}, 1))\nos.remove(name)\n\
                 open('/tmp/{n}', 'w').write('x' * 100_000)"
            ),
            Sort::Threads => format!(
                "import threading\nsums = []\n\
                 threads = [threading.Thread(target=lambda k=k: sums.append(add(k, {n}))) for k in range(4)]\n\
                 for thread in threads: thread.start()\n\
                 for thread in threads: thread.join()\n\
                 print(sorted(sums) == [k + {n} for k in range(4)])"
            ),
            Sort::Raises => format!("add(1, 2)\n\nraise ValueError('oh {n}')"),
            Sort::MethodFails => format!("print('before')\nfail('no {n}')\nprint('after')"),
            Sort::MethodCaught => {
                format!("try:\n    fail('no {n}')\nexcept MethodError as e:\n    print(e)")
            }
            Sort::Agent => format!("add({n}, 1)\nfinish()\nprint('after')"),
            Sort::Inspects => format!("print(add({n}, 1))\nexit(9)"),
            Sort::Exits => "import os\nadd(1, 2)\nos._exit(3)".into(),
            Sort::RaisesMidCall => format!(
                "import threading, time\n\
                 threading.Thread(target=wait, daemon=True).start()\n\
                 time.sleep(0.005)\n\
                 raise ValueError('oh {n}')"
            ),
            Sort::Forever => "add(1, 2)\nwhile True: pass".into(),
            Sort::TooMuchMemory => "add(1, 2)\nkept = [bytes(1 << 20) for _ in range(500)]".into(),
            Sort::TooMuchOutput => "while True: print('x' * 10_000)".into(),
            Sort::TooManyCalls => "while True: add(1, 2)".into(),
            Sort::Cancelled => "stop_me()\nwhile True: pass".into(),
            // Threads, files and a full socket at the moment it is killed.
            Sort::Abandoned => {
                "import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()\n\
                 open('/tmp/x', 'w').write('x' * 1_000_000)\nstop_me()\nwhile True: print('x')"
                    .into()
            }
        }
    }

    pub(crate) fn check(self, report: &Report) -> Result<(), String> {
        let n = self.number;
        let lines = |text: String| Some(format!("{text}\n"));
        let (stop, stdout, error, calls) = match self.sort {
            Sort::Sums => {
                let count = 1 + n % 9;
                let total = n * count * (count - 1) / 2;
                (Stop::Finished, lines(total.to_string()), None, Some(count))
            }
            Sort::Values => (Stop::Finished, lines(format!("True {n}.5")), None, Some(2)),
            Sort::Files => {
                let length = n.to_string().len() * 100;
                let printed = lines(format!("{length} {}", n + 1));
                (Stop::Finished, printed, None, Some(1))
            }
            Sort::Threads => (Stop::Finished, lines("True".into()), None, Some(4)),
            Sort::Raises => {
                let error = Some(format!("ValueError: oh {n}"));
                (Stop::Error, Some(String::new()), error, Some(1))
            }
            Sort::MethodFails => {
                let error = Some(format!("no {n}"));
                (Stop::Error, lines("before".into()), error, Some(1))
            }
            Sort::MethodCaught => (Stop::Finished, lines(format!("no {n}")), None, Some(1)),
            Sort::Agent => (Stop::Agent, Some(String::new()), None, Some(2)),
            Sort::Inspects => (Stop::Inspect, lines((n + 1).to_string()), None, Some(1)),
            Sort::Exits => {
                let error = Some("exited with status 3".into());
                (Stop::Error, Some(String::new()), error, Some(1))
            }
            // The thread's call may or may not have been made by then.
            Sort::RaisesMidCall => {
                let error = Some(format!("ValueError: oh {n}"));
                (Stop::Error, Some(String::new()), error, None)
            }
            Sort::Forever => (Stop::Timeout, Some(String::new()), None, None),
            Sort::TooMuchMemory => (Stop::Memory, Some(String::new()), None, Some(1)),
            Sort::TooMuchOutput => (Stop::Output, None, None, Some(0)),
            Sort::TooManyCalls => (Stop::Calls, Some(String::new()), None, Some(CALLS as usize)),
            Sort::Cancelled => (Stop::Cancelled, Some(String::new()), None, Some(1)),
            Sort::Abandoned => (Stop::Cancelled, None, None, Some(1)),
        };
        let told = report.error.as_deref().unwrap_or_default();
        let right = report.stop == stop
            && stdout.is_none_or(|stdout| stdout == report.stdout)
            && error.is_none_or(|error| told.contains(&error))
            && calls.is_none_or(|calls| calls as u64 == report.calls)
            && (!matches!(self.sort, Sort::Raises) || report.line == Some(3));
        if right {
            Ok(())
        } else {
            Err(format!(
                "stop {:?}, {} calls, line {:?}, error {told:?}, output {:?}",
                report.stop,
                report.calls,
                report.line,
                report.stdout.chars().take(200).collect::<String>(),
            ))
        }
    }
}

fn stub(name: &str) -> Stub {
    Stub {
        name: name.to_owned(),
        signature: "(*values)".to_owned(),
        doc: String::new(),
    }
}

fn answer(call: CodeCall, cancel: &Cancel) -> CodeReply {
    match (call.method.as_str(), call.arguments.positional.as_slice()) {
        ("add", [Value::Int(one), Value::Int(other)]) => CodeReply::Value((one + other).into()),
        ("echo", [value]) => CodeReply::Value(value.clone()),
        ("fail", [Value::Str(text)]) => CodeReply::Error(text.clone()),
        ("finish", _) => CodeReply::End(Stop::Agent),
        ("stop_me", _) => {
            // From elsewhere and a little later, when the code may be doing anything.
            let cancel = cancel.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(2)).await;
                cancel.cancel();
            });
            CodeReply::Value(Value::Null)
        }
        _ => CodeReply::Error(format!("unexpected: {call:?}")),
    }
}

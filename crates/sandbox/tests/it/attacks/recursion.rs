//! Attack: recurse without end, in Python and below it.

use callgate_contract::Stop;

use crate::harness::attack;

#[test]
fn recursion_is_an_error() {
    let outcome = attack("def f(): return f()\nf()").run();
    outcome.stops(Stop::Error).error_has("RecursionError");
}

/// With the interpreter's own limit lifted the stack overflows: only this run is lost.
#[test]
fn a_stack_overflow_ends_only_the_run() {
    let code = r#"
import sys
sys.setrecursionlimit(10**9)
class A:
    def __getattr__(self, name): return getattr(self, name + "x")
deep = []
for _ in range(10**6): deep = [deep]
repr(deep)
A().y
"#;
    let outcome = attack(code)
        .limits(|limits| limits.memory = 256 << 20)
        .run();
    let stop = outcome.report.stop;
    assert!(
        matches!(stop, Stop::Killed | Stop::Memory | Stop::Error),
        "{:?}",
        outcome.report
    );
}

/// A value nested deeper than the codec allows is an error with its place, not a crash.
#[test]
fn a_deep_argument_is_refused() {
    let code = r#"
deep = []
for _ in range(200_000): deep = [deep]
try:
    echo(deep)
except TypeError as error:
    print(error)
loop = []
loop.append(loop)
try:
    echo(loop)
except TypeError as error:
    print("itself" in str(error))
os._exit(0)
"#;
    let outcome = attack(code).run();
    let stdout = &outcome.report.stdout;
    assert!(
        stdout.contains("nested deeper than 100") && stdout.ends_with("True\n"),
        "{stdout}"
    );
    outcome.called(&[]);
}

//! Calls as the code sees them: functions with signatures, errors with words, one order.

use callgate_contract::{Stop, Value};

use crate::harness::{run, trial};

#[test]
fn stubs_are_functions_with_signature_and_help() {
    let code = r#"
import inspect
print(inspect.signature(add), add.__name__, callable(add))
help(add)
"#;
    let outcome = trial(code).run();
    outcome.stops(Stop::Finished).prints(
        "(a: int, b: int = 2) -> int add True\nHelp on function add in module __main__:\n\n\
         add(a: int, b: int = 2) -> int\n    Add two numbers.\n    \n    Example:\n        add(1, 2)\n\n",
    );
}

#[test]
fn arguments_arrive_as_they_were_written() {
    let outcome = trial("print(echo(value={'k': (1, None)}))").run();
    outcome.stops(Stop::Finished).prints("{'k': (1, None)}\n");
    let call = &outcome.calls[0];
    assert_eq!((call.sequence, call.method.as_str()), (1, "echo"));
    let pair = Value::Tuple(vec![Value::Int(1), Value::Null]);
    let dict = Value::Dict(vec![(Value::from("k"), pair)]);
    assert_eq!(call.arguments.named, [("value".to_owned(), dict)]);
}

#[test]
fn a_full_name_can_be_called() {
    let outcome =
        trial("try:\n    call('plugin:x/echo', 1, b=2)\nexcept MethodError as e:\n    print(e)")
            .run();
    outcome
        .prints("method 'plugin:x/echo' is not granted\n")
        .called(&["plugin:x/echo"]);
}

#[test]
fn what_cannot_pass_is_named_with_its_place() {
    let cases = [
        (
            "echo(print)",
            "echo(): argument 1: cannot pass a 'builtin_function_or_method'",
        ),
        (
            "echo([1, {'a': object()}])",
            "echo(): argument 1[1].a: cannot pass a 'object'",
        ),
        (
            "echo(value=lambda: 1)",
            "echo(): argument value: cannot pass a 'function'",
        ),
        ("add(1, 1j)", "add(): argument 2: cannot pass a 'complex'"),
        (
            "echo({1: {2: ...}})",
            "echo(): argument 1[1][2]: cannot pass a 'ellipsis'",
        ),
    ];
    for (code, expected) in cases {
        let outcome = trial(code).run();
        outcome.stops(Stop::Error).error_has(expected).called(&[]);
    }
}

#[test]
fn an_error_shows_the_codes_own_lines_and_nothing_of_ours() {
    let report = run("def work():\n    return fail('out of paper')\n\nwork()");
    assert_eq!((report.stop, report.line), (Stop::Error, Some(2)));
    let error = report.error.unwrap();
    assert_eq!(
        error,
        "Traceback (most recent call last):\n  File \"<code>\", line 4, in <module>\n    work()\n  \
         File \"<code>\", line 2, in work\n    return fail('out of paper')\n           \
         ^^^^^^^^^^^^^^^^^^^^\nMethodError: out of paper\n"
    );
}

#[test]
fn a_syntax_error_has_its_line() {
    let report = run("x = 1\nif x\n    pass");
    assert_eq!((report.stop, report.line), (Stop::Error, Some(2)));
    assert!(report.error.unwrap().contains("SyntaxError: expected ':'"));
}

#[test]
fn an_agent_call_ends_the_script_quietly() {
    let outcome = trial("print('before')\nstop_agent('x')\nprint('after')").run();
    outcome
        .stops(Stop::Agent)
        .prints("before\n")
        .called(&["stop_agent"]);
    assert_eq!(outcome.report.error, None);
    trial("stop_multimodal()").run().stops(Stop::Multimodal);
}

#[test]
fn handlers_run_while_the_script_unwinds() {
    let code = "try:\n    stop_agent('x')\nfinally:\n    print('tidied')";
    trial(code).run().stops(Stop::Agent).prints("tidied\n");
}

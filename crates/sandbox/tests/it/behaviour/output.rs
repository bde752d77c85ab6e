//! What the code prints: in order, whole characters, capped with its head and tail kept.

use std::sync::{Arc, Mutex};

use callgate_contract::Stop;

use crate::harness::trial;

#[test]
fn output_comes_in_the_order_it_was_made() {
    let code = r#"
import os, sys
print("one")
print("two", file=sys.stderr)
print("three", end=" ")
sys.stdout.flush()
add(1, 2)
os.write(1, b"four\n")
print("五")
"#;
    trial(code)
        .run()
        .stops(Stop::Finished)
        .prints("one\ntwo\nthree four\n五\n");
}

/// What was printed before a call is there when the call reaches the host.
#[test]
fn a_line_is_heard_before_the_call_after_it_ends() {
    let heard = Arc::new(Mutex::new(String::new()));
    let sink = heard.clone();
    let mut trial = trial("print('before')\nslow(0.3)\nprint('after')\nwhile True: pass");
    let cancel = trial.cancel();
    trial.spec.output = Some(Box::new(move |text| {
        sink.lock().unwrap().push_str(text);
        if text.contains("after") {
            cancel.cancel();
        }
    }));
    trial.run().stops(Stop::Cancelled).prints("before\nafter\n");
    assert_eq!(*heard.lock().unwrap(), "before\nafter\n");
}

#[test]
fn head_and_tail_are_kept() {
    let code = "print('HEAD')\nfor n in range(3_000): print('x' * 1_000)\nprint('TAIL')";
    let report = trial(code).run().report;
    assert_eq!(report.stop, Stop::Finished);
    assert_eq!(report.stdout_total, 3_000 * 1_001 + 10);
    assert!(report.stdout.starts_with("HEAD\nxxx") && report.stdout.ends_with("xxx\nTAIL\n"));
    assert!(report.stdout.contains("bytes left out"));
    assert!(report.stdout.len() < (1 << 20) + 100);
}

#[test]
fn fifteen_megabytes_are_allowed_and_seventeen_are_not() {
    let print =
        |megabytes: u32| format!("for _ in range({megabytes}): print('x' * ((1 << 20) - 1))");
    trial(&print(15)).run().stops(Stop::Finished);
    trial(&print(17))
        .run()
        .stops(Stop::Output)
        .error_has("of output");
}

#[test]
fn bytes_that_are_no_text_do_not_break_the_report() {
    let code = "import os\nos.write(1, b'\\xff\\xfe ok\\n')\nprint('done')";
    trial(code).run().prints("\u{fffd}\u{fffd} ok\ndone\n");
}

//! Ending a run from outside, at whatever moment.

use std::sync::mpsc;

use callgate_contract::{Sandbox, Stop};

use crate::{
    harness::{Host, TestJail, Trial, runtime, trial},
    processes::eventually,
};

/// Cancels as soon as the code has printed something, and so is certainly under way.
fn cancelled_after_its_first_word(mut trial: Trial) -> crate::harness::Outcome {
    let cancel = trial.cancel();
    trial.spec.output = Some(Box::new(move |_| cancel.cancel()));
    trial.run()
}

#[test]
fn whatever_it_does_it_is_ended() {
    let ways = [
        "print('on')\nwhile True: pass",
        "import time\nprint('on')\ntime.sleep(3600)",
        "print('on')\nslow(3600.0)",
        "import threading\nfor _ in range(10): threading.Thread(target=threading.Event().wait).start()\nprint('on')",
        "print('on')\nwhile True: add(1, 2)",
        "import os\nwhile True: os.write(1, b'on' * 1000)",
    ];
    for code in ways {
        let outcome = cancelled_after_its_first_word(trial(code));
        outcome.stops(Stop::Cancelled).error_has("cancelled");
    }
}

#[test]
fn before_it_began() {
    let trial = trial("print('ALLOWED')\nimport time\ntime.sleep(3600)");
    trial.cancel().cancel();
    trial.run().stops(Stop::Cancelled).prints("");
}

#[test]
fn a_cancel_after_the_end_is_harmless() {
    let trial = trial("print(1)");
    let cancel = trial.cancel();
    trial.run().stops(Stop::Finished);
    cancel.cancel();
    assert!(cancel.is_cancelled());
}

/// The code writes its heartbeat into the session's folder until it is killed.
#[test]
fn dropping_the_future_kills_the_run() {
    let code = r#"
import time
while True:
    with open("shared/heartbeat", "a") as file: file.write("x")
    print("beat")
    time.sleep(0.002)
"#;
    let mut trial = trial(code);
    let (tell, told) = mpsc::channel();
    trial.spec.output = Some(Box::new(move |_| tell.send(()).unwrap()));
    let heartbeat = trial.session().shared().join("heartbeat");
    let run = runtime().spawn(
        TestJail::shared()
            .jail
            .run(trial.spec, Host::default().answer()),
    );
    told.recv().unwrap();
    run.abort();
    let size = || std::fs::metadata(&heartbeat).unwrap().len();
    assert!(eventually(|| {
        let before = size();
        std::thread::sleep(std::time::Duration::from_millis(100));
        before == size()
    }));
    // The listener is gone with the run.
    assert!(eventually(|| matches!(
        told.try_recv(),
        Err(mpsc::TryRecvError::Disconnected)
    )));
}

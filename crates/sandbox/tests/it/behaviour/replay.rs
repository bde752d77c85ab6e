//! A run repeated with its seed and its clock readings sees the same world.

use callgate_contract::Stop;

use crate::harness::{Outcome, Trial, trial};

const CODE: &str = r#"
import datetime, os, random, secrets, tempfile, time, uuid
print(random.random(), random.randint(1, 10**9), random.sample(range(100), 5), random.Random().random())
print(uuid.uuid4(), uuid.uuid1(), os.urandom(8), secrets.token_hex(8), random.SystemRandom().random())
print(time.time(), time.time_ns(), time.monotonic(), time.perf_counter(), time.localtime(), time.strftime("%c"))
print(datetime.datetime.now(), datetime.datetime.now(datetime.timezone.utc), datetime.date.today())
echo("a call between")
print({"a", "b", "c", "d"}, hash("text"), time.time(), datetime.datetime.utcnow(), os.path.basename(tempfile.mktemp()))
"#;

fn seeded(seed: u8) -> Trial {
    let mut trial = trial(CODE);
    trial.spec.seed = [seed; 16];
    trial
}

fn readings(outcome: &Outcome) -> Vec<i64> {
    let mut readings: Vec<_> = outcome
        .calls
        .iter()
        .flat_map(|call| call.clocks.clone())
        .collect();
    readings.extend(&outcome.report.clocks);
    readings
}

#[test]
fn the_same_seed_and_clocks_give_the_same_output() {
    let first = seeded(1).run();
    first.stops(Stop::Finished);
    let clocks = readings(&first);
    assert!(clocks.len() >= 9, "{clocks:?}");
    assert!(!first.calls[0].clocks.is_empty() && !first.report.clocks.is_empty());

    let mut again = seeded(1);
    again.spec.clocks.clone_from(&clocks);
    let second = again.run();
    second.stops(Stop::Finished).prints(&first.report.stdout);
    assert_eq!(readings(&second), clocks);
}

#[test]
fn another_seed_or_another_time_does_not() {
    let first = seeded(1).run();
    let line = |outcome: &Outcome, number: usize| {
        outcome
            .report
            .stdout
            .lines()
            .nth(number)
            .unwrap()
            .to_owned()
    };
    let other_time = seeded(1).run();
    assert_eq!(line(&first, 0), line(&other_time, 0));
    assert_ne!(line(&first, 2), line(&other_time, 2));

    let mut other_seed = seeded(2);
    other_seed.spec.clocks = readings(&first);
    let other_seed = other_seed.run();
    assert_ne!(line(&first, 0), line(&other_seed, 0));
    assert_ne!(line(&first, 1), line(&other_seed, 1));
    assert_eq!(line(&first, 2), line(&other_seed, 2));
}

#[test]
fn a_run_that_outlasts_its_record_goes_on_with_real_clocks() {
    let mut trial = trial("import time\nprint(time.time())\nprint(time.time() > 1e9)");
    trial.spec.clocks = vec![1_500_000_000];
    trial.run().prints("1.5\nTrue\n");
}

#[test]
fn threads_are_noted() {
    let outcome = trial(
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\nadd(1, 2)",
    )
    .run();
    assert!(outcome.calls[0].threaded && outcome.report.threaded);
    let outcome = trial("add(1, 2)").run();
    assert!(!outcome.calls[0].threaded && !outcome.report.threaded);
}

//! Attack: end the server, other runs, or whatever else can be guessed at.

use std::process::Command;

use callgate_contract::Stop;

use crate::harness::attack;

/// Shares this process's group and, as an ordinary user, the code's very user id.
struct Bait(std::process::Child);

impl Bait {
    fn start() -> Self {
        Bait(Command::new("sleep").arg("60").spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nobody_else_can_be_signalled() {
    let mut bait = Bait::start();
    let (bait_pid, own_pid) = (bait.0.id(), std::process::id());
    let code = format!(
        r#"
import signal
for pid in (-1, {bait_pid}, {own_pid}, -{own_pid}, 2, 3):
    attempt("kill", lambda: os.kill(pid, signal.SIGKILL))
for pid in ({bait_pid}, {own_pid}):
    probe("tgkill", pid, pid, signal.SIGKILL)
"#
    );
    attack(&code)
        .run()
        .refuses("ESRCH", "kill kill kill kill kill kill tgkill tgkill");
    assert!(bait.is_alive());
}

#[test]
fn other_ways_to_signal_are_refused() {
    let code = r#"
for name in ("tkill", "rt_sigqueueinfo"):
    probe(name, 2, 9, 0)
probe("setsid")
probe("setpgid", 0, 0)
"#;
    attack(code)
        .run()
        .refuses("EPERM", "tkill rt_sigqueueinfo setsid setpgid");
}

/// A process group reaches across pid namespaces, so a run must not be in the server's. Its session
/// is the server's: no signal can be sent to a session.
#[test]
fn its_group_is_its_own() {
    let mut bait = Bait::start();
    let code = r#"
import signal
print(os.getpgrp(), flush=True)
signal.signal(signal.SIGTERM, lambda *_: print("terminated", flush=True))
os.kill(0, signal.SIGTERM)
os.killpg(0, signal.SIGKILL)
"#;
    let outcome = attack(code).run();
    assert!(bait.is_alive());
    outcome.stops(Stop::Finished).prints("1\nterminated\n");
}

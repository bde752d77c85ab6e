//! Attack: start processes, many of them.

use crate::harness::attack;

#[test]
fn no_process_can_be_started() {
    let code = r#"
import multiprocessing, subprocess
attempt("fork", os.fork)
attempt("system", lambda: os.system("true"))
attempt("popen", lambda: os.popen("true"))
attempt("subprocess", lambda: subprocess.run(["true"]))
attempt("shell", lambda: subprocess.check_output("true", shell=True))
attempt("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("execv", lambda: os.execv("/bin/true", ["true"]))
attempt("multiprocessing", lambda: multiprocessing.Process(target=print).start())
SIGCHLD, VFORK_AND_VM = 17, 0x4100
for _ in range(100):
    probe("clone", SIGCHLD, 0, 0, 0, 0)
probe("clone", SIGCHLD | VFORK_AND_VM, 0, 0, 0, 0)
"#;
    let clones = "clone ".repeat(101);
    let probes =
        format!("fork system popen subprocess shell posix_spawn execv multiprocessing {clones}");
    attack(code).run().refuses("EPERM", &probes);
}

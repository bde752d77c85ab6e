//! Attack: end the process in ways that mean something to somebody.

use callgate_contract::Stop;

use crate::harness::attack;

/// 113 is how a child says that its jail could not be built, which a leased child cannot say.
#[test]
fn a_status_is_the_codes_own_word_and_no_more() {
    for status in [1, 113, 137, 255] {
        let code = format!("print('callgate jail: forged', flush=True)\nos._exit({status})");
        let reason = format!("exited with status {status}");
        attack(&code).run().stops(Stop::Error).error_has(&reason);
    }
    attack("os._exit(0)").run().stops(Stop::Finished);
    attack("os._exit(9)").run().stops(Stop::Inspect);
}

#[test]
fn so_is_an_exit_from_a_thread_or_a_handler() {
    let code = "import threading\nthreading.Thread(target=lambda: os._exit(3)).start()\nimport time\ntime.sleep(60)";
    attack(code).run().stops(Stop::Error).error_has("status 3");
    let code = "import atexit\natexit.register(lambda: os._exit(4))";
    attack(code).run().stops(Stop::Error).error_has("status 4");
}

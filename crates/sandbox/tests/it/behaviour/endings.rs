//! How a script may end by itself, and what it is told about what is not there.

use callgate_contract::Stop;

use crate::harness::{run, trial};

#[test]
fn exit_says_how_it_went() {
    let cases = [
        ("exit()", Stop::Finished, None),
        ("exit(0)", Stop::Finished, None),
        ("exit(9)", Stop::Inspect, None),
        ("import sys; sys.exit(9)", Stop::Inspect, None),
        ("raise SystemExit(9)", Stop::Inspect, None),
        ("exit('9')", Stop::Error, Some("9")),
        ("exit(True)", Stop::Error, Some("exited with status True")),
        ("exit(2)", Stop::Error, Some("exited with status 2")),
        ("exit('no input')", Stop::Error, Some("no input")),
    ];
    for (code, stop, error) in cases {
        let report = run(&format!("print('shown')\n{code}"));
        let told = (report.stop, report.error.as_deref(), report.stdout.as_str());
        assert_eq!(told, (stop, error, "shown\n"), "{code}");
    }
}

#[test]
fn code_runs_as_main() {
    let code = "if __name__ == '__main__':\n    import __main__\n    print(__main__.__name__, 'add' in vars(__main__))";
    trial(code).run().prints("__main__ True\n");
}

#[test]
fn threads_and_exit_handlers_are_waited_for() {
    let code = r#"
import atexit, threading, time
atexit.register(print, "last")
def later():
    time.sleep(0.05)
    print("thread", add(1, 2))
threading.Thread(target=later).start()
print("main")
"#;
    trial(code)
        .run()
        .stops(Stop::Finished)
        .prints("main\nthread 3\nlast\n");
}

#[test]
fn what_is_denied_says_what_to_do_instead() {
    const NETWORK: &str = "no network here; call fetch_page(url) if it is granted";
    const PROCESSES: &str = "processes are not allowed";
    let cases = [
        ("import socket; socket.socket()", NETWORK),
        (
            "import socket; socket.create_connection(('127.0.0.1', 1))",
            NETWORK,
        ),
        (
            "import socket; socket.gethostbyname('example.invalid')",
            NETWORK,
        ),
        (
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1:1/')",
            NETWORK,
        ),
        ("import subprocess; subprocess.run(['ls'])", PROCESSES),
        (
            "import subprocess; subprocess.check_output('ls', shell=True)",
            PROCESSES,
        ),
        ("import os; os.system('ls')", PROCESSES),
        ("import os; os.popen('ls').read()", PROCESSES),
        ("import os; os.fork()", PROCESSES),
        (
            "import multiprocessing; multiprocessing.Process(target=print).start()",
            PROCESSES,
        ),
        ("import os; os.symlink('a', 'b')", "links are not allowed"),
        (
            "import asyncio\nasync def main(): await asyncio.create_subprocess_shell('ls')\nasyncio.run(main())",
            PROCESSES,
        ),
        (
            "import asyncio\nasync def main(): await asyncio.open_connection('127.0.0.1', 1)\nasyncio.run(main())",
            NETWORK,
        ),
    ];
    for (code, text) in cases {
        trial(code).run().stops(Stop::Error).error_has(text);
    }
}

#[test]
fn an_error_is_told_though_a_thread_waits_for_the_host() {
    let report = run("import threading, time\n\
         threading.Thread(target=slow, args=(20.0,), daemon=True).start()\n\
         time.sleep(0.2)\n\
         raise ValueError('told')");
    assert_eq!(report.stop, Stop::Error, "{report:?}");
    assert_eq!(report.line, Some(4), "{report:?}");
}

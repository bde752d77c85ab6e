//! `callgate run`: from a file and from standard input, in words and as JSON.

use std::io::{BufRead, BufReader};

use serde_json::json;

use crate::scene::{Scene, finish, interrupt};

#[test]
fn code_comes_from_a_file_or_from_standard_input() {
    let scene = Scene::new();
    let file = scene.file("hello.py", "print('from a file', _ck)");
    let said = scene.callgate(&["run", &file]).succeeded();
    assert_eq!(said.stdout, "from a file cli-private_operator\n");
    let said = scene.run("print('门')", &[]).succeeded();
    assert_eq!(said.stdout, "门\n");
    assert!(
        said.stderr.starts_with("finished: no calls, "),
        "{}",
        said.stderr
    );
}

#[test]
fn the_report_has_its_fields() {
    let scene = Scene::new();
    let code = "print('seen')\nremember('tea', 'green')";
    let report = scene.run(code, &["--json"]).succeeded().json();
    let fields: Vec<&str> = report
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        fields,
        [
            "run",
            "stop",
            "stdout",
            "error",
            "line",
            "observation",
            "calls",
            "wall_ms"
        ]
    );
    assert_eq!(report["stop"], "finished");
    assert_eq!(report["stdout"], "seen\n");
    let call = &report["calls"][0];
    assert_eq!(call["method"], "remember");
    assert_eq!(call["kind"], "behavior");
    assert_eq!(call["arguments"], json!({"name": "tea", "text": "green"}));
    assert_eq!(call["value"], "Remembered 'tea': green");
    assert!(call["error"].is_null() && call["micros"].is_u64());
}

#[test]
fn the_exit_code_tells_how_it_ended() {
    let scene = Scene::new();
    for (code, stop, status) in [
        ("pass", "finished", 0),
        ("exit(9)", "inspect", 0),
        (
            "open('/app/shared/a','w').write('x'); read_file('/app/shared/a')",
            "agent",
            0,
        ),
        ("1/0", "error", 1),
        ("import time; time.sleep(30)", "timeout", 1),
    ] {
        let said = scene.run(code, &["--json", "--timeout", "1"]);
        assert_eq!(
            (said.json()["stop"].as_str(), said.code),
            (Some(stop), Some(status))
        );
    }
}

#[test]
fn sessions_are_apart() {
    let scene = Scene::new();
    scene.run("remember('a', 'b')", &[]).succeeded();
    let other = ["--session", "onebot-group_42", "--user", "ada"];
    let said = scene.run("print(len(recall()), _ck)", &other).succeeded();
    assert_eq!(said.stdout, "0 onebot-group_42\n");
    let said = scene
        .run("print(len(recall()))", &["--user", "ada"])
        .succeeded();
    assert_eq!(said.stdout, "0\n");
}

#[test]
fn an_interrupt_cancels_the_run() {
    let scene = Scene::new();
    let mut child = scene.start("print('up')\nwhile True: pass", &[]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n", "output comes while the code runs");
    interrupt(child.id());
    let said = finish(child);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("cancelled: no calls"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_second_process_has_the_owner_do_it() {
    let scene = Scene::new();
    let mut owner = scene.start("print('up')\nwhile True: pass", &[]);
    let mut stdout = BufReader::new(owner.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();

    let said = scene.run("print('beside')", &[]).succeeded();
    assert_eq!(said.stdout, "beside\n");
    let call = scene.callgate(&["call", "remember", "--args", r#"["a", "b"]"#]);
    assert_eq!(call.succeeded().stdout, "Remembered 'a': b\n");
    let refused = scene.callgate(&["call", "nothing", "--json"]);
    assert_eq!(refused.code, Some(1));
    assert_eq!(refused.json()["error"], "no method 'nothing'");

    // A run of the second process is cancelled in the first.
    let mut visitor = scene.start("remember('in', 'side')\nwhile True: pass", &[]);
    while !scene
        .callgate(&["call", "recall"])
        .succeeded()
        .stdout
        .contains("side")
    {}
    interrupt(visitor.id());
    assert_eq!(visitor.wait().unwrap().code(), Some(1));

    interrupt(owner.id());
    assert_eq!(finish(owner).code, Some(1));
    assert_eq!(scene.notes(), ["a", "in"]);
}

#[test]
fn the_owner_stays_until_its_visitors_are_served() {
    let scene = Scene::new();
    let mut owner = scene.start("print('up')\nimport time; time.sleep(1)", &[]);
    let mut stdout = BufReader::new(owner.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    let code = "import time; time.sleep(2); print('served')";
    let said = scene.run(code, &[]).succeeded();
    assert_eq!(said.stdout, "served\n");
    assert_eq!(finish(owner).code, Some(0));
}

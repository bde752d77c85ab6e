//! Approvals from one process to another: asked, answered, and what goes on then.

use serde_json::json;

use crate::scene::{Scene, finish, interrupt};

const ASK: &str = "[approval]\nask = [\"send_message\"]\n";

/// A run that nobody answers in time.
const NO_WAIT: &str = "[approval]\nask = [\"send_message\"]\nwait_seconds = 0\n";

const CODE: &str = "\
remember('before', 'done once')
send_message('hello')
print('sent')
";

#[test]
fn a_run_that_stopped_is_continued_by_the_answer() {
    let scene = Scene::configured(NO_WAIT);
    let stopped = scene.run(CODE, &["--json"]);
    assert_eq!(stopped.code, Some(1));
    assert_eq!(stopped.json()["stop"], "approval");
    assert_eq!(scene.outbox(), [""; 0]);

    let listed = scene
        .callgate(&["approval", "list", "--json"])
        .succeeded()
        .json();
    let approval = &listed[0];
    assert_eq!(approval["method"], "builtin/send_message");
    assert_eq!(approval["arguments"], json!({"text": "hello"}));
    assert_eq!(approval["session"], "cli:FriendMessage:operator");
    assert_eq!(approval["journal"], stopped.json()["run"]);
    assert_eq!(approval["state"], "pending");

    let id = approval["id"].to_string();
    let allowed = scene
        .callgate(&["approval", "allow", &id, "--json"])
        .succeeded()
        .json();
    assert_eq!(allowed["approval"]["state"], "allowed");
    assert_eq!(allowed["continues"], false);
    let report = &allowed["report"];
    assert_eq!(
        (&report["stop"], &report["stdout"]),
        (&json!("finished"), &json!("sent\n"))
    );
    let replayed: Vec<_> = report["calls"].as_array().unwrap().iter().collect();
    assert_eq!(
        replayed[0]["replayed"], true,
        "what was done is not done again"
    );
    assert_eq!(replayed[1]["replayed"], false);
    assert_eq!(scene.outbox(), ["hello"]);

    let again = scene.callgate(&["approval", "allow", &id]);
    assert_eq!(again.code, Some(1));
    assert!(
        again.stderr.contains("approval 1 is already allowed"),
        "{}",
        again.stderr
    );
    let empty = scene.callgate(&["approval", "list"]).succeeded();
    assert_eq!(empty.stdout, "");
    assert_eq!(scene.outbox(), ["hello"]);
}

#[test]
fn a_run_that_still_waits_goes_on() {
    for (answer, status, outbox) in [("allow", 0, &["hello"][..]), ("deny", 1, &[])] {
        let scene = Scene::configured(ASK);
        let waiting = scene.start(CODE, &[]);
        let id = scene.approval().to_string();
        let told = scene
            .callgate(&["approval", answer, &id, "--json"])
            .succeeded()
            .json();
        assert_eq!(
            (&told["continues"], &told["report"]),
            (&json!(true), &json!(null))
        );
        let said = finish(waiting);
        assert_eq!(said.code, Some(status), "{}", said.stderr);
        assert_eq!(scene.outbox(), outbox);
    }
}

#[test]
fn a_denied_call_is_an_error_the_code_can_catch() {
    let scene = Scene::configured(NO_WAIT);
    let code = "try:\n    send_message('x')\nexcept MethodError as e:\n    print(e)\n";
    assert_eq!(scene.run(code, &[]).code, Some(1));
    let said = scene.callgate(&["approval", "deny", "1"]).succeeded();
    assert_eq!(said.stdout, "'send_message' was denied by the operator\n");
    assert_eq!(scene.outbox(), [""; 0]);
}

#[test]
fn who_answered_in_the_chat_is_on_record() {
    let administrators = "[agent]\nadministrators = [\"cli:ada\"]\n";
    let scene = Scene::configured(&format!("{NO_WAIT}{administrators}"));
    let answer = json!({ "content": "```python\nsend_message('hello')\n```" });
    let model = scene.script(&[answer]);
    let session = "cli:FriendMessage:ada";
    let send = |user: &str, text: &str| {
        let place = ["send", text, "--session", session, "--user", user];
        scene.callgate(&[&place[..], &["--model", &model]].concat())
    };
    send("ada", "go");
    let approval = || {
        let listed = scene.callgate(&["approval", "list", "--all", "--json"]);
        listed.succeeded().json()[0].clone()
    };
    send("bob", "/approve 1");
    assert_eq!(approval()["state"], "pending");
    send("ada", "/approve 1").succeeded();
    let approval = approval();
    assert_eq!(approval["state"], "allowed", "{approval}");
    assert_eq!(approval["answered_by"], "cli:ada");
}

/// In a chat whose people see neither page nor terminal, what waits for an administrator is said, in the
/// language spoken there, and answered there by those who may.
#[test]
fn what_waits_for_an_administrator_is_said_in_the_chat() {
    let administrators = "[agent]\nadministrators = [\"qq:ada\"]\n";
    let scene = Scene::configured(&format!("{NO_WAIT}{administrators}"));
    let code = |said: &str| json!({ "content": format!("```python\nsend_message('{said}')\n```") });
    let model = scene.script(&[code("hello"), code("你好")]);
    let session = "qq:GroupMessage:7";
    let send = |user: &str, text: &str| {
        let place = ["send", text, "--session", session, "--user", user, "--json"];
        let said = scene.callgate(&[&place[..], &["--model", &model]].concat());
        said.messages()
    };
    let asked = send("bob", "say hello");
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(
        asked[0].contains("send_message")
            && asked[0].contains("hello")
            && asked[0].contains("waits for an administrator")
            && asked[0].contains("/approve 1 or /deny 1"),
        "{asked:?}"
    );
    let refused = send("bob", "/approve 1");
    assert!(refused[0].contains("administrator"), "{refused:?}");
    let allowed = send("ada", "/approve 1");
    assert!(allowed.contains(&"hello".to_owned()), "{allowed:?}");

    let asked = send("bob", "说你好");
    assert!(
        asked[0].contains("管理员") && asked[0].contains("/approve 2"),
        "{asked:?}"
    );
    // The terminal asks by itself.
    let model = scene.script(&[code("hello")]);
    let own = scene.callgate(&["send", "go", "--json", "--model", &model]);
    assert_eq!(own.messages(), [""; 0], "{}", own.stdout);
}

#[test]
fn always_is_remembered() {
    let scene = Scene::configured(NO_WAIT);
    scene.run(CODE, &[]);
    scene
        .callgate(&["approval", "allow", "1", "--always"])
        .succeeded();
    scene.run("send_message('again')", &[]).succeeded();
    assert_eq!(scene.outbox(), ["hello", "again"]);
    // In that chat only.
    assert_eq!(
        scene.run("send_message('x')", &["--user", "ada"]).code,
        Some(1)
    );
    scene
        .callgate(&["approval", "deny", "2", "--always"])
        .succeeded();
    let refused = scene.run("send_message('x')", &["--user", "ada", "--json"]);
    assert_eq!(refused.json()["stop"], "error");
    assert_eq!(scene.outbox(), ["hello", "again"]);
}

#[test]
fn a_direct_call_is_made_by_the_answer() {
    let scene = Scene::configured(NO_WAIT);
    let call = ["call", "send_message", "--args", r#"["hello"]"#];
    let said = scene.callgate(&call);
    assert_eq!(said.code, Some(1));
    insta::assert_snapshot!(said.stderr, @r"
    error: 'send_message' waits for the operator's approval (number 1)
    hint: `callgate approval allow 1` makes the call, `deny 1` drops it
    ");
    let allowed = scene
        .callgate(&["approval", "allow", "1", "--json"])
        .succeeded()
        .json();
    assert_eq!(allowed["report"], json!({"value": null, "kind": "tool"}));
    assert_eq!(scene.outbox(), ["hello"]);
}

#[test]
fn a_standing_answer_is_listed_and_revoked() {
    let scene = Scene::configured(NO_WAIT);
    scene.run(CODE, &[]);
    scene
        .callgate(&["approval", "allow", "1", "--always"])
        .succeeded();
    scene.run("send_message('again')", &[]).succeeded();

    let rules = scene
        .callgate(&["approval", "rules", "--json"])
        .succeeded()
        .json();
    let rule = &rules[0];
    assert_eq!(rules.as_array().unwrap().len(), 1);
    assert_eq!(
        (&rule["decision"], &rule["method"], &rule["made_by"]),
        (
            &json!("always"),
            &json!("builtin/send_message"),
            &json!("terminal")
        )
    );
    assert_eq!(rule["session"], "cli:FriendMessage:operator");
    assert!(rule["made_at"].as_str().unwrap().starts_with("20"));
    let read = scene.callgate(&["approval", "rules"]).succeeded().stdout;
    for word in ["always", "builtin/send_message", "by terminal"] {
        assert!(read.contains(word), "{read}");
    }

    let id = rule["id"].to_string();
    let revoked = scene
        .callgate(&["approval", "revoke", &id, "--json"])
        .succeeded()
        .json();
    assert_eq!(&revoked, rule);
    let asked = scene.run("send_message('once more')", &["--json"]);
    assert_eq!(asked.json()["stop"], "approval", "it is asked about again");
    assert_eq!(scene.outbox(), ["hello", "again"]);
    let none = scene.callgate(&["approval", "rules", "--json"]).json();
    assert_eq!(none, json!([]));
    let again = scene.callgate(&["approval", "revoke", &id]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("no rule 1"), "{}", again.stderr);
    assert!(
        again.stderr.contains("callgate approval rules"),
        "{}",
        again.stderr
    );
}

#[test]
fn what_was_stopped_waits_no_more() {
    let scene = Scene::configured(ASK);
    let waiting = scene.start(CODE, &[]);
    let id = scene.approval().to_string();
    interrupt(waiting.id());
    finish(waiting);
    let listed = scene.callgate(&["approval", "list", "--json"]).json();
    assert_eq!(listed, json!([]));
    let late = scene.callgate(&["approval", "allow", &id]);
    assert!(
        late.stderr.contains("approval 1 is already withdrawn"),
        "{}",
        late.stderr
    );
    assert_eq!(scene.outbox(), [""; 0]);
}

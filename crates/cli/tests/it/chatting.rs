//! `chat`, line by line from a pipe, and at a terminal.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};

use crate::{
    model::FakeModel,
    scene::{Scene, finish, interrupt},
};

#[test]
fn each_line_is_answered_and_code_is_folded() {
    let scene = Scene::new();
    let code = "remember('tea', 'green')\nsend_message('Noted.')";
    let model = scene.script(&[
        json!({ "content": "Hello!" }),
        json!({ "content": format!("One moment.\n```python\n{code}\n```") }),
    ]);
    let lines = "hi\nremember: \\\ngreen tea\n\n/model\n";
    let said = scene.given(lines, &["chat", "--model", &model]).succeeded();
    let shown = said.stdout.replace(&model, "MODEL");
    insta::assert_snapshot!(shown, @r#"
    Hello!
    One moment.
    [python, 2 lines]
    [remember(name="tea", text="green"): "Remembered 'tea': green"]
    [send_message(text="Noted."): null]
    Noted.
    The model is MODEL. There are: demo, MODEL
    "#);
    assert_eq!(scene.said()[2].1, "remember: \ngreen tea");
    assert_eq!(said.stderr, "");
}

#[test]
fn verbose_shows_the_code_and_what_it_prints() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "```python\nprint(6 * 7)\n```" })]);
    let said = scene
        .given("go\n", &["chat", "--model", &model, "--verbose"])
        .succeeded();
    for shown in ["print(6 * 7)\n", "[python, 1 line]\n", "42\n"] {
        assert!(said.stdout.contains(shown), "{}", said.stdout);
    }
}

#[test]
fn json_lines_are_those_of_send() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "one" })]);
    let said = scene.given("a\nb\n", &["chat", "--model", &model, "--json"]);
    assert_eq!(said.code, Some(1), "the second was not answered");
    let stops: Vec<_> = said
        .lines()
        .iter()
        .map(|line| line["stop"].clone())
        .collect();
    assert_eq!(said.messages()[0], "one");
    assert_eq!(
        (&stops[1], stops.last().unwrap()),
        (&json!("answered"), &json!("error"))
    );
}

#[test]
fn what_does_not_run_is_shown_whole() {
    let bash = "Run this in your shell:\n```bash\nls -l\n```\nIt gives you this:\n```json\n{\"a\": 1}\n```\nThat is all.";
    let python = "Write it like this:\n```python\nprint(1)\n```\nIt prints 1.";
    for (mode, answer) in [("code", bash), ("tools", bash), ("tools", python)] {
        let scene = Scene::new();
        let model = scene.script(&[json!({ "content": answer })]);
        let said = scene
            .given("how?\n", &["chat", "--model", &model, "--mode", mode])
            .succeeded();
        assert_eq!(said.stdout, format!("{answer}\n"), "{mode}");
    }
}

#[test]
fn code_is_folded_and_what_stands_around_it_is_not() {
    let scene = Scene::new();
    let answer = "Let me note that.\n```python\nremember('a', 'b')\n```\nIt is kept as\n```json\n{\"a\": \"b\"}\n```";
    let model = scene.script(&[json!({ "content": answer })]);
    let said = scene
        .given("go\n", &["chat", "--model", &model])
        .succeeded();
    insta::assert_snapshot!(said.stdout, @r#"
    Let me note that.

    It is kept as
    ```json
    {"a": "b"}
    ```
    [python, 1 line]
    [remember(name="a", text="b"): "Remembered 'a': b"]
    "#);
}

const ASK: &str = "[approval]\nask = [\"remember\"]\n";
const KEEP: &str = "```python\nremember('colour', 'blue')\nsend_message('Kept.')\n```";

#[test]
fn a_call_that_waits_is_asked_about_in_place() {
    let scene = Scene::configured(ASK);
    let model = scene.script(&[json!({ "content": KEEP }), json!({ "content": "Bye!" })]);
    // What is no answer is said afterwards.
    let lines = "keep it\nyes\n/approve 1\n";
    let said = scene.given(lines, &["chat", "--model", &model]).succeeded();
    insta::assert_snapshot!(said.stdout, @r#"
    [python, 2 lines]
    builtin/remember waits for your approval (number 1):
      name = "colour"
      text = "blue"
      /approve 1 or /deny 1; with the word always also from now on
    [builtin/remember: allowed]
    [remember(name="colour", text="blue"): "Remembered 'colour': blue"]
    [send_message(text="Kept."): null]
    Kept.
    Bye!
    "#);
    assert_eq!(scene.notes(), ["colour"]);
    let texts: Vec<String> = scene.said().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts.last().unwrap(), "Bye!");
    assert!(texts.contains(&"yes".to_owned()), "{texts:?}");
}

#[test]
fn a_call_is_denied_for_good_in_place_and_programs_are_told() {
    let scene = Scene::configured(ASK);
    let denied = "```python\ntry:\n    remember('a', 'b')\nexcept MethodError:\n    send_message('No?')\n```";
    let model = scene.script(&[json!({ "content": denied }), json!({ "content": denied })]);
    let lines = "one\n/deny 1 always\ntwo\n";
    let said = scene
        .given(lines, &["chat", "--model", &model, "--json"])
        .succeeded();
    let lines = said.lines();
    let told: Vec<(&Json, &Json)> = lines
        .iter()
        .filter(|line| line["type"] == "approval")
        .map(|line| (&line["approval"]["state"], &line["approval"]["arguments"]))
        .collect();
    let arguments = json!({ "name": "a", "text": "b" });
    assert_eq!(
        told,
        [
            (&json!("pending"), &arguments),
            (&json!("denied"), &arguments)
        ]
    );
    assert_eq!(
        said.messages(),
        ["No?", "No?"],
        "the second was not asked about"
    );
}

#[test]
fn what_waits_since_before_is_told_and_goes_on() {
    let toml = "[approval]\nask = [\"remember\"]\nwait_seconds = 0\n";
    let scene = Scene::configured(toml);
    let model = scene.script(&[json!({ "content": KEEP })]);
    let said = scene.given("keep it\n", &["chat", "--model", &model]);
    assert_eq!(said.code, Some(1), "it waits");
    let later = scene
        .given("/approve 1\n", &["chat", "--model", &model])
        .succeeded();
    for shown in ["builtin/remember", "colour", "blue", "/approve 1", "Kept."] {
        assert!(later.stdout.contains(shown), "{shown}: {}", later.stdout);
    }
    assert_eq!(scene.notes(), ["colour"]);
}

/// What a person at a terminal sees; each step is what to wait for and what to type then.
fn at_terminal(scene: &Scene, arguments: &[&str], steps: &[(&str, &str)]) -> String {
    let driver = scene.file("terminal.py", include_str!("terminal.py"));
    let wanted = scene.command(arguments);
    let words = wanted.get_args().map(|word| word.to_str().unwrap());
    #[allow(
        clippy::disallowed_methods,
        reason = "a terminal for the binary under test"
    )]
    let mut child = Command::new("python3")
        .arg(driver)
        .arg(wanted.get_program())
        .args(words)
        .env("CALLGATE_LOG", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(json!(steps).to_string().as_bytes())
        .unwrap();
    drop(stdin);
    finish(child).succeeded().stdout
}

#[test]
fn at_a_terminal_a_plain_word_answers() {
    let scene = Scene::configured(ASK);
    let model = scene.script(&[json!({ "content": KEEP }), json!({ "content": KEEP })]);
    let steps = [
        ("> ", "keep it\n"),
        ("always, never: ", "what is that?\n"),
        ("answer this first", ""),
        ("always, never: ", "always\n"),
        ("Kept.", ""),
        ("> ", "once more\n"),
        // Not asked about any more.
        ("Kept.", ""),
        ("> ", "\u{4}"),
    ];
    let seen = at_terminal(&scene, &["chat", "--model", &model], &steps);
    assert!(seen.contains("name = \"colour\""), "{seen}");
    assert_eq!(seen.matches("waits for your approval").count(), 1, "{seen}");
    let rules = scene.callgate(&["approval", "rules", "--json"]).json();
    assert_eq!(rules[0]["decision"], "always");
}

#[test]
fn at_a_terminal_the_turn_is_stopped_instead_of_answering() {
    let scene = Scene::configured(ASK);
    let model = scene.script(&[
        json!({ "content": KEEP }),
        json!({ "content": "Still here." }),
    ]);
    let steps = [
        ("> ", "keep it\n"),
        ("always, never: ", "\u{3}"),
        ("[stopped]", ""),
        ("> ", "are you there?\n"),
        ("Still here.", ""),
        ("> ", "\u{4}"),
    ];
    at_terminal(&scene, &["chat", "--model", &model], &steps);
    assert_eq!(scene.notes(), [""; 0]);
    let waiting = scene.callgate(&["approval", "list", "--json"]).json();
    assert_eq!(waiting, json!([]), "nobody is asked about what was stopped");
}

#[test]
fn an_answer_that_was_stopped_stays_and_says_so() {
    let model = FakeModel::that_stalls("The first words of");
    let scene = Scene::configured(&model.toml());
    let mut command = scene.command(&["chat", "--verbose"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "go on").unwrap();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let mut seen = Vec::new();
    while !seen.ends_with(b"words of") {
        let piece = shown.fill_buf().unwrap();
        assert!(!piece.is_empty(), "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(piece);
        let length = piece.len();
        shown.consume(length);
    }
    interrupt(child.id());
    drop(stdin);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut shown, &mut rest).unwrap();
    assert_eq!(rest, "\n[stopped]\n");
    child.wait().unwrap();

    let session = ["session", "show", "cli:FriendMessage:operator"];
    let shown = scene.callgate(&[&session[..], &["--json"]].concat()).json();
    let row = &shown["log"][1];
    assert_eq!(
        (&row["parts"][0]["text"], &row["unfinished"]),
        (&json!("The first words of"), &json!(true))
    );
    assert_eq!(scene.outbox(), [""; 0], "nobody is sent half an answer");
    let read = scene.callgate(&session).succeeded().stdout;
    assert!(
        read.contains("The first words of [stopped before its end]"),
        "{read}"
    );
}

//! Every text a person meets before anything runs: help, lists and refusals.

use crate::scene::Scene;

#[test]
fn help() {
    let scene = Scene::new();
    for command in [
        &[][..],
        &["serve"],
        &["chat"],
        &["send"],
        &["run"],
        &["call"],
        &["methods"],
        &["approval"],
        &["approval", "allow"],
        &["sandbox"],
        &["sandbox", "install"],
        &["doctor"],
        &["backup"],
        &["verify"],
        &["restore"],
        &["import"],
        &["import", "astrbot"],
        &["import", "nekro"],
        &["import", "newage"],
        &["demo"],
        &["session"],
        &["session", "fork"],
        &["session", "export"],
        &["session", "replay"],
        &["session", "set"],
        &["timer"],
        &["timer", "add"],
        &["persona"],
        &["persona", "set"],
        &["persona", "import"],
        &["prompt"],
        &["model"],
        &["model", "add"],
        &["model", "test"],
        &["key"],
    ] {
        let said = scene.callgate(&[command, &["--help"]].concat()).succeeded();
        let name = ["help", &command.join("_")].join("_");
        insta::assert_snapshot!(name.trim_end_matches('_'), said.stdout);
    }
}

#[test]
fn methods() {
    let scene = Scene::new();
    let list = scene.callgate(&["methods"]).succeeded();
    insta::assert_snapshot!("methods", list.stdout);
    let one = scene.callgate(&["methods", "send_message"]).succeeded();
    insta::assert_snapshot!("methods_one", one.stdout);
    let list = scene.callgate(&["methods", "--json"]).succeeded().json();
    let first = list[0].as_object().unwrap().keys().cloned();
    assert_eq!(
        first.collect::<Vec<_>>(),
        [
            "name",
            "kind",
            "origin",
            "title",
            "description",
            "signature"
        ]
    );
    let unknown = scene.callgate(&["methods", "nothing", "--json"]);
    assert_eq!(unknown.code, Some(1));
    insta::assert_snapshot!(unknown.stdout, @r#"{"error":"no method 'nothing'","hint":"see them all with `callgate methods`"}"#);
}

#[test]
fn wrong_words() {
    let scene = Scene::new();
    let mut texts = String::new();
    for arguments in [
        &["fly"][..],
        &["run"],
        &["run", "missing.py"],
        &["run", "missing.py", "--timeout", "0"],
        &["run", "missing.py", "--session", "here"],
        &["call", "now", "--args", "{"],
        &["call", "now", "--args", "1"],
        &["approval", "allow", "7"],
        &["run", "--jsn"],
        &["send"],
        &["send", "hi", "--mode", "poem"],
        &["send", "hi", "--model", "nobody"],
        &["send", "hi", "--model", "script:missing.jsonl"],
        &["session", "show", "cli:FriendMessage:nobody"],
        &["session", "fork", "cli:FriendMessage:nobody"],
        &["persona", "show", "nobody"],
        &["persona", "set", "poet"],
        &["persona", "set", "default", "--prompt", "x"],
        &["persona", "set", "poet", "--prompt", "@missing.md"],
        &["persona", "delete", "nobody"],
        &["serve", "--listen", "everywhere"],
    ] {
        let said = scene.callgate(arguments);
        let line = arguments.join(" ");
        texts += &format!("$ callgate {line}\n{}({:?})\n\n", said.stderr, said.code);
        assert_eq!(said.stdout, "", "errors are no data");
        let as_json = scene.callgate(&[arguments, &["--json"]].concat());
        assert!(as_json.json()["hint"].is_string());
        assert_eq!(as_json.code, said.code);
    }
    insta::assert_snapshot!("wrong_words", texts);
}

#[test]
fn wrong_configuration() {
    let mut texts = String::new();
    for toml in [
        "[sandbox]\nwalls = 3\n",
        "[sandbox]\nwall_seconds = \"long\"\n",
        "[sandbox]\npool = 0\n",
        "[approval]\nask = \"send_message\"\n",
        "[colours]\nred = 1\n",
        "keep = 1\n",
        "[database]\ndurability = \"forever\"\n",
        "[database\n",
        "[agent]\nrounds = 0\n",
        "[answer]\nprobability = 2.0\n",
        "[budget]\nturn_token = 1\n",
        "[fetch]\nallow = [\"http://x\"]\n",
        "[serve]\nlisten = \"8420\"\n",
        "[[models.list]]\nid = \"a\"\nkey = \"secret\"\n",
        "[[models.list]]\nid = \"a\"\nbase_url = \"http://x\"\nkay = \"secret\"\n",
    ] {
        let scene = Scene::configured(toml);
        let said = scene.callgate(&["methods"]);
        assert_eq!(said.code, Some(1));
        let home = scene.home().display().to_string();
        assert!(!said.stderr.contains("secret"), "{}", said.stderr);
        texts += &format!("{toml}-> {}\n", said.stderr.replace(&home, "HOME"));
    }
    insta::assert_snapshot!("wrong_configuration", texts);
}

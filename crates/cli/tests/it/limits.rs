//! Limits on people through the whole product: by configuration, terminal, API and chat; over a crash, on two
//! platforms, by role and group; and `/why`, as much as each reader may know.

use serde_json::{Value as Json, json};

use crate::{
    model::{FakeModel, calls},
    scene::{Scene, wait_until},
    server::Server,
};

const GROUP: &str = "qq:GroupMessage:7";

struct Site {
    /// `None` while nothing runs.
    server: Option<Server>,
    key: String,
    model: FakeModel,
    scene: Scene,
}

impl Site {
    fn start(limits: &str) -> Self {
        let model = FakeModel::scripted();
        let administrators = "[agent]\nadministrators = [\"qq:boss\"]\n";
        let scene = Scene::configured(&format!("{administrators}{limits}{}", model.toml()));
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let mut site = Site {
            server: None,
            key,
            model,
            scene,
        };
        site.server = Some(Server::start(&site.scene));
        site
    }

    fn api(&self, method: &str, path: &str, body: Option<&Json>) -> (u16, Json) {
        let server = self.server.as_ref().unwrap();
        server.api(method, path, &self.key, body)
    }

    /// What was sent in answer to a message.
    fn says_in(&self, session: &str, user: &str, text: &str) -> Vec<String> {
        self.model.will_say(&[json!({ "content": "Well." })]);
        self.asks(session, user, text)
    }

    fn asks(&self, session: &str, user: &str, text: &str) -> Vec<String> {
        let before = self.sent(session).len();
        let body = json!({ "text": text, "user": user, "wait": true, "mode": "tools" });
        let path = format!("/api/sessions/{session}/messages");
        let (status, answer) = self.api("POST", &path, Some(&body));
        assert_eq!(status, 200, "{answer}");
        self.sent(session).split_off(before)
    }

    fn says(&self, user: &str, text: &str) -> Vec<String> {
        self.says_in(GROUP, user, text)
    }

    fn sent(&self, session: &str) -> Vec<String> {
        let path = format!("/api/sessions/{session}/log?limit=100");
        let log = self.api("GET", &path, None).1;
        let rows = log["items"].as_array().cloned().unwrap_or_default();
        let said = rows.iter().filter(|row| row["role"] == "assistant");
        let text = |row: &Json| {
            row["parts"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let mut said: Vec<String> = said.map(text).collect();
        said.reverse();
        said
    }

    /// How many of three messages are answered.
    fn answered(&self, session: &str, user: &str) -> usize {
        let said = (0..3).flat_map(|_| self.says_in(session, user, "hello"));
        said.filter(|said| said == "Well.").count()
    }
}

#[test]
fn a_limit_of_the_configuration_holds_for_each_by_role_platform_and_group() {
    let site = Site::start(&format!(
        "[[limit]]\nrole = \"member\"\nplatform = \"qq\"\nmessages = 2\n\
         [[limit]]\nperson = \"tg:bob\"\nmessages = 0\n\
         [[limit]]\ngroup = \"{GROUP}0\"\ntogether = true\nmessages = 1\n"
    ));
    let elsewhere = "tg:GroupMessage:7";
    for (session, user, expected) in [
        (GROUP, "ann", 2),
        (GROUP, "bob", 2),
        (GROUP, "boss", 3),
        // She has had hers, in whichever group of that platform.
        ("qq:GroupMessage:8", "ann", 0),
        (elsewhere, "ann", 3),
        (elsewhere, "boss", 3),
        (elsewhere, "bob", 0),
        ("qq:GroupMessage:70", "cid", 1),
        ("qq:GroupMessage:70", "dan", 0),
    ] {
        assert_eq!(
            site.answered(session, user),
            expected,
            "{user} in {session}"
        );
    }
    let told = site.sent(elsewhere);
    assert_eq!(
        told.iter()
            .filter(|it| it.starts_with("You are not"))
            .count(),
        1,
        "{told:?}"
    );
}

#[test]
fn a_kill_in_between_resets_nothing() {
    let mut site = Site::start("[[limit]]\nrole = \"member\"\nmessages = 3\n");
    assert_eq!(site.answered(GROUP, "ann"), 3);
    let told = site.says("ann", "你好");
    assert!(told[0].contains("已经用完了"), "{told:?}");
    // Dropping a server kills it.
    drop(site.server.take());
    site.server = Some(Server::start(&site.scene));
    assert_eq!(site.answered(GROUP, "ann"), 0);
    let told = site.sent(GROUP);
    let used_up = told.iter().filter(|it| it.contains("used up")).count();
    assert_eq!(
        used_up, 1,
        "once in each language, not again after a start: {told:?}"
    );
    assert_eq!(site.answered(GROUP, "bob"), 3);
}

/// Wherever it comes: before the message is looked at, before they are told, after.
#[test]
fn whoever_is_limited_is_told_once_over_a_crash() {
    for point in [
        "log.after_incoming",
        "turn.before_begin_commit",
        "turn.after_begin",
        "turn.after_finish",
    ] {
        let mut site = Site::start("[[limit]]\nperson = \"qq:bob\"\nmessages = 0\n");
        drop(site.server.take());
        let server = Server::start_killed_at(point, &site.scene, &[]);
        let path = format!("/api/sessions/{GROUP}/messages");
        let body = json!({ "text": "hello", "user": "bob", "wait": true });
        let cut_off = server.try_api("POST", &path, &site.key, &[], Some(&body));
        assert_eq!(cut_off, None, "{point}");
        drop(server);
        site.server = Some(Server::start(&site.scene));
        wait_until(|| !site.sent(GROUP).is_empty());
        assert_eq!(site.says("bob", "hello"), [""; 0], "{point}");
        assert_eq!(site.sent(GROUP), ["You are not answered here."], "{point}");
    }
}

#[test]
fn limits_are_set_listed_and_removed_at_the_terminal_over_the_api_and_in_the_chat() {
    let site = Site::start("[[limit]]\nkey = \"none\"\ntokens = 1000\n");
    let scene = &site.scene;
    let list = || {
        let listed = scene.callgate(&["limit", "list", "--json"]).succeeded();
        listed.json().as_array().unwrap().clone()
    };
    assert_eq!(list().len(), 1);
    let add = [
        "limit",
        "add",
        "--person",
        "qq:ann",
        "--messages",
        "1",
        "--per",
        "day",
        "--json",
    ];
    let made = scene.callgate(&add).succeeded().json();
    let expected = json!({"person": "qq:ann", "messages": 1, "per": "day"});
    assert_eq!(
        (&made["limit"], &made["made_by"]),
        (&expected, &json!("terminal"))
    );
    assert_eq!(site.answered(GROUP, "ann"), 1);

    let ban =
        json!({"limit": {"person": "qq:bob", "messages": 0, "until": "2999-01-01T00:00:00Z"}});
    let (status, banned) = site.api("POST", "/api/limits", Some(&ban));
    assert_eq!(status, 200, "{banned}");
    assert!(banned["made_by"].as_str().unwrap().starts_with("key "));
    let told = site.says("bob", "hello");
    let words = "You are not answered here. I answer again from 2999-01-01 00:00 UTC on.";
    assert_eq!(told, [words]);
    assert_eq!(site.says("bob", "hello"), [""; 0]);

    let told = site.says("cid", "/limit dan 1 per day");
    assert!(told[0].starts_with("Only administrators"), "{told:?}");
    let told = site.says("boss", "/limit dan 1 per day");
    assert_eq!(told, ["dan has 1 message a day here."]);
    assert_eq!(site.answered(GROUP, "dan"), 1);
    assert_eq!(
        site.answered("qq:GroupMessage:8", "dan"),
        3,
        "of that chat alone"
    );
    let told = site.says("boss", "/ban eve 5");
    assert_eq!(told, ["eve is not answered here for 5 minutes."]);
    assert_eq!(site.answered(GROUP, "eve"), 0);

    let authors: Vec<Json> = list().iter().map(|one| one["made_by"].clone()).collect();
    assert_eq!(authors[0], json!("qq:boss"));
    assert_eq!(authors[4], Json::Null, "of the configuration");
    let read = scene.callgate(&["limit", "list"]).succeeded().stdout;
    for words in [
        "1 messages per day, person=qq:ann",
        "banned, person=qq:bob until=2999-01-01T00:00:00Z",
        "1 messages per day, group=qq:GroupMessage:7 person=qq:dan",
        "1000 tokens per day, key=none",
        "by terminal",
        "by qq:boss",
        "callgate.toml",
    ] {
        assert!(read.contains(words), "{words}: {read}");
    }

    let path = format!("/api/limits/{}", banned["id"]);
    assert_eq!(site.api("DELETE", &path, None).0, 200);
    assert_eq!(site.api("DELETE", &path, None).0, 404);
    assert_eq!(site.says("bob", "hello"), ["Well."]);
    let told = site.says("boss", "/unban eve");
    assert_eq!(told, ["eve is answered again."]);
    assert_eq!(site.says("eve", "hello"), ["Well."]);
    let id = made["id"].to_string();
    scene.callgate(&["limit", "remove", &id]).succeeded();
    assert_eq!(site.says("ann", "hello"), ["Well."]);
    let again = scene.callgate(&["limit", "remove", &id]);
    assert!(
        again.stderr.contains("callgate limit list"),
        "{}",
        again.stderr
    );

    let odd = scene.callgate(&["limit", "add", "--role", "member"]);
    assert!(odd.stderr.contains("bounds something"), "{}", odd.stderr);
    let over = [
        "limit",
        "add",
        "--messages",
        "0",
        "--until",
        "2020-01-01T00:00:00Z",
    ];
    let over = scene.callgate(&over);
    assert!(over.stderr.contains("has ended already"), "{}", over.stderr);
    let misspelt = Scene::configured("[[limit]]\nrole = \"member\"\nmesages = 3\n");
    let refused = misspelt.callgate(&["methods"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("[[limit]]"), "{}", refused.stderr);
}

#[test]
fn a_key_is_bounded_over_v1() {
    let site = Site::start("");
    let made = site
        .scene
        .callgate(&["key", "new", "--scope", "chat", "--json"]);
    let made = made.succeeded().json();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let add = ["limit", "add", "--key", id, "--messages", "2"];
    site.scene.callgate(&add).succeeded();
    let server = site.server.as_ref().unwrap();
    let mut asked = Vec::new();
    for _ in 0..3 {
        site.model.will_say(&[json!({ "content": "Well." })]);
        let body = json!({ "model": "default", "messages": [{"role": "user", "content": "hi"}] });
        asked.push(server.api("POST", "/v1/chat/completions", key, Some(&body)));
    }
    let statuses: Vec<u16> = asked.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 429], "{asked:?}");
    assert_eq!(asked[2].1["error"]["code"], "insufficient_quota");
}

#[test]
fn why_names_the_rule_to_those_who_may_know_it() {
    let site = Site::start(
        "[approval]\nask = [\"recall\"]\nwait_seconds = 0\n\
         [[rule]]\nrole = \"member\"\nmethod = \"forget\"\nthen = \"deny\"\n",
    );
    let add = [
        "rule", "add", "deny", "--person", "qq:ann", "--method", "remember", "--json",
    ];
    let rule = site.scene.callgate(&add).succeeded().json();
    let rule = rule["id"].to_string();
    let replies = [
        calls(&[
            ("remember", json!({"name": "colour", "text": "blue"})),
            ("forget", json!({"name": "colour"})),
            ("now", json!({})),
        ]),
        json!({ "content": "Done." }),
    ];
    site.model.will_say(&replies);
    assert_eq!(site.asks(GROUP, "ann", "go"), ["Done."]);
    let told = site.asks(GROUP, "bob", "/why").remove(0);
    assert!(told.contains("was for ann"), "{told}");
    assert!(
        told.contains(
            "It called builtin/remember (a rule decided; failed), \
             builtin/forget (a rule decided; failed), builtin/now."
        ),
        "{told}"
    );
    for hidden in ["blue", "deny", "tokens", "qq:ann"] {
        assert!(!told.contains(hidden), "{hidden}: {told}");
    }
    let told = site.asks(GROUP, "boss", "/why").remove(0);
    let by_number = format!(
        "builtin/remember {{\"name\":\"colour\",\"text\":\"blue\"}} \
         (rule {rule} by terminal: deny person=qq:ann method=remember; failed: "
    );
    for shown in [
        by_number.as_str(),
        "builtin/forget {\"name\":\"colour\"} (callgate.toml: deny role=member method=forget; failed: ",
        "builtin/now {} (by default)",
        "qq:ann with the rights of a member",
        "tokens",
    ] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    site.scene.callgate(&["rule", "remove", &rule]).succeeded();
    let told = site.asks(GROUP, "boss", "/why").remove(0);
    assert!(
        told.contains(&format!("rule {rule}, removed since")),
        "{told}"
    );
}

#[test]
fn why_names_whose_answer_let_a_call_pass() {
    let site = Site::start("[approval]\nask = [\"remember\"]\nwait_seconds = 0\n");
    let replies = [
        calls(&[("remember", json!({"name": "colour", "text": "blue"}))]),
        json!({ "content": "Done." }),
    ];
    for (answer, shown) in [
        (&["1"][..], "(approval 1 by terminal)"),
        (&["2", "--always"], "(standing answer 1 by terminal: allow "),
    ] {
        site.model.will_say(&replies);
        let asked = site.asks(GROUP, "ann", "go");
        assert!(
            asked[0].starts_with("May I call builtin/remember"),
            "{asked:?}"
        );
        assert_eq!(asked.len(), 1, "{asked:?}");
        let before = site.sent(GROUP).len();
        let allow = [&["approval", "allow"], answer].concat();
        site.scene.callgate(&allow).succeeded();
        wait_until(|| site.sent(GROUP).len() > before);
        let told = site.asks(GROUP, "boss", "/why").remove(0);
        assert!(told.contains(shown), "{told}");
        let told = site.asks(GROUP, "ann", "/why").remove(0);
        assert!(
            told.contains("builtin/remember (a rule decided)."),
            "{told}"
        );
    }
}

/// What the operator writes holds from then on; what cannot be read changes nothing.
#[test]
fn the_file_may_be_changed_while_the_server_runs() {
    let site = Site::start("");
    let file = site.scene.data().join("callgate.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    assert_eq!(site.says("bob", "hello"), ["Well."]);
    std::fs::write(
        &file,
        format!("{before}[[limit]]\nperson = \"qq:bob\"\nmessages ="),
    )
    .unwrap();
    let complaints = || {
        let (_, log) = site.api("GET", "/api/logs?limit=100", None);
        log.to_string().contains("goes on with what it had")
    };
    wait_until(complaints);
    assert_eq!(site.says("bob", "hello"), ["Well."]);
    let limit = "[[limit]]\nperson = \"qq:bob\"\nmessages = 0\n";
    std::fs::write(&file, format!("{before}{limit}")).unwrap();
    wait_until(|| site.says("bob", "hello") != ["Well."]);
    assert_eq!(site.says("ann", "hello"), ["Well."]);
    std::fs::write(&file, before).unwrap();
    wait_until(|| site.says("bob", "hello") == ["Well."]);
}

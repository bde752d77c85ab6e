//! Rules through the whole product: code in the sandbox, tool calls, an agent below an agent, a plugin that
//! calls, a timer, a remote key; and where rules are made and taken back.

use serde_json::{Value as Json, json};

use crate::{
    model::{FakeModel, calls},
    scene::{Scene, wait_until},
    server::Server,
};

const GROUP: &str = "qq:GroupMessage:7";

/// Calls a method of ours on behalf of whoever calls it.
const PLUGIN: &str = r#"
from callgate import Context, tool


@tool
async def memo(ctx: Context, text: str) -> str:
    """Remembers a text."""
    await ctx.call("remember", name="memo", text=text)
    return "kept"
"#;

const CODE: &str = "```python
try:
    remember('colour', 'blue')
    send_message('kept')
except MethodError as refused:
    send_message(f'refused: {refused}')
```";

const REFUSED: &str = "refused: 'remember' was denied by the operator";

struct Site {
    server: Server,
    key: String,
    model: FakeModel,
    scene: Scene,
}

impl Site {
    fn start(rules: &str) -> Self {
        let model = FakeModel::scripted();
        let administrators = "[agent]\nadministrators = [\"qq:boss\"]\n";
        let scene = Scene::configured(&format!("{administrators}{rules}{}", model.toml()));
        let plugin = scene.home().join("memos");
        std::fs::create_dir(&plugin).unwrap();
        std::fs::write(plugin.join("__init__.py"), PLUGIN).unwrap();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let helper = [
            "persona", "set", "helper", "--prompt", "Help.", "--mode", "tools",
        ];
        scene.callgate(&helper).succeeded();
        let server = Server::start_with(&scene, &["--plugin", plugin.to_str().unwrap()]);
        let site = Site {
            server,
            key,
            model,
            scene,
        };
        wait_until(|| {
            site.get("/api/methods")["items"]
                .to_string()
                .contains("memo")
        });
        site
    }

    fn get(&self, path: &str) -> Json {
        self.server.api("GET", path, &self.key, None).1
    }

    /// What was sent in answer to a message, with these replies of the model.
    fn says(&self, user: &str, mode: &str, replies: &[Json]) -> Vec<String> {
        self.says_in(GROUP, user, mode, replies)
    }

    fn says_in(&self, session: &str, user: &str, mode: &str, replies: &[Json]) -> Vec<String> {
        self.model.will_say(replies);
        let before = self.sent(session).len();
        let body = json!({ "text": "go", "user": user, "wait": true, "mode": mode });
        let path = format!("/api/sessions/{session}/messages");
        let (status, answer) = self.server.api("POST", &path, &self.key, Some(&body));
        assert_eq!(status, 200, "{answer}");
        self.sent(session).split_off(before)
    }

    fn sent(&self, session: &str) -> Vec<String> {
        let log = self.get(&format!("/api/sessions/{session}/log?limit=100"));
        let rows = log["items"].as_array().cloned().unwrap_or_default();
        let mut said: Vec<String> = rows
            .iter()
            .filter(|row| row["role"] == "assistant")
            .map(|row| {
                row["parts"][0]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        said.reverse();
        said
    }

    /// What the model was told a call came to.
    fn results(&self) -> String {
        let requests = self.model.take_requests();
        let messages = requests
            .iter()
            .flat_map(|asked| asked["messages"].as_array());
        let results = messages.flatten().filter(|said| said["role"] == "tool");
        results.map(|said| said["content"].to_string()).collect()
    }
}

fn text(words: &str) -> Json {
    json!({ "content": words })
}

fn remember() -> Json {
    calls(&[("remember", json!({"name": "colour", "text": "blue"}))])
}

/// By code, by tool calls, below an agent, by a plugin: whoever it is done for decides.
#[test]
fn a_rule_holds_by_every_way_and_for_the_person_alone() {
    let site =
        Site::start("[[rule]]\nperson = \"qq:bob\"\nmethod = \"remember\"\nthen = \"deny\"\n");
    for (platform, user, is_denied) in [
        ("qq", "bob", true),
        ("qq", "ann", false),
        ("qq", "boss", false),
        // Bob's account on another platform is somebody else's.
        ("tg", "bob", false),
    ] {
        let group = format!("{platform}:GroupMessage:{user}");
        site.model.take_requests();
        let said = site.says_in(&group, user, "code", &[text(CODE)]);
        let prompt = site.model.take_requests()[0].to_string();
        assert_eq!(said, [if is_denied { REFUSED } else { "kept" }], "{user}");
        assert_eq!(
            prompt.contains("def remember("),
            !is_denied,
            "{user}: {prompt}"
        );

        let below = calls(&[("ask_helper", json!({"query": "remember it"}))]);
        let memo = calls(&[("memo", json!({"text": "blue"}))]);
        let ways = [
            vec![remember(), text("Done.")],
            vec![below.clone(), remember(), text("Helped."), text("Done.")],
            vec![memo.clone(), text("Done.")],
            vec![below, memo, text("Helped."), text("Done.")],
        ];
        for (number, replies) in ways.iter().enumerate() {
            let shown = format!("{user} on {platform}, way {number}");
            let group = format!("{group}{number}");
            let said = site.says_in(&group, user, "tools", replies);
            assert_eq!(said, ["Done."], "{shown}");
            let asked = site.model.requests();
            let offered = asked[0]["tools"].to_string().contains("\"remember\"");
            assert_eq!(offered, !is_denied, "{shown}");
            let told = site.results();
            let refused = told.contains("was denied by the operator");
            assert_eq!(refused, is_denied, "{shown}: {told}");
        }
    }
}

#[test]
fn a_timer_acts_for_whoever_set_it_with_the_role_they_had() {
    let site = Site::start("[[rule]]\nrole = \"member\"\nmethod = \"remember\"\nthen = \"deny\"\n");
    for (user, expected) in [("bob", REFUSED), ("boss", "kept")] {
        let session = format!("qq:GroupMessage:{user}");
        let set = "```python\nset_timer('Remember the colour.', minutes=0.001)\n```";
        site.says_in(&session, user, "code", &[text(set), text(CODE)]);
        wait_until(|| !site.sent(&session).is_empty());
        assert_eq!(site.sent(&session), [expected], "{user}");
    }
}

#[test]
fn a_key_is_held_to_the_rules_about_it() {
    let site = Site::start("[remote]\nmethods = [\"now\", \"recall\"]\n");
    let key = |site: &Site| {
        let made = site
            .scene
            .callgate(&["key", "new", "--json"])
            .succeeded()
            .json();
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        (text("id"), text("key"))
    };
    let ((id, first), (_, second)) = (key(&site), key(&site));
    let call = |key: &str| {
        let now = site
            .server
            .api("POST", "/api/methods/now/call", key, Some(&json!({})));
        let listed = site.server.api("GET", "/api/methods", key, None).1;
        (now.0, listed["items"].to_string().contains("\"now\""))
    };
    assert_eq!((call(&first), call(&second)), ((200, true), (200, true)));
    let add = ["rule", "add", "deny", "--key", &id, "--method", "now"];
    site.scene.callgate(&add).succeeded();
    assert_eq!((call(&first), call(&second)), ((403, false), (200, true)));
}

#[test]
fn rules_are_made_listed_and_removed_at_the_terminal_and_over_the_api() {
    let site = Site::start(
        "[approval]\nask = [\"send_file\"]\n[[rule]]\norigin = \"mcp\"\nthen = \"deny\"\n",
    );
    let scene = &site.scene;
    let list = || {
        scene
            .callgate(&["rule", "list", "--json"])
            .succeeded()
            .json()
    };
    let sources = |rules: &Json| -> Vec<Json> {
        rules
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["source"].clone())
            .collect()
    };
    assert_eq!(sources(&list()), ["configuration", "configuration"]);

    let add = [
        "rule", "add", "deny", "--role", "member", "--method", "remember", "--json",
    ];
    let made = scene.callgate(&add).succeeded().json();
    assert_eq!(
        (&made["rule"], &made["made_by"]),
        (
            &json!({"role": "member", "method": "remember", "then": "deny"}),
            &json!("terminal")
        )
    );
    assert_eq!(site.says("bob", "code", &[text(CODE)]), [REFUSED]);

    // What is said last counts first.
    let rule = json!({"rule": {"person": "qq:bob", "then": "allow"}});
    let (status, second) = site
        .server
        .api("POST", "/api/rules", &site.key, Some(&rule));
    assert_eq!(status, 200, "{second}");
    assert!(second["made_by"].as_str().unwrap().starts_with("key "));
    assert_eq!(site.says("bob", "code", &[text(CODE)]), ["kept"]);
    assert_eq!(site.says("ann", "code", &[text(CODE)]), [REFUSED]);
    assert_eq!(
        sources(&list()),
        ["operator", "operator", "configuration", "configuration"]
    );
    let read = scene.callgate(&["rule", "list"]).succeeded().stdout;
    for words in [
        "allow person=qq:bob",
        "deny role=member method=remember",
        "by terminal",
        "deny origin=mcp",
        "ask method=send_file",
    ] {
        assert!(read.contains(words), "{words}: {read}");
    }

    let path = format!("/api/rules/{}", second["id"]);
    assert_eq!(site.server.api("DELETE", &path, &site.key, None).0, 200);
    assert_eq!(site.server.api("DELETE", &path, &site.key, None).0, 404);
    assert_eq!(site.says("bob", "code", &[text(CODE)]), [REFUSED]);
    let id = made["id"].to_string();
    let removed = scene
        .callgate(&["rule", "remove", &id, "--json"])
        .succeeded();
    assert_eq!(removed.json(), made);
    assert_eq!(site.says("bob", "code", &[text(CODE)]), ["kept"]);
    let again = scene.callgate(&["rule", "remove", &id]);
    assert!(
        again.stderr.contains("callgate rule list"),
        "{}",
        again.stderr
    );

    let odd = scene.callgate(&["rule", "add", "deny", "--origin", "plugins"]);
    assert!(odd.stderr.contains("is no origin"), "{}", odd.stderr);
    let misspelt = Scene::configured("[[rule]]\nmethd = \"remember\"\nthen = \"deny\"\n");
    let refused = misspelt.callgate(&["methods"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("[[rule]]"), "{}", refused.stderr);
}

/// The whole of one answer: for whom it stands, that it is a rule, and that it is taken back.
#[test]
fn an_answer_for_always_is_a_rule_with_an_author() {
    let ask = "[approval]\nask = [\"remember\"]\nwait_seconds = 0\n";
    let site = Site::start(ask);
    // Whoever waits is told so, and nothing else.
    let is_asked_about = |user: &str| {
        let said = site.says(user, "code", &[text(CODE)]);
        matches!(&said[..], [asked] if asked.starts_with("May I call builtin/remember"))
    };
    assert!(is_asked_about("bob"));
    let scene = &site.scene;
    scene
        .callgate(&["approval", "allow", "1", "--always"])
        .succeeded();
    wait_until(|| site.sent(GROUP).last().is_some_and(|last| last == "kept"));
    assert_eq!(site.says("bob", "code", &[text(CODE)]), ["kept"]);
    assert!(is_asked_about("ann"));
    scene
        .callgate(&["approval", "deny", "2", "--always", "--same-arguments"])
        .succeeded();
    wait_until(|| site.sent(GROUP).contains(&REFUSED.to_owned()));

    let rules = scene
        .callgate(&["rule", "list", "--json"])
        .succeeded()
        .json();
    let answers: Vec<&Json> = rules.as_array().unwrap().iter().collect();
    let answers: Vec<_> = answers
        .into_iter()
        .filter(|it| it["source"] == "answer")
        .collect();
    assert_eq!(
        (&answers[0]["rule"]["person"], &answers[0]["rule"]["then"]),
        (&json!("qq:ann"), &json!("deny"))
    );
    assert_eq!(
        answers[0]["arguments"],
        json!({"name": "colour", "text": "blue"})
    );
    assert_eq!(
        (&answers[1]["rule"]["person"], &answers[1]["made_by"]),
        (&json!("qq:bob"), &json!("terminal"))
    );
    let id = answers[1]["id"].to_string();
    scene.callgate(&["rule", "remove", &id]).succeeded();
    assert!(is_asked_about("bob"), "once more");
}

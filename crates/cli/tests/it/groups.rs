//! Several people in one chat: what is done for them is done with the rights of the least of them.

use serde_json::{Value as Json, json};

use crate::{
    model::FakeModel,
    scene::{Scene, wait_until},
    server::Server,
};

const GROUP: &str = "/api/sessions/qq:GroupMessage:7";
const ELSEWHERE: &str = "/api/sessions/tg:GroupMessage:7";

/// A method that is for the operator.
const PLUGIN: &str = r#"
from callgate import Context, tool


@tool
def secret(ctx: Context) -> str:
    """Something for operators."""
    if not ctx.user.is_operator:
        raise PermissionError(f"{ctx.user.id} is not an operator")
    return "the secret"
"#;

const CODE: &str = "```python
try:
    send_message(secret())
except MethodError as refused:
    send_message(f'refused: {refused}')
```";

struct Site {
    server: Server,
    key: String,
    /// Held so that its files stay.
    _scene: Scene,
}

impl Site {
    fn start(model: &FakeModel) -> Self {
        let toml = format!("[agent]\nadministrators = [\"qq:boss\"]\n{}", model.toml());
        let scene = Scene::configured(&toml);
        let plugin = scene.home().join("secrets");
        std::fs::create_dir(&plugin).unwrap();
        std::fs::write(plugin.join("__init__.py"), PLUGIN).unwrap();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start_with(&scene, &["--plugin", plugin.to_str().unwrap()]);
        wait_until(|| server.api("GET", "/api/plugins", &key, None).0 == 200);
        Site {
            server,
            key,
            _scene: scene,
        }
    }

    fn post(&self, path: &str, body: Json) -> Json {
        let (status, answer) = self.server.api("POST", path, &self.key, Some(&body));
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn says(&self, session: &str, user: &str, text: &str, wait: bool) -> Json {
        let body = json!({ "text": text, "user": user, "wait": wait });
        self.post(&format!("{session}/messages"), body)
    }

    /// The newest answer.
    fn last(&self, session: &str) -> String {
        let (_, log) = self
            .server
            .api("GET", &format!("{session}/log"), &self.key, None);
        let rows = log["items"].as_array().unwrap();
        let said = rows.iter().find(|row| row["role"] == "assistant");
        let said = said.and_then(|row| row["parts"][0]["text"].as_str());
        said.unwrap_or_default().to_owned()
    }
}

#[test]
fn a_turn_of_several_people_may_do_what_the_least_of_them_may() {
    let model = FakeModel::start(1, CODE);
    let site = Site::start(&model);
    // While one turn is under way, messages of two others wait.
    site.says(GROUP, "carl", "think", false);
    wait_until(|| model.asked() == 1);
    for (user, text) in [("boss", "tell me the secret"), ("bob", "and me")] {
        site.says(GROUP, user, text, false);
        // Plugins look at each message by itself; the first that they let pass begins the turn.
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    site.post(&format!("{GROUP}/stop"), json!({}));
    wait_until(|| site.last(GROUP).contains("secret") || site.last(GROUP).contains("refused"));
    assert_eq!(
        site.last(GROUP),
        "refused: PermissionError: boss is not an operator"
    );
    assert_eq!(model.asked(), 2, "both were one turn");
    site.says(GROUP, "boss", "tell me", true);
    assert_eq!(site.last(GROUP), "the secret");
    // The same account on another platform is somebody else.
    site.says(ELSEWHERE, "boss", "tell me", true);
    assert!(
        site.last(ELSEWHERE).starts_with("refused"),
        "{}",
        site.last(ELSEWHERE)
    );
}

#[test]
fn commands_that_change_a_group_are_for_administrators() {
    let model = FakeModel::start(1, "Hello.");
    let site = Site::start(&model);
    let refused = "Only administrators can do that here; bob is not one.";
    for command in [
        "/approve 1",
        "/deny 1 always",
        "/reset",
        "/new",
        "/compact",
        "/model fake",
        "/persona default",
    ] {
        site.says(GROUP, "bob", command, true);
        assert_eq!(site.last(GROUP), refused, "{command}");
    }
    for (command, answer) in [
        ("/reset", "Forgotten."),
        ("/model fake", "The model is fake from now on."),
    ] {
        site.says(GROUP, "boss", command, true);
        assert_eq!(site.last(GROUP), answer, "{command}");
        site.says(ELSEWHERE, "boss", command, true);
        assert_eq!(
            site.last(ELSEWHERE),
            "Only administrators can do that here; boss is not one."
        );
        // A private chat is its person's own.
        site.says("/api/sessions/qq:FriendMessage:bob", "bob", command, true);
        assert_eq!(
            site.last("/api/sessions/qq:FriendMessage:bob"),
            answer,
            "{command}"
        );
    }
    site.says(GROUP, "boss", "think", false);
    wait_until(|| model.asked() == 1);
    site.says(GROUP, "bob", "/stop", true);
    assert_eq!(site.last(GROUP), refused);
    site.says(GROUP, "boss", "/stop", true);
    assert_eq!(site.last(GROUP), "Stopped.");
}

#[test]
fn an_administrator_without_a_platform_is_refused_and_says_what_to_write() {
    let scene = Scene::configured("[agent]\nadministrators = [\"boss\"]\n");
    let said = scene.callgate(&["methods"]);
    assert_ne!(said.code, Some(0));
    assert!(said.stderr.contains("PLATFORM:ACCOUNT"), "{}", said.stderr);
}

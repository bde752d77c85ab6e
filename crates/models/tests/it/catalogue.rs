//! Which models are found, and which one a session gets.

use callgate_contract::{Accepts, Models, Part};
use callgate_models::{InvalidModel, LocalServer, Settings, find, named};

use crate::server::{Reply, Server};

fn nothing(_: &str) -> Option<String> {
    None
}

fn ids(models: &Models) -> Vec<&str> {
    models.all().iter().map(|model| model.id.as_str()).collect()
}

async fn configured(text: &str) -> Result<Models, InvalidModel> {
    let settings: Settings = toml::from_str(text).unwrap();
    find(&settings, nothing, &[]).await
}

const TWO: &str = "
[[list]]
id = 'one'
base_url = 'http://127.0.0.1:1/v1'
keys = ['a', 'b']
[[list]]
id = 'two'
wire = 'openai'
base_url = 'http://127.0.0.1:1/v1'
model = 'gpt'
key = 'c'
accepts = { image = true }
options = { temperature = 0.3, extra = { top_k = 5 } }
silence = 30
retries = 2
";

#[tokio::test]
async fn a_session_gets_its_choice_then_the_default_then_the_first() {
    let models = configured(&format!("default = 'two'\nvision = 'two'\n{TWO}"))
        .await
        .unwrap();
    assert_eq!(models.choose(Some("one")).id, "one");
    assert_eq!(models.choose(Some("gone")).id, "two");
    assert_eq!(models.choose(None).id, "two");
    let vision = models.vision().unwrap();
    assert!(
        vision
            .model
            .accepts()
            .takes(&Part::Image { url: String::new() })
    );

    let models = configured(TWO).await.unwrap();
    assert_eq!(models.choose(None).id, "one");
    assert_eq!(models.choose(None).model.accepts(), Accepts::default());
    assert!(models.vision().is_none());
}

#[tokio::test]
async fn what_cannot_be_is_refused_at_the_start() {
    let twice = format!("{TWO}\n[[list]]\nid = 'one'\nbase_url = 'http://127.0.0.1:1'");
    let unknown = format!("default = 'three'\n{TWO}");
    let address = "[[list]]\nid = 'one'\nbase_url = 'api.example.org/v1'";
    let header = "[[list]]\nid = 'one'\nbase_url = 'http://a'\nheaders = { 'a b' = 'c' }";
    for (text, expect) in [
        (twice.as_str(), "two models have the id 'one'"),
        (unknown.as_str(), "no model 'three'; there are: one, two"),
        (
            address,
            "model 'one': base_url 'api.example.org/v1' is no http(s) address",
        ),
        (header, "model 'one': 'a b' cannot be sent as a header"),
    ] {
        assert_eq!(configured(text).await.unwrap_err().to_string(), expect);
    }
    assert!(toml::from_str::<Settings>("[[list]]\nid = 'a'\nbase_url = 'b'\nkye = 'c'").is_err());
}

#[tokio::test]
async fn keys_of_the_environment_are_found() {
    let environment = |name: &str| match name {
        "OPENAI_API_KEY" => Some("a".to_owned()),
        "OPENAI_BASE_URL" => Some("http://127.0.0.1:1/v1".to_owned()),
        "DEEPSEEK_API_KEY" => Some("b".to_owned()),
        "GROQ_API_KEY" => Some("  ".to_owned()),
        _ => None,
    };
    let models = find(&Settings::default(), environment, &[]).await.unwrap();
    assert_eq!(ids(&models), ["openai", "deepseek"]);

    let settings: Settings = toml::from_str(TWO).unwrap();
    let models = find(&settings, environment, &[]).await.unwrap();
    assert_eq!(ids(&models), ["one", "two"], "configuration comes first");
}

fn local<'a>(server: &'a Server, owner: Option<&'a str>) -> LocalServer<'a> {
    LocalServer {
        name: "ollama",
        base_url: &server.base_url,
        owner,
    }
}

#[tokio::test]
async fn servers_on_this_machine_are_found() {
    let list = "{\"data\":[{\"id\":\"qwen3:8b\",\"owned_by\":\"library\"},{\"id\":\"gemma3\"}]}";
    for (owner, expect) in [
        (None, vec!["ollama/qwen3:8b", "ollama/gemma3"]),
        (Some("library"), vec!["ollama/qwen3:8b"]),
        (Some("llamacpp"), vec!["demo"]),
    ] {
        let server = Server::start(vec![Reply::new("200 OK", "", list)]).await;
        let found = find(&Settings::default(), nothing, &[local(&server, owner)]).await;
        assert_eq!(ids(&found.unwrap()), expect);
        assert_eq!(server.requests()[0].line, "GET /v1/models HTTP/1.1");
    }
}

#[tokio::test]
async fn whatever_else_listens_there_is_no_model() {
    let page = Reply::new("200 OK", "", "<html></html>");
    for reply in [page, Reply::new("404 Not Found", "", ""), Reply::silence()] {
        let server = Server::start(vec![reply]).await;
        let found = find(&Settings::default(), nothing, &[local(&server, None)]).await;
        assert_eq!(ids(&found.unwrap()), ["demo"]);
    }
}

#[tokio::test]
async fn a_script_is_a_model_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    std::fs::write(&file, "{\"content\":\"Hi\"}\n").unwrap();
    let models = configured(TWO).await.unwrap();
    let id = format!("script:{}", file.display());
    let script = named(&models, &id).unwrap();
    let reply = script
        .model
        .complete(crate::streams::hello())
        .await
        .unwrap();
    assert_eq!((script.id, reply.text), (id, "Hi".to_owned()));

    assert_eq!(named(&models, "demo").unwrap().id, "demo");
    assert!(matches!(
        named(&models, "script:/nowhere"),
        Err(InvalidModel::Script { .. })
    ));
    assert!(matches!(
        named(&models, "three"),
        Err(InvalidModel::Unknown { .. })
    ));
}

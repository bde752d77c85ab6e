//! Which models are found, and which one a session gets.

use callgate_contract::{Accepts, Models, NamedModel, Part, Price};
use callgate_models::{InvalidModel, LocalServer, Settings, Wire, find, named};

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

    let providers = |name: &str| match name {
        "ANTHROPIC_API_KEY" | "GOOGLE_API_KEY" => Some("a".to_owned()),
        "ANTHROPIC_MODEL" => Some("claude-haiku-4-5".to_owned()),
        _ => None,
    };
    let models = find(&Settings::default(), providers, &[]).await.unwrap();
    assert_eq!(ids(&models), ["anthropic", "gemini"]);
    let about = |id: &str| models.get(id).unwrap().model.about();
    assert_eq!(about("anthropic").wire.as_deref(), Some("anthropic"));
    assert_eq!(about("anthropic").name.as_deref(), Some("claude-haiku-4-5"));
    assert_eq!(about("gemini").wire.as_deref(), Some("gemini"));
    let sound = Part::Audio { url: String::new() };
    assert!(models.get("gemini").unwrap().model.accepts().takes(&sound));

    let settings: Settings = toml::from_str(TWO).unwrap();
    let models = find(&settings, environment, &[]).await.unwrap();
    assert_eq!(ids(&models), ["one", "two"], "configuration comes first");
}

fn local<'a>(server: &'a Server, owner: Option<&'a str>) -> LocalServer<'a> {
    LocalServer {
        name: "ollama",
        base_url: &server.base_url,
        wire: Wire::Ollama,
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
        let found = found.unwrap();
        assert_eq!(ids(&found), expect);
        let is_free = |model: &NamedModel| model.model.about().price == Some(Price::FREE);
        assert!(
            found.all().iter().all(is_free),
            "a budget of money lets them answer"
        );
        assert_eq!(server.requests()[0].line, "GET /v1/models HTTP/1.1");
    }
}

#[tokio::test]
async fn ollama_is_looked_for_where_its_variable_says() {
    let list = "{\"data\":[{\"id\":\"qwen3:8b\"}]}";
    let server = Server::start(vec![Reply::new("200 OK", "", list)]).await;
    let address = server.base_url.trim_end_matches("/v1").to_owned();
    let usual = LocalServer {
        name: "ollama",
        base_url: "http://127.0.0.1:1/v1",
        wire: Wire::Ollama,
        owner: None,
    };
    let environment = |name: &str| (name == "OLLAMA_HOST").then(|| address.clone());
    let found = find(&Settings::default(), environment, &[usual]).await;
    let found = found.unwrap();
    assert_eq!(ids(&found), ["ollama/qwen3:8b"]);
    assert_eq!(found.all()[0].model.about().wire.as_deref(), Some("ollama"));
}

#[tokio::test]
async fn the_model_for_vectors_is_the_one_that_was_named() {
    let named = format!("embedding = 'two'\n{TWO}");
    let models = configured(&named).await.unwrap();
    assert_eq!(
        models.embedding().map(|model| model.id.as_str()),
        Some("two")
    );
    assert!(configured(TWO).await.unwrap().embedding().is_none());
    let nobody = format!("embedding = 'three'\n{TWO}");
    assert!(configured(&nobody).await.is_err());
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

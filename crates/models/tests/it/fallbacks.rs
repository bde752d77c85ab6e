//! Models made of several: who is asked when one fails, and when nobody is.

use callgate_contract::{ModelError, ModelEvent, ModelMessage, ModelRequest, Models, Part};
use callgate_models::{Settings, find};
use serde_json::json;

use crate::{
    server::{Reply, Server, delta},
    streams::hello,
};

/// A model `main`, and `second` and `third` for when it fails.
async fn three(replies: [Vec<Reply>; 3]) -> (Models, [Server; 3]) {
    let [main, second, third] = replies;
    let servers = [
        Server::start(main).await,
        Server::start(second).await,
        Server::start(third).await,
    ];
    let [a, b, c] = servers.each_ref().map(|server| server.base_url.as_str());
    let text = format!(
        "[[list]]\nid = 'main'\nbase_url = '{a}'\nretries = 0\naccepts = {{ image = true }}\n\
         fallback = ['second', 'third']\n\
         [[list]]\nid = 'second'\nbase_url = '{b}'\nretries = 0\nfallback = ['main']\n\
         [[list]]\nid = 'third'\nbase_url = '{c}'\nretries = 0\n"
    );
    let settings: Settings = toml::from_str(&text).unwrap();
    (find(&settings, |_| None, &[]).await.unwrap(), servers)
}

fn refusal(status: &str, message: &str) -> Reply {
    let body = json!({"error": {"message": message}});
    Reply::new(status, "", &body.to_string())
}

fn asked(servers: &[Server; 3]) -> [usize; 3] {
    servers.each_ref().map(|server| server.requests().len())
}

#[tokio::test]
async fn the_next_is_asked_when_one_fails_before_its_first_word() {
    let replies = [
        vec![refusal("401 Unauthorized", "wrong key")],
        vec![Reply::stream(
            "data: {\"error\":{\"message\":\"broken\"}}\n\n",
        )],
        vec![Reply::saying("Hi")],
    ];
    let (models, servers) = three(replies).await;
    let reply = models.choose(None).model.complete(hello()).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.model.as_deref()),
        ("Hi", Some("third"))
    );
    assert_eq!(asked(&servers), [1, 1, 1]);
    assert_eq!(
        models.choose(None).model.about().fallback,
        ["second", "third"]
    );
}

#[tokio::test]
async fn who_answers_at_once_is_not_named_and_nobody_else_is_asked() {
    let replies = [vec![Reply::saying("Hi")], Vec::new(), Vec::new()];
    let (models, servers) = three(replies).await;
    let reply = models.choose(None).model.complete(hello()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model), ("Hi", None));
    assert_eq!(asked(&servers), [1, 0, 0]);
}

#[tokio::test]
async fn an_answer_that_has_begun_is_given_to_nobody_else() {
    let replies = [
        vec![Reply::stream(&delta("The ans"))],
        vec![Reply::saying("Hi")],
        Vec::new(),
    ];
    let (models, servers) = three(replies).await;
    let mut stream = models.choose(None).model.stream(hello()).await.unwrap();
    let text = "The ans".to_owned();
    assert_eq!(
        stream.next().await,
        Some(Ok(ModelEvent::TextDelta { text }))
    );
    assert_eq!(stream.next().await, Some(Err(ModelError::CutStream)));
    assert_eq!(asked(&servers), [1, 0, 0]);
}

#[tokio::test]
async fn when_all_fail_the_last_failure_is_told() {
    let refused = |message: &str| vec![refusal("400 Bad Request", message)];
    let (models, _servers) = three([refused("one"), refused("two"), refused("three")]).await;
    let error = models.choose(None).model.complete(hello()).await;
    let message = "three".to_owned();
    assert_eq!(error, Err(ModelError::BadRequest { message }));
}

#[tokio::test]
async fn a_request_too_long_is_shortened_and_not_passed_on() {
    let replies = [
        vec![refusal("400 Bad Request", "the prompt is too long")],
        Vec::new(),
        Vec::new(),
    ];
    let (models, servers) = three(replies).await;
    let error = models.choose(None).model.complete(hello()).await;
    assert!(matches!(error, Err(ModelError::ContextLength { .. })));
    assert_eq!(asked(&servers), [1, 0, 0]);
}

#[tokio::test]
async fn a_model_that_cannot_see_gets_words_for_images() {
    let replies = [
        vec![refusal("400 Bad Request", "no")],
        vec![Reply::saying("Hi")],
        Vec::new(),
    ];
    let (models, servers) = three(replies).await;
    let url = "data:image/png;base64,AAAA".to_owned();
    let parts = vec![Part::text("Look"), Part::Image { url }];
    let request = ModelRequest::new(vec![ModelMessage::User { parts }]);
    models.choose(None).model.complete(request).await.unwrap();
    let content = |server: &Server| server.requests()[0].body["messages"][0]["content"].clone();
    assert_eq!(content(&servers[0])[1]["type"], "image_url");
    let words = json!({"type": "text", "text": "[an image that is not shown]"});
    assert_eq!(content(&servers[1])[1], words);
}

#[tokio::test]
async fn a_fallback_that_is_not_there_is_refused_at_the_start() {
    for fallback in ["nobody", "main"] {
        let text = format!(
            "[[list]]\nid = 'main'\nbase_url = 'http://127.0.0.1:1'\nfallback = ['{fallback}']"
        );
        let settings: Settings = toml::from_str(&text).unwrap();
        let error = find(&settings, |_| None, &[]).await.unwrap_err();
        let expect = format!("model 'main': fallback '{fallback}' is no other model of the list");
        assert_eq!(error.to_string(), expect);
    }
}

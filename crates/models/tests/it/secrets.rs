//! A key never shows: not when settings or models are printed, not in an error a server words.

use callgate_contract::Model;
use callgate_models::{ModelSettings, Remote};

use crate::{
    server::{Reply, Server},
    streams::hello,
};

const KEY: &str = "sk-very-secret";

fn settings(base_url: &str) -> ModelSettings {
    let text = format!(
        "id = 'm'\nbase_url = '{base_url}'\nkey = '{KEY}'\nheaders = {{ x-key = '{KEY}' }}"
    );
    toml::from_str(&text).unwrap()
}

#[test]
fn printing_shows_no_key() {
    let settings = settings("http://127.0.0.1:1/v1");
    let printed = format!("{settings:?}");
    let model = Remote::new(settings).unwrap();
    assert!(!format!("{printed} {model:?}").contains(KEY));
}

#[tokio::test]
async fn an_error_that_repeats_the_key_does_not_pass_it_on() {
    let body = format!("{{\"error\":{{\"message\":\"Incorrect key {KEY}\"}}}}");
    let in_stream = Reply::stream(&format!(
        "data: {{\"error\":{{\"code\":400,\"message\":\"Incorrect key {KEY}\"}}}}\n\n"
    ));
    for reply in [Reply::new("401 Unauthorized", "", &body), in_stream] {
        let server = Server::start(vec![reply]).await;
        let model = Remote::new(settings(&server.base_url)).unwrap();
        let error = model.complete(hello()).await.unwrap_err();
        let printed = format!("{error} {error:?}");
        assert!(printed.contains("Incorrect key [key]"), "{printed}");
    }
}

#[test]
fn a_key_that_cannot_be_sent_is_refused_without_showing_it() {
    let mut settings = settings("http://127.0.0.1:1/v1");
    settings.keys.push("sk-with\nline".into());
    let error = Remote::new(settings).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("sk-with"));
}

//! Servers that refuse, fail and fall silent: what is tried again, with which key, and when not.

use std::time::{Duration, Instant};

use callgate_contract::{Model, ModelError};
use callgate_models::{ModelSettings, Remote};
use secrecy::SecretString;

use crate::{
    server::{Reply, Server},
    streams::hello,
};

const LIMITED: &str = "429 Too Many Requests";

fn refusal(status: &str) -> Reply {
    Reply::new(status, "", "{\"error\":{\"message\":\"no\"}}")
}

fn with_keys(server: &Server, keys: &[&str]) -> Remote {
    let keys = keys.iter().map(|key| SecretString::from(*key)).collect();
    let settings = ModelSettings {
        keys,
        ..server.settings()
    };
    Remote::new(settings).unwrap()
}

fn without_retries(server: &Server) -> Remote {
    let settings = ModelSettings {
        retries: 0,
        ..server.settings()
    };
    Remote::new(settings).unwrap()
}

fn keys_used(server: &Server) -> Vec<String> {
    let key = |request: &crate::server::Request| {
        let header = request.header("authorization").unwrap();
        header.strip_prefix("Bearer ").unwrap().to_owned()
    };
    server.requests().iter().map(key).collect()
}

#[tokio::test]
async fn a_limited_key_is_left_for_another_at_once() {
    // The wait that the server asks for is the key's, not the request's.
    let limited = Reply::new(LIMITED, "retry-after: 3600\r\n", "");
    let replies = vec![limited, Reply::saying("Hi"), Reply::saying("Hi")];
    let server = Server::start(replies).await;
    let model = with_keys(&server, &["a", "b"]);
    model.complete(hello()).await.unwrap();
    model.complete(hello()).await.unwrap();
    assert_eq!(keys_used(&server), ["a", "b", "b"]);
}

#[tokio::test]
async fn a_wrong_key_is_left_for_another_and_the_last_one_is_final() {
    let refused = || refusal("401 Unauthorized");
    let server = Server::start(vec![refused(), refused()]).await;
    let error = with_keys(&server, &["a", "b"]).complete(hello()).await;
    assert!(matches!(error, Err(ModelError::Auth { .. })), "{error:?}");
    assert_eq!(keys_used(&server), ["a", "b"]);
}

/// Servers that say when to come back.
const BUSY: [&str; 3] = [LIMITED, "503 Service Unavailable", "529 Overloaded"];

#[tokio::test]
async fn with_one_key_the_wait_that_is_asked_for_is_kept() {
    for status in BUSY {
        let busy = Reply::new(status, "retry-after: 1\r\n", "");
        let server = Server::start(vec![busy, Reply::saying("Hi")]).await;
        let begun = Instant::now();
        server.model().complete(hello()).await.unwrap();
        // Not before: how much later is the machine's affair.
        assert!(begun.elapsed() >= Duration::from_secs(1), "{status}");
    }
}

#[tokio::test]
async fn a_wait_too_long_is_left_to_the_loop() {
    for (status, header) in BUSY.into_iter().flat_map(|status| {
        let headers = [
            "retry-after: 3600\r\n",
            "retry-after: Fri, 31 Dec 2100 23:59:59 GMT\r\n",
        ];
        headers.map(|header| (status, header))
    }) {
        let busy = Reply::new(status, header, "");
        let server = Server::start(vec![busy, Reply::saying("Hi")]).await;
        let error = server.model().complete(hello()).await.unwrap_err();
        let asked = error.retry_after().unwrap();
        assert!(asked >= Duration::from_secs(3600), "{error:?}");
        assert!(error.to_string().contains("try again in"), "{error}");
        assert_eq!(server.requests().len(), 1, "{status} {header}");
    }
}

#[tokio::test]
async fn a_failing_server_is_asked_again() {
    let page = "<html><title>502 Bad Gateway</title></html>";
    let replies = vec![
        refusal("500 Internal Server Error"),
        Reply::new("502 Bad Gateway", "", page),
        Reply::saying("Hi"),
    ];
    let server = Server::start(replies).await;
    let reply = server.model().complete(hello()).await.unwrap();
    assert_eq!(reply.text, "Hi");
    let bodies = server.requests();
    assert!(bodies.iter().all(|request| request.body == bodies[0].body));
}

#[tokio::test]
async fn an_error_in_the_stream_is_asked_again() {
    let overloaded = "data: {\"error\":{\"message\":\"Overloaded\"}}\n\n";
    let server = Server::start(vec![Reply::stream(overloaded), Reply::saying("Hi")]).await;
    assert_eq!(server.model().complete(hello()).await.unwrap().text, "Hi");
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_an_error_in_its_words() {
    let page = "<html><title>503 Maintenance</title></html>";
    let reply = Reply::new("503 Service Unavailable", "", page);
    let server = Server::start(vec![reply]).await;
    let error = without_retries(&server).complete(hello()).await;
    let expect = ModelError::Server {
        status: 503,
        retry_after: None,
        message: "503 Maintenance".to_owned(),
    };
    assert_eq!(error, Err(expect));
}

#[tokio::test]
async fn what_will_fail_again_is_not_asked_again() {
    let found = Reply::new(
        "307 Temporary Redirect",
        "location: http://127.0.0.1:1/\r\n",
        "",
    );
    for reply in [refusal("400 Bad Request"), refusal("404 Not Found"), found] {
        let server = Server::start(vec![reply, Reply::saying("Hi")]).await;
        let error = server.model().complete(hello()).await;
        assert!(
            matches!(error, Err(ModelError::BadRequest { .. })),
            "{error:?}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let read_timeout = Duration::from_millis(50);
    let begun = Reply::stream(": one moment\n\n").held_open();
    for reply in [Reply::silence(), begun] {
        let mut server = Server::start(vec![reply]).await;
        let settings = ModelSettings {
            read_timeout,
            retries: 0,
            ..server.settings()
        };
        let error = Remote::new(settings).unwrap().complete(hello()).await;
        assert_eq!(error, Err(ModelError::Timeout { read_timeout }));
        server.client_closes().await;
    }
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let settings = ModelSettings {
        retries: 0,
        ..ModelSettings::new("m", format!("http://user:hidden@{address}"))
    };
    let error = Remote::new(settings).unwrap().complete(hello()).await;
    let Err(ModelError::Unreachable { message }) = error else {
        panic!("{error:?}");
    };
    assert!(!message.contains("hidden"), "{message}");
}

#[tokio::test]
async fn a_server_without_encryption_is_not_taken_for_one_with_it() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let plain = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await
    });
    let settings = ModelSettings {
        retries: 0,
        ..ModelSettings::new("m", format!("https://{address}/v1"))
    };
    let error = Remote::new(settings).unwrap().complete(hello()).await;
    assert!(
        matches!(error, Err(ModelError::Unreachable { .. })),
        "{error:?}"
    );
    plain.await.unwrap().unwrap();
}

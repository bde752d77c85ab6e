//! Static resources, scripts, and which pages may reach them, over plain HTTP.

use std::path::Path;

use callgate_server::{Entrance, EntranceError, Tls};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::scene::Scene;

pub async fn request(address: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    stream
        .write_all(format!("{text}\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

pub async fn get(address: &str, path: &str, headers: &[(&str, &str)]) -> String {
    request(address, "GET", path, headers).await
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[tokio::test]
async fn declared_files_are_served_also_after_a_restart() {
    let scene = Scene::new().await;
    scene.put("web/a.html", "<h1>hello</h1>");
    scene.put("web/deep/b.txt", "0123456789");
    scene.put("web/index.html", "index");
    scene.put("web/.hidden", "secret");
    scene.put("one.json", "{}");
    let mut client = scene.client("app").await;
    let before = get(&scene.address, "/x/a.html", &[]).await;
    assert!(before.starts_with("HTTP/1.1 404"), "{before}");
    let resources =
        json!({ "/x": "web", "/only.json": "./one.json", "/bad": "../web", "/api/y": "web" });
    // Both ways to pass it.
    let ack = client.call("addStaticResources", resources.clone()).await;
    assert_eq!(
        client.call("addStaticResources", json!([resources])).await["result"],
        ack["result"]
    );
    let result = &ack["result"];
    assert_eq!(result["success"], false, "two of them are bad");
    for (place, url, status) in [
        (0, "/x", "success"),
        (1, "/only.json", "success"),
        (2, "/bad", "error"),
        (3, "/api/y", "error"),
    ] {
        let one = &result["results"][place];
        assert_eq!(
            (&one["urlPath"], &one["status"]),
            (&json!(url), &json!(status))
        );
        assert_eq!(one["message"].is_string(), status == "error");
    }
    let scene = scene.restarted().await;
    let page = get(&scene.address, "/x/a.html", &[]).await;
    assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
    assert_eq!(body(&page), "<h1>hello</h1>");
    assert_eq!(
        header(&page, "content-type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(header(&page, "x-content-type-options"), Some("nosniff"));
    assert!(
        header(&page, "content-security-policy")
            .unwrap()
            .starts_with("sandbox ")
    );
    assert_eq!(body(&get(&scene.address, "/only.json", &[]).await), "{}");
    assert_eq!(body(&get(&scene.address, "/x", &[]).await), "index");
    for path in [
        "/x/../one.json",
        "/x/%2e%2e/one.json",
        "/x/..%2fone.json",
        "/x/.hidden",
        "/x/deep/../../one.json",
        "/xa.html",
        "/x/none",
        "/x/a.html/",
        "/one.json",
        "/remote/one.json",
        "/x/%00",
        "/x/%ff",
    ] {
        let answer = get(&scene.address, path, &[]).await;
        assert!(
            !answer.contains("secret") && !answer.starts_with("HTTP/1.1 200"),
            "{path}: {answer}"
        );
    }
}

#[tokio::test]
async fn parts_and_unchanged_files_are_not_sent_whole() {
    let scene = Scene::new().await;
    scene.put("b.txt", "0123456789");
    let mut client = scene.client("app").await;
    client
        .call("addStaticResources", json!([{ "/b": "b.txt" }]))
        .await;
    let whole = get(&scene.address, "/b", &[]).await;
    let tag = header(&whole, "etag").unwrap().to_owned();
    let part = get(&scene.address, "/b", &[("Range", "bytes=2-4")]).await;
    assert!(part.starts_with("HTTP/1.1 206"), "{part}");
    assert_eq!(
        (body(&part), header(&part, "content-range")),
        ("234", Some("bytes 2-4/10"))
    );
    let beyond = get(&scene.address, "/b", &[("Range", "bytes=99-")]).await;
    assert!(beyond.starts_with("HTTP/1.1 416"), "{beyond}");
    let same = get(&scene.address, "/b", &[("If-None-Match", &tag)]).await;
    assert!(same.starts_with("HTTP/1.1 304"), "{same}");
    let head = request(&scene.address, "HEAD", "/b", &[]).await;
    assert_eq!(
        (header(&head, "content-length"), body(&head)),
        (Some("10"), "")
    );
    scene.put("b.txt", "changed");
    let changed = get(&scene.address, "/b", &[("If-None-Match", &tag)]).await;
    assert_eq!(body(&changed), "changed");
}

#[tokio::test]
async fn links_and_second_names_are_not_served() {
    let scene = Scene::new().await;
    scene.put("web/a.txt", "fine");
    let root = scene.home.data().join("remote/web");
    std::fs::write(scene.home.data().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink("../../secret.txt", root.join("link.txt")).unwrap();
    std::fs::hard_link(scene.home.data().join("secret.txt"), root.join("hard.txt")).unwrap();
    let mut client = scene.client("app").await;
    client
        .call("addStaticResources", json!([{ "/x": "web" }]))
        .await;
    for (name, status) in [("a.txt", "200"), ("link.txt", "404"), ("hard.txt", "404")] {
        let answer = get(&scene.address, &format!("/x/{name}"), &[]).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{name}: {answer}"
        );
    }
}

#[tokio::test]
async fn pages_of_this_machine_may_connect_and_others_not() {
    let scene = Scene::new().await;
    let path = "/socket.io/?EIO=4&transport=polling";
    let allowed = get(&scene.address, path, &[("Origin", "http://localhost:8000")]).await;
    assert!(allowed.starts_with("HTTP/1.1 200"), "{allowed}");
    assert_eq!(
        header(&allowed, "access-control-allow-origin"),
        Some("http://localhost:8000")
    );
    for origin in ["https://evil.example", "null"] {
        let refused = get(&scene.address, path, &[("Origin", origin)]).await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
        assert_eq!(header(&refused, "access-control-allow-origin"), None);
    }
    let elsewhere = get(&scene.address, path, &[("Host", "evil.example")]).await;
    assert!(elsewhere.starts_with("HTTP/1.1 421"), "{elsewhere}");
    let asked = [
        ("Origin", "http://127.0.0.1:8000"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type"),
    ];
    let preflight = request(&scene.address, "OPTIONS", path, &asked).await;
    assert!(preflight.starts_with("HTTP/1.1 204"), "{preflight}");
    assert_eq!(
        header(&preflight, "access-control-allow-headers"),
        Some("content-type")
    );
    assert!(
        header(&preflight, "access-control-allow-methods")
            .unwrap()
            .contains("POST")
    );
}

#[tokio::test]
async fn the_helper_and_the_library_are_served() {
    let scene = Scene::new().await;
    let helper = get(&scene.address, "/callgate.js", &[]).await;
    assert!(helper.contains("export function connect"), "{helper}");
    assert_eq!(
        header(&helper, "content-type"),
        Some("text/javascript; charset=utf-8")
    );
    // With its package installed it is the library, else how to get it.
    let library = get(&scene.address, "/socket.io/socket.io.js", &[]).await;
    assert!(
        library.contains("Socket.IO v4") || library.contains("npm ci"),
        "no answer"
    );
}

#[tokio::test]
async fn other_machines_are_served_by_tls_or_on_request_alone() {
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let refused = Entrance::open(everywhere, None, false).await;
    assert!(matches!(refused, Err(EntranceError::Insecure { .. })));
    let opened = Entrance::open(everywhere, None, true).await.unwrap();
    assert!(opened.url().starts_with("http://0.0.0.0:"));
    let missing = Tls::read(Path::new("/nonexistent.pem"), Path::new("/nonexistent.key"));
    assert!(matches!(missing, Err(EntranceError::Tls(_))));
}

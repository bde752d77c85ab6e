//! `fetch_page`, and `file_fetch` for plugins.

use callgate_builtins::{Options, fetch::FetchPolicy};
use callgate_contract::{Surface, Value};

use crate::{
    scene::Scene,
    site::{Answer, Request, Site, page},
};

async fn scene(site: &Site) -> Scene {
    let allow = vec!["*".parse().unwrap()];
    let fetch = FetchPolicy::for_tests(allow, vec![site.address]);
    Scene::with(Options { fetch }).await
}

async fn site(content_type: &'static str, body: &'static str) -> Site {
    Site::open("127.0.0.1", move |_| {
        Answer::Bytes(page(content_type, body))
    })
    .await
}

#[tokio::test]
async fn a_page_is_shown_as_text_with_its_title_and_links() {
    let html = "<title>早报 &mdash; News</title><script>x()</script>\
                <h1>你好</h1><p>Tom &amp; Jerry, <a href='/more'>more</a>";
    let site = site("text/html; charset=utf-8", html).await;
    let outcome = scene(&site)
        .await
        .call("fetch_page", [site.url("/a").into()])
        .await;
    let (url, more) = (site.url("/a"), site.url("/more"));
    assert_eq!(
        outcome.unwrap().text.unwrap(),
        format!(
            "[text of {url}, page 1 of 1]\nTitle: 早报 — News\n\n# 你好\n\nTom & Jerry, \
             [more]({more})"
        )
    );
}

#[tokio::test]
async fn what_is_not_html_is_shown_as_it_is() {
    for (content_type, body) in [
        ("application/json", "{\"a\": \"<b>&amp;</b>\"}"),
        ("text/plain", "<p>no markup</p>"),
        ("application/atom+xml", "<feed><title>x</title></feed>"),
    ] {
        let site = site(content_type, body).await;
        let outcome = scene(&site)
            .await
            .call("fetch_page", [site.url("/").into()])
            .await;
        let shown = outcome.unwrap().text.unwrap();
        assert_eq!(shown.split_once('\n').unwrap().1, body);
    }
}

#[tokio::test]
async fn a_long_page_comes_in_parts() {
    let site = Site::open("127.0.0.1", |_: &Request| {
        let body: String = (0..5000).map(|line| format!("line {line}\n")).collect();
        Answer::Bytes(page("text/plain", body))
    })
    .await;
    let (scene, url) = (scene(&site).await, site.url("/"));
    let part = |number: i64| scene.call("fetch_page", [url.as_str().into(), number.into()]);
    let first = part(1).await.unwrap().text.unwrap();
    assert!(first.starts_with(&format!("[text of {url}, page 1 of 3]\nline 0\n")));
    assert!(first.ends_with(&format!("\n[go on with fetch_page(\"{url}\", page=2)]")));
    assert!(
        part(3)
            .await
            .unwrap()
            .text
            .unwrap()
            .ends_with("line 4999\n")
    );
    let beyond = part(4).await.unwrap_err().to_string();
    assert_eq!(beyond, format!("'{url}' has 3 pages: there is no page 4"));
}

#[tokio::test]
async fn a_page_beyond_the_limit_says_that_it_is_cut() {
    let site = Site::open("127.0.0.1", |_: &Request| {
        Answer::Endless(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec())
    })
    .await;
    let scene = scene(&site).await;
    let url = site.url("/");
    let first = scene
        .call("fetch_page", [url.as_str().into()])
        .await
        .unwrap()
        .text
        .unwrap();
    let pages: i64 = first.split([' ', ']']).nth(6).unwrap().parse().unwrap();
    let last = scene
        .call("fetch_page", [url.into(), pages.into()])
        .await
        .unwrap();
    let last = last.text.unwrap();
    assert!(last.ends_with("\n[the page is longer: the rest was not read]"));
}

#[tokio::test]
async fn it_is_off_until_hosts_are_listed() {
    let site = site("text/plain", "x").await;
    let scene = Scene::new().await;
    let refusal = scene.refusal("fetch_page", [site.url("/").into()]).await;
    assert!(refusal.contains("turned off"), "{refusal}");
    assert!(refusal.contains("fetch.allow"), "{refusal}");
    assert_eq!(site.asked(), []);
}

#[tokio::test]
async fn what_the_operator_lists_does_not_open_this_machine() {
    let site = site("text/plain", "x").await;
    for listed in ["*", "127.0.0.1"] {
        let fetch = FetchPolicy::new(vec![listed.parse().unwrap()]);
        let scene = Scene::with(Options { fetch }).await;
        let refusal = scene.refusal("fetch_page", [site.url("/").into()]).await;
        assert!(refusal.contains("is not at a public address"), "{refusal}");
    }
    assert_eq!(site.asked(), []);
}

#[tokio::test]
async fn remote_clients_do_not_fetch_through_us() {
    let site = site("text/plain", "x").await;
    let mut scene = scene(&site).await;
    scene.caller.surface = Surface::Remote;
    scene
        .call("fetch_page", [site.url("/").into()])
        .await
        .unwrap_err();
    assert_eq!(site.asked(), []);
}

#[tokio::test]
async fn plugins_get_a_file_with_its_name_and_kind() {
    let site = site("image/png", "\u{89}PNG").await;
    let mut scene = scene(&site).await;
    let refusal = scene.refusal("file_fetch", [site.url("/a/b.png?x=1").into()]);
    // It is the plugins' own: for code, `fetch_page` is there.
    refusal.await;
    assert_eq!(site.asked(), []);
    scene.caller.surface = Surface::Plugin;
    let url = site.url("/a/b.png?x=1");
    let Value::Dict(entries) = scene.value("file_fetch", [url.into()]).await else {
        panic!("a file is described");
    };
    let of = |name: &str| {
        let found = entries.iter().find(|(key, _)| key.as_str() == Some(name));
        found.map(|(_, value)| value.clone())
    };
    assert_eq!(of("name"), Some("b.png".into()));
    assert_eq!(of("media"), Some("image/png".into()));
    let bytes = "\u{89}PNG".as_bytes().to_vec();
    assert_eq!(of("data"), Some(Value::Bytes(bytes)));
}

#[tokio::test]
async fn plugins_are_not_led_to_this_machine() {
    let site = site("text/plain", "x").await;
    let mut scene = Scene::new().await;
    scene.caller.surface = Surface::Plugin;
    let refusal = scene.refusal("file_fetch", [site.url("/").into()]).await;
    assert!(refusal.contains("is not at a public address"), "{refusal}");
    assert_eq!(site.asked(), []);
}

//! The fetcher against servers, names and pages that mean harm.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_builtins::fetch::{FetchError, FetchLimits, FetchPolicy, Fetcher, Lookup};
use proptest::prelude::*;

use crate::site::{Answer, Request, Site, page, redirect};

const HERE: &str = "127.0.0.1";

/// Every host is listed, and of what is not public only `exempt` may be reached.
fn policy(exempt: &[SocketAddr]) -> FetchPolicy {
    FetchPolicy::for_tests(vec!["*".parse().unwrap()], exempt.to_vec())
}

fn fetcher(site: &Site) -> Fetcher {
    Fetcher::new(policy(&[site.address]))
}

/// Names that end in `.test` are here, `.lan` is a private network, `.mixed` is both; others do
/// not exist.
fn names() -> Lookup {
    Arc::new(|name| {
        let found: io::Result<&[&str]> = match name.rsplit('.').next() {
            Some("test") => Ok(&[HERE]),
            Some("lan") => Ok(&["127.0.0.2"]),
            Some("mixed") => Ok(&[HERE, "127.0.0.2"]),
            Some("empty") => Ok(&[]),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let found = found.map(|texts| texts.iter().map(|text| text.parse().unwrap()).collect());
        Box::pin(std::future::ready(found))
    })
}

#[tokio::test]
async fn a_page_is_fetched_with_nothing_of_ours_in_the_request() {
    let site = Site::open(HERE, |_| Answer::Bytes(page("text/plain", "hello"))).await;
    let fetched = fetcher(&site).get(&site.url("/a?b=c#d")).await.unwrap();
    assert_eq!(fetched.text(), "hello");
    assert!(!fetched.cut);
    let [request] = site.asked().try_into().unwrap();
    assert_eq!(request.path, "/a?b=c");
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    let mut names: Vec<&str> = request
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
}

#[tokio::test]
async fn names_and_addresses_that_are_not_public_are_never_asked() {
    let site = Site::open(HERE, |_| Answer::Bytes(page("text/plain", "secret"))).await;
    let port = site.address.port();
    let nothing_exempt = Fetcher::new(policy(&[])).lookup(names());
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "site.test",
        "site.lan",
        "site.mixed",
    ] {
        let refused = nothing_exempt.get(&format!("http://{host}:{port}/")).await;
        let Err(FetchError::NotPublic { .. }) = refused else {
            panic!("{host}: {refused:?}")
        };
    }
    for host in ["localhost", "LOCALHOST.", "ip6-localhost"] {
        let refused = Fetcher::new(policy(&[]))
            .get(&format!("http://{host}:{port}/"))
            .await;
        assert!(refused.is_err(), "{host}");
    }
    assert_eq!(site.asked(), []);
}

#[tokio::test]
async fn one_bad_address_condemns_a_name() {
    let site = Site::open(HERE, |_| Answer::Bytes(page("text/plain", "x"))).await;
    let fetcher = fetcher(&site).lookup(names());
    let port = site.address.port();
    fetcher
        .get(&format!("http://a.test:{port}/"))
        .await
        .unwrap();
    for (host, expect) in [
        ("a.mixed", "'a.mixed' is not at a public address"),
        ("a.lan", "'a.lan' is not at a public address"),
        ("a.nowhere", "no host 'a.nowhere' is known"),
        ("a.empty", "no host 'a.empty' is known"),
    ] {
        let refusal = fetcher.get(&format!("http://{host}:{port}/")).await;
        let refusal = refusal.unwrap_err().to_string();
        assert!(refusal.starts_with(expect), "{refusal}");
        assert!(!refusal.contains("127.0.0"), "{refusal}");
    }
    assert_eq!(site.asked().len(), 1);
}

/// A name that changes its address between check and connection: the first answer is the only one.
#[tokio::test]
async fn a_name_is_looked_up_once_and_connected_to_as_it_was_checked() {
    let good = Site::open(HERE, |_| Answer::Bytes(page("text/plain", "good"))).await;
    let port = good.address.port();
    let answer = |_: &Request| Answer::Bytes(page("text/plain", "secret"));
    let bad = Site::open_at("127.0.0.2", port, answer).await;
    let answers = VecDeque::from([good.address.ip(), bad.address.ip()]);
    let answers = Arc::new(Mutex::new(answers));
    let queue = answers.clone();
    let lookup: Lookup = Arc::new(move |_| {
        let next = queue.lock().unwrap().pop_front();
        Box::pin(std::future::ready(Ok(next.into_iter().collect())))
    });
    let fetcher = fetcher(&good).lookup(lookup);
    let url = format!("http://rebind.example:{port}/");

    assert_eq!(fetcher.get(&url).await.unwrap().text(), "good");
    assert_eq!(answers.lock().unwrap().len(), 1);
    // The next fetch looks it up anew and meets the other address.
    let refused = fetcher.get(&url).await.unwrap_err();
    assert!(matches!(refused, FetchError::NotPublic { .. }), "{refused}");
    assert_eq!((good.asked().len(), bad.asked().len()), (1, 0));
}

#[tokio::test]
async fn a_redirect_is_judged_like_the_first_url() {
    let secret = Site::open("127.0.0.2", |_| Answer::Bytes(page("text/plain", "secret"))).await;
    let target = secret.url("/");
    let site = Site::open(HERE, move |request: &Request| {
        Answer::Bytes(match request.path.as_str() {
            "/private" => redirect(&target),
            "/metadata" => redirect("http://169.254.169.254/latest/meta-data/"),
            "/name" => redirect("http://inside.lan/"),
            "/file" => redirect("file:///etc/passwd"),
            "/password" => redirect("http://a:b@example.com/"),
            "/mail" => redirect("http://example.com:25/"),
            "/broken" => redirect("http://["),
            "/relative" => redirect("next?x"),
            "/loop" => redirect("/loop"),
            _ => page("text/plain", "arrived"),
        })
    })
    .await;
    let fetcher = fetcher(&site).lookup(names());
    for (path, expect) in [
        ("/private", "is not at a public address"),
        ("/metadata", "is not at a public address"),
        ("/name", "is not at a public address"),
        ("/file", "only http and https"),
        ("/password", "name or password"),
        ("/mail", "port"),
        ("/broken", "redirects to what is no URL"),
        ("/loop", "more than 5 redirects"),
    ] {
        let refusal = fetcher.get(&site.url(path)).await.unwrap_err().to_string();
        assert!(refusal.contains(expect), "{path}: {refusal}");
    }
    assert_eq!(secret.asked(), []);
    let looped = site
        .asked()
        .iter()
        .filter(|request| request.path == "/loop")
        .count();
    assert_eq!(looped, 6);
    let fetched = fetcher.get(&site.url("/relative")).await.unwrap();
    assert_eq!(
        (fetched.text().as_str(), fetched.url),
        ("arrived", site.url("/next?x"))
    );
}

#[tokio::test]
async fn a_redirect_must_be_listed_too() {
    let site = Site::open(HERE, |_| Answer::Bytes(redirect("http://other.test/"))).await;
    let allow = vec!["listed.test".parse().unwrap()];
    let policy = FetchPolicy::for_tests(allow, vec![site.address]);
    let port = site.address.port();
    let refused = Fetcher::new(policy)
        .lookup(names())
        .get(&format!("http://listed.test:{port}/"))
        .await;
    let Err(FetchError::NotAllowed { host }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(host, "other.test");
}

#[tokio::test]
async fn an_endless_body_is_read_to_the_limit_and_no_further() {
    let site = Site::open(HERE, |_| {
        Answer::Endless(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec())
    })
    .await;
    let limits = FetchLimits {
        body: 100_000,
        ..FetchLimits::default()
    };
    let fetched = fetcher(&site).limits(limits).get(&site.url("/")).await;
    let fetched = fetched.unwrap();
    assert!(fetched.cut);
    assert_eq!(fetched.body, vec![b'x'; 100_000]);
}

#[tokio::test]
async fn a_body_as_long_as_the_limit_is_whole() {
    let site = Site::open(HERE, |_| Answer::Bytes(page("text/plain", [b'x'; 1000]))).await;
    for (body, cut) in [(1000, false), (999, true)] {
        let limits = FetchLimits {
            body,
            ..FetchLimits::default()
        };
        let fetched = fetcher(&site).limits(limits).get(&site.url("/")).await;
        let fetched = fetched.unwrap();
        assert_eq!((fetched.body.len(), fetched.cut), (body, cut));
    }
}

#[tokio::test]
async fn what_stalls_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n";
    for sent in ["", "HTTP/1.1 200", head, &format!("{head}abc")] {
        let sent = sent.as_bytes().to_vec();
        let site = Site::open(HERE, move |_| Answer::Stalled(sent.clone())).await;
        let limits = FetchLimits {
            total: Duration::from_millis(200),
            ..FetchLimits::default()
        };
        let refused = fetcher(&site).limits(limits).get(&site.url("/")).await;
        let Err(FetchError::Timeout { .. }) = refused else {
            panic!("{refused:?}")
        };
    }
}

#[tokio::test]
async fn what_is_not_a_whole_page_of_text_is_refused() {
    let response = |head: &str| format!("HTTP/1.1 {head}\r\nContent-Length: 3\r\n\r\nabc");
    for (sent, expect) in [
        (
            response("200 OK\r\nContent-Type: image/png"),
            "is image/png, not text",
        ),
        (
            response("200 OK\r\nContent-Type: application/pdf"),
            "not text",
        ),
        (response("200 OK"), "of an unnamed type, not text"),
        (
            response("404 Not Found\r\nContent-Type: text/html"),
            "answered 404 Not Found",
        ),
        (
            response("500 Oops\r\nContent-Type: text/html"),
            "answered 500",
        ),
        (
            response("302 Found\r\nContent-Type: text/html"),
            "answered 302",
        ),
        (
            response("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip"),
            "came compressed",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nabc".into(),
            "cannot be reached",
        ),
        ("SSH-2.0-OpenSSH\r\n\r\n".into(), "cannot be reached"),
    ] {
        let site = Site::open(HERE, move |_| Answer::Bytes(sent.clone().into_bytes())).await;
        let refusal = fetcher(&site)
            .get(&site.url("/"))
            .await
            .unwrap_err()
            .to_string();
        assert!(refusal.contains(expect), "{refusal}");
    }
}

#[tokio::test]
async fn bytes_of_any_kind_go_through_the_same_door() {
    let site = Site::open(HERE, |_| Answer::Bytes(page("image/png", [7; 1000]))).await;
    let url = site.url("/");
    assert_eq!(fetcher(&site).bytes(&url).await.unwrap(), [7; 1000]);
    let limits = FetchLimits {
        body: 999,
        ..FetchLimits::default()
    };
    let refused = fetcher(&site).limits(limits).bytes(&url).await;
    assert!(matches!(refused, Err(FetchError::TooLarge { .. })));
    let refused = Fetcher::new(policy(&[])).bytes(&url).await;
    assert!(matches!(refused, Err(FetchError::NotPublic { .. })));
    let refused = Fetcher::new(FetchPolicy::default()).bytes(&url).await;
    assert!(matches!(refused, Err(FetchError::Off)));
}

/// Where a hop of a chain leads.
#[derive(Clone, Debug)]
enum Hop {
    Listed,
    Private,
    Mixed,
    Unlisted,
    Scheme,
}

fn hop() -> impl Strategy<Value = Hop> {
    prop_oneof![
        6 => Just(Hop::Listed),
        1 => Just(Hop::Private),
        1 => Just(Hop::Mixed),
        1 => Just(Hop::Unlisted),
        1 => Just(Hop::Scheme),
    ]
}

fn url(hop: &Hop, port: u16, step: usize) -> String {
    match hop {
        Hop::Listed => format!("http://h{step}.test:{port}/{step}"),
        Hop::Private => format!("http://h{step}.lan:{port}/{step}"),
        Hop::Mixed => format!("http://h{step}.mixed:{port}/{step}"),
        Hop::Unlisted => format!("http://h{step}.org:{port}/{step}"),
        Hop::Scheme => format!("gopher://h{step}.test:{port}/{step}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any chain of redirects is followed to the first hop that may not be, and never past five.
    #[test]
    fn chains_end_where_they_must(hops in prop::collection::vec(hop(), 1..9)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let chain = hops.clone();
            let site = Site::open(HERE, move |request: &Request| {
                let port = request.header("host").and_then(|host| host.split(':').nth(1));
                let port = port.unwrap().parse().unwrap();
                let step = request.path.trim_start_matches('/').parse::<usize>().unwrap() + 1;
                Answer::Bytes(match chain.get(step) {
                    Some(hop) => redirect(&url(hop, port, step)),
                    None => page("text/plain", "arrived"),
                })
            })
            .await;
            let allow = ["*.test", "*.lan", "*.mixed"].map(|host| host.parse().unwrap());
            let policy = FetchPolicy::for_tests(allow.into(), vec![site.address]);
            let fetcher = Fetcher::new(policy).lookup(names());
            let fetched = fetcher.get(&url(&hops[0], site.address.port(), 0)).await;

            let good = hops.iter().take_while(|hop| matches!(hop, Hop::Listed)).count();
            prop_assert_eq!(site.asked().len(), good.min(6));
            match (fetched, hops.get(good)) {
                (Ok(page), None) => prop_assert!(good <= 6 && page.text() == "arrived"),
                (Err(FetchError::Redirects { .. }), _) => {
                    prop_assert!(good >= 6 && hops.len() > 6);
                }
                (Err(FetchError::NotPublic { .. }), Some(Hop::Private | Hop::Mixed))
                | (Err(FetchError::NotAllowed { .. }), Some(Hop::Unlisted))
                | (Err(FetchError::Invalid { .. }), Some(Hop::Scheme)) => {}
                (fetched, next) => prop_assert!(false, "{:?} {:?}", fetched, next),
            }
            Ok(())
        })?;
    }
}

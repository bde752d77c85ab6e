//! Killed at every crash point, the next command finishes what was begun, once.

use callgate_store::CRASH_POINTS;
use serde_json::json;

use crate::{
    frozen::socket_io::client::Client,
    outages::{say, serve},
    scene::{Scene, finish, wait_until},
    server::Server,
};

const CODE: &str = "\
remember('a', 'first')
send_message('one')
send_message('two')
save_json('s.json', {'n': 1})
remember('b', f'{len(recall())} note')
";

/// The process is killed at each point in turn; the next one finds the run and ends it.
#[test]
fn a_killed_run_is_recovered_with_every_effect_once() {
    let mut killed = 0;
    for point in CRASH_POINTS {
        for passes in 1..=2 {
            let at = format!("{point}:{passes}");
            let scene = Scene::new();
            let file = scene.file("code.py", CODE);
            let mut command = scene.command(&["run", &file]);
            let died = finish(command.env("CALLGATE_CRASH_AT", &at).spawn().unwrap());
            if died.code.is_some() {
                // A run does not come by here, or not once more.
                died.succeeded();
                assert_eq!(scene.outbox(), ["one", "two"], "{at}");
                assert_eq!(scene.notes(), ["a", "b"], "{at}");
                break;
            }
            killed += 1;
            let next = scene.run("print('next')", &[]).succeeded();
            assert_eq!(next.stdout, "next\n", "{at}");
            let unfinished = *point != "journal.after_finish";
            assert_eq!(
                next.stderr.contains("recovered run"),
                unfinished,
                "{at}: {}",
                next.stderr
            );
            assert_eq!(scene.outbox(), ["one", "two"], "{at}");
            assert_eq!(scene.notes(), ["a", "b"], "{at}");
        }
    }
    assert!(killed >= 8, "the code passes the points: {killed}");
}

#[test]
fn a_run_killed_while_it_waits_for_approval_waits_on() {
    let scene = Scene::configured("[approval]\nask = [\"send_message\"]\n");
    let mut waiting = scene.start(CODE, &[]);
    let id = scene.approval().to_string();
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    let next = scene.run("print('next')", &[]).succeeded();
    assert!(
        next.stderr.contains(": waits for approval"),
        "{}",
        next.stderr
    );
    scene
        .callgate(&["approval", "allow", &id, "--always"])
        .succeeded();
    assert_eq!(scene.outbox(), ["one", "two"]);
    assert_eq!(scene.notes(), ["a", "b"]);
}

/// The question is on record and nobody has been told; then its answer is, and nothing has come of it.
#[test]
fn a_kill_around_an_approval_costs_neither_the_question_nor_the_answer() {
    let scene = Scene::configured("[approval]\nask = [\"remember\"]\n");
    let file = scene.file("code.py", "remember('a', 'first')\nsend_message('one')\n");
    let killed = |point: &str, words: &[&str]| {
        let mut command = scene.command(words);
        let died = finish(command.env("CALLGATE_CRASH_AT", point).spawn().unwrap());
        assert_eq!(died.code, None, "{point}: {}", died.stderr);
    };
    killed("approval.after_ask", &["run", &file]);
    scene.run("print('next')", &[]).succeeded();
    let id = scene.approval().to_string();
    killed("approval.after_answer", &["approval", "allow", &id]);
    scene.run("print('next')", &[]).succeeded();
    assert_eq!(scene.notes(), ["a"]);
    assert_eq!(scene.outbox(), ["one"]);
}

/// Nobody says whether a client has heard: what was told just before a kill is told again, and can be known.
#[test]
fn what_a_kill_leaves_unmarked_is_told_again_under_the_same_id() {
    let scene = Scene::new();
    let (server, key) = serve(&scene, None, &[json!({ "content": "pong" })]);
    server.end();
    let dying = Server::start_killed_at("outbox.after_delivery", &scene, &[]);
    wait_until(|| dying.api("GET", "/api/models", &key, None).0 == 200);
    let mut client = Client::open(&dying.address, "ann", &key);
    client.sit("/llm");
    let request = json!({ "target": "server", "requestId": "r1", "message": "ping" });
    client.ask("/llm", "LLM_REQUEST", &request);
    let (_, first) = client.hear("message");
    assert_eq!(
        (&first[0]["data"], &first[0]["requestId"]),
        (&json!("pong"), &json!("r1"))
    );
    assert!(first[0]["deliveryId"].is_string(), "{first}");
    drop(dying);
    let server = Server::start(&scene);
    let mut client = Client::open(&server.address, "ann", &key);
    client.sit("/llm");
    let (_, again) = client.hear("message");
    assert_eq!(again[0]["data"], "pong");
    assert_eq!(again[0]["deliveryId"], first[0]["deliveryId"]);
    server.end();
    let server = Server::start(&scene);
    let mut client = Client::open(&server.address, "ann", &key);
    client.sit("/llm");
    let body = json!({ "text": "more" });
    say(&server, &key, "remote:FriendMessage:ann", &body);
    let (_, next) = client.hear("message");
    assert_ne!(next[0]["deliveryId"], first[0]["deliveryId"], "{next}");
}

/// A connection that ends while a message leaves by it may have taken it along or not.
#[test]
fn a_client_that_hangs_up_on_a_message_is_told_again() {
    const TRIES: usize = 20;
    let scene = Scene::new();
    let answers = vec![json!({ "content": "pong" }); TRIES + 1];
    let (server, key) = serve(&scene, None, &answers);
    let ask = |number: usize| {
        let mut client = Client::open(&server.address, "ann", &key);
        client.sit("/llm");
        let id = format!("r{number}");
        let request = json!({ "target": "server", "requestId": id, "message": "ping" });
        client.ask("/llm", "LLM_REQUEST", &request);
        let (_, heard) = client.hear("message");
        client.hang_up();
        heard[0]["deliveryId"].clone()
    };
    // On a busy machine the server may be late to see that one is gone.
    let mut heard = ask(0);
    let is_told_again =
        (1..=TRIES).any(|number| std::mem::replace(&mut heard, ask(number)) == heard);
    assert!(is_told_again);
}

//! One owner per data directory, told from a dead one, and spoken to through its socket.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use callgate_store::{ControlError, Handler, Held, Owner, OwnerError, request};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

/// Answers with what it was asked.
fn echo() -> Handler {
    Arc::new(|request, _| Box::pin(async move { json!({ "asked": request }) }))
}

/// Longer than a socket's address may be.
fn long_directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("数".repeat(60));
    (directory, data)
}

#[tokio::test]
async fn only_one_owns_and_the_next_after_it() {
    let (_directory, data) = long_directory();
    let owner = Owner::acquire(&data).unwrap();
    let second = Owner::acquire(&data).unwrap_err();
    let held = Held {
        pid: Some(std::process::id()),
    };
    assert!(
        matches!(second, OwnerError::Held(h) if h == held),
        "{second}"
    );
    drop(owner);
    Owner::acquire(&data).unwrap();
}

#[tokio::test]
async fn a_killed_owner_holds_nothing() {
    if let Some(data) = std::env::var_os("CALLGATE_TEST_DATA") {
        return hold(PathBuf::from(data)).await;
    }
    let (_directory, data) = long_directory();
    let mut child = holder(&data);
    let held = match Owner::acquire(&data) {
        Err(OwnerError::Held(held)) => held,
        other => panic!("{other:?}"),
    };
    assert_eq!(held.pid, Some(child.id()));
    let answer = request(&data, &json!({"command": "ping"}), drop)
        .await
        .unwrap();
    assert_eq!(answer, json!({"asked": {"command": "ping"}}));

    child.kill().unwrap();
    child.wait().unwrap();
    assert!(data.join("control.sock").exists(), "a stale socket stays");
    let nobody = request(&data, &json!({}), drop).await;
    assert!(
        matches!(nobody, Err(ControlError::NotRunning(_))),
        "{nobody:?}"
    );
    let owner = Owner::acquire(&data).unwrap();
    let served = tokio::select! {
        ended = owner.serve(echo()) => panic!("{ended:?}"),
        answer = asked_until_answered(&data) => answer,
    };
    assert_eq!(served, json!({"asked": 1}));
    drop(owner);
    assert!(!data.join("control.sock").exists());
}

async fn asked_until_answered(data: &Path) -> serde_json::Value {
    loop {
        match request(data, &json!(1), drop).await {
            Ok(answer) => return answer,
            Err(ControlError::NotRunning(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Another process that owns `data` and serves; it has said so when this returns.
#[allow(clippy::disallowed_methods, reason = "a second process")]
fn holder(data: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "owner::a_killed_owner_holds_nothing",
            "--nocapture",
        ])
        .env("CALLGATE_TEST_DATA", data)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let ready = output
        .lines()
        .any(|line| line.unwrap().ends_with("serving"));
    assert!(ready, "the other process ended");
    child
}

/// What the process that is killed does: this binary once more, with the name of the test.
async fn hold(data: PathBuf) {
    let owner = Owner::acquire(&data).unwrap();
    let ready = async {
        asked_until_answered(&data).await;
        println!("\nserving");
        std::future::pending::<()>().await
    };
    tokio::select! {
        ended = owner.serve(echo()) => panic!("{ended:?}"),
        () = ready => {}
    }
}

#[tokio::test]
async fn the_socket_is_private_and_answers_line_by_line() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let owner = Owner::acquire(data).unwrap();
    let talk = async {
        asked_until_answered(data).await;
        let socket = data.join("control.sock");
        for file in ["control.sock", "control.key", "lock"] {
            let mode = std::fs::metadata(data.join(file)).unwrap().permissions();
            assert_eq!(mode.mode() & 0o777, 0o600, "{file}");
        }
        let mut stream = UnixStream::connect(&socket).await.unwrap();
        let key = std::fs::read_to_string(data.join("control.key")).unwrap();
        let lines = format!("{key}\n{{\"a\":\"你\"}}\nnot json\n[1]\n");
        stream.write_all(lines.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.unwrap();
        let answers: Vec<&str> = answers.lines().collect();
        assert_eq!(answers[0], r#"{"answer":{"asked":{"a":"你"}}}"#);
        assert!(answers[1].starts_with(r#"{"answer":{"error":"the request is not JSON"#));
        assert_eq!(answers[2], r#"{"answer":{"asked":[1]}}"#);

        // A line without end is cut off, and costs the owner nothing more.
        let mut stream = UnixStream::connect(&socket).await.unwrap();
        stream
            .write_all(format!("{key}\n").as_bytes())
            .await
            .unwrap();
        let flood = vec![b'x'; 1 << 20];
        while stream.write_all(&flood).await.is_ok() {}
        assert_eq!(asked_until_answered(data).await, json!({"asked": 1}));
    };
    tokio::select! {
        ended = owner.serve(echo()) => panic!("{ended:?}"),
        () = talk => {}
    }
}

/// What a peer that sends `lines` is answered, to the end.
async fn answered(socket: &Path, lines: &str) -> String {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    // It may be hung up on before it has said all.
    let _ = stream.write_all(lines.as_bytes()).await;
    let mut answers = Vec::new();
    let _ = stream.read_to_end(&mut answers).await;
    String::from_utf8(answers).unwrap()
}

#[tokio::test]
async fn the_user_alone_is_no_credential() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = asked.clone();
    let handler: Handler = Arc::new(move |_, _| {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Box::pin(async { json!("done") })
    });
    let owner = Owner::acquire(data).unwrap();
    let talk = async {
        asked_until_answered(data).await;
        let socket = data.join("control.sock");
        let key = std::fs::read_to_string(data.join("control.key")).unwrap();
        assert_eq!(key.len(), 64);
        let wrong = "0".repeat(64);
        let cut = key.split_at(63).0;
        for first in [
            "",
            "{}",
            &wrong,
            cut,
            &format!("{key}0"),
            &"x".repeat(1 << 20),
        ] {
            assert_eq!(answered(&socket, &format!("{first}\n{{}}\n")).await, "");
        }
        assert_eq!(answered(&socket, "{}\n{}\n{}\n").await, "");
        assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
        key
    };
    let key = tokio::select! {
        ended = owner.serve(handler) => panic!("{ended:?}"),
        key = talk => key,
    };
    drop(owner);

    // The next owner has another.
    let owner = Owner::acquire(data).unwrap();
    tokio::select! {
        ended = owner.serve(echo()) => panic!("{ended:?}"),
        _ = asked_until_answered(data) => {}
    }
    assert_ne!(
        std::fs::read_to_string(data.join("control.key")).unwrap(),
        key
    );
}

#[tokio::test]
async fn many_commands_at_once_are_all_answered() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().to_owned();
    let owner = Owner::acquire(&data).unwrap();
    let talk = async {
        asked_until_answered(&data).await;
        let mut asking = tokio::task::JoinSet::new();
        for n in 0..100 {
            let data = data.clone();
            asking.spawn(async move { (n, request(&data, &json!(n), drop).await.unwrap()) });
        }
        for (n, answer) in asking.join_all().await {
            assert_eq!(answer, json!({ "asked": n }));
        }
    };
    tokio::select! {
        ended = owner.serve(echo()) => panic!("{ended:?}"),
        () = talk => {}
    }
}

#[tokio::test]
async fn where_nobody_runs_that_is_said() {
    let directory = tempfile::tempdir().unwrap();
    for data in [directory.path(), &directory.path().join("missing")] {
        let nobody = request(data, &json!({}), drop).await;
        assert!(matches!(nobody, Err(ControlError::NotRunning(_))));
    }
}

#[tokio::test]
async fn events_come_before_the_answer_and_end_with_their_peer() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let owner = Owner::acquire(data).unwrap();
    let (left, mut told) = tokio::sync::mpsc::unbounded_channel();
    let handler: Handler = Arc::new(move |count, events| {
        let left = left.clone();
        Box::pin(async move {
            for number in 1..=count.as_u64().unwrap_or(0) {
                events.tell(json!(number));
            }
            if count == json!("for ever") {
                events.tell(json!("begun"));
                events.closed().await;
                left.send(events.tell(json!("too late"))).unwrap();
            }
            json!("done")
        })
    });
    let talk = async {
        asked_until_answered(data).await;
        let mut heard = Vec::new();
        let answer = request(data, &json!(3), |event| heard.push(event)).await;
        assert_eq!(
            (json!(heard), answer.unwrap()),
            (json!([1, 2, 3]), json!("done"))
        );

        let begun = tokio::sync::Notify::new();
        let ask = json!("for ever");
        tokio::select! {
            answer = request(data, &ask, |_| begun.notify_one()) => panic!("{answer:?}"),
            () = begun.notified() => {}
        }
        assert_eq!(told.recv().await, Some(false), "nobody is told any more");
    };
    tokio::select! {
        ended = owner.serve(handler) => panic!("{ended:?}"),
        () = talk => {}
    }
}

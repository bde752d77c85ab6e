//! What the operator does not want to keep goes, by age and by size, and the disk has its space back while the
//! server runs. What is open stays.

use std::{fs, path::PathBuf};

use callgate_store::Store;

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

async fn write(store: &Store, sql: &'static str) {
    store.write(move |tx| Ok(tx.batch(sql)?)).await.unwrap();
}

async fn count(store: &Store, sql: &'static str) -> i64 {
    let count = store.read(move |tx| tx.scalar(sql, &[])).await;
    count.unwrap().unwrap()
}

fn size(scene: &Scene) -> u64 {
    fs::metadata(scene.data().join("callgate.db"))
        .unwrap()
        .len()
}

/// Four thousand messages of 1970, each of four kilobytes.
const OLD_LOG: &str =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
    INSERT INTO log (session, role, parts, written_at)
    SELECT 'cli:FriendMessage:operator', 'assistant',
           '[{\"type\":\"text\",\"text\":\"' || hex(zeroblob(2000)) || '\"}]', 0 FROM n";

#[test]
fn what_is_old_goes_while_the_server_runs_and_the_disk_has_its_space_back() {
    let scene = Scene::new();
    scene.callgate(&["send", "hello"]).succeeded();
    scene.stored(async |store| {
        write(&store, OLD_LOG).await;
        write(
            &store,
            "INSERT INTO outbox (session, parts, queued_at)
                 VALUES ('cli:FriendMessage:operator', '[]', 0);
             INSERT INTO model_request (session, principal, user_name, model, asked_at, attempts)
                 VALUES ('cli:FriendMessage:operator', 'system', 'system', 'm', 0, 1);
             INSERT INTO turn (id, session, principal, user_name, role, mode, model, depth, started_at,
                               stop)
                 VALUES (x'00000000000070000000000000000001', 'cli:FriendMessage:operator', 'system',
                         'system', 'member', 'tools', 'm', 0, 0, 'answered')",
        )
        .await;
        store.leave().await.unwrap();
    });
    let before = size(&scene);
    assert!(before > 16 << 20, "{before}");
    // Nothing goes unless somebody says so.
    let server = Server::start(&scene);
    assert_eq!(scene.callgate(&["send", "hello"]).succeeded().code, Some(0));
    assert!(size(&scene) >= before);

    let keep = "[keep]\nlog_days = 30\nturn_days = 30\nspending_days = 30\noutbox_days = 30\n";
    fs::write(scene.data().join("callgate.toml"), keep).unwrap();
    wait_until(|| size(&scene) < before / 8);
    assert_eq!(scene.callgate(&["send", "hello"]).succeeded().code, Some(0));
    server.end();
    scene.stored(async |store| {
        for (old, left) in [
            ("SELECT COUNT(*) FROM log WHERE written_at = 0", 0),
            ("SELECT COUNT(*) FROM outbox WHERE queued_at = 0", 0),
            ("SELECT COUNT(*) FROM model_request WHERE asked_at = 0", 0),
            ("SELECT COUNT(*) FROM turn WHERE started_at = 0", 0),
            ("SELECT COUNT(*) FROM turn", 3),
        ] {
            assert_eq!(count(&store, old).await, left, "{old}");
        }
    });
    assert_eq!(scene.said().len(), 6, "what is new is kept");
}

#[test]
fn a_log_that_is_too_large_loses_its_oldest() {
    let scene = Scene::configured("[keep]\nlog_megabytes = 1\n");
    scene.stored(async |store| write(&store, OLD_LOG).await);
    scene.callgate(&["send", "hello"]).succeeded();
    let rows = || scene.stored(async |store| count(&store, "SELECT COUNT(*) FROM log").await);
    let server = Server::start(&scene);
    wait_until(|| (200..300).contains(&rows()));
    server.end();
    let said = scene.said();
    assert_eq!(said[said.len() - 2].1, "hello");
}

fn files(scene: &Scene) -> Vec<String> {
    let sessions = fs::read_dir(scene.data().join("sessions")).unwrap();
    let folder: PathBuf = sessions.map(|it| it.unwrap().path()).next().unwrap();
    let names = fs::read_dir(folder.join("shared")).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn of_too_many_files_the_oldest_go() {
    let scene = Scene::new();
    // Whatever time their owner gives them.
    for (name, claimed) in [("a", "4e9"), ("b", "2e9"), ("c", "0")] {
        let code = format!(
            "import os\n\
             open('/app/shared/{name}', 'wb').write(b'x' * 600_000)\n\
             os.utime('/app/shared/{name}', ({claimed}, {claimed}))"
        );
        scene.run(&code, &[]).succeeded();
    }
    assert_eq!(files(&scene), ["a", "b", "c"]);
    fs::write(
        scene.data().join("callgate.toml"),
        "[keep]\nfile_megabytes = 1\n",
    )
    .unwrap();
    let server = Server::start(&scene);
    wait_until(|| files(&scene) == ["c"]);
    server.end();
}

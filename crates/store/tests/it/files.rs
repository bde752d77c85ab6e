//! Names, links, pipes and races: what the host may meet in a folder that code has written to.

use std::{
    fs,
    io::Read,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use callgate_store::{
    Store,
    files::{EntryKind, FileBounds, FileError, SessionFolders, Usage, jail_uid},
};
use callgate_testkit::Home;
use rustix::fs::{CWD, FileType, Mode};
use serde_json::json;

use crate::common::session;

/// A session's folders, and where `shared` lies on the disk.
struct Place {
    home: Home,
    store: Store,
    number: u32,
    folders: SessionFolders,
    shared: PathBuf,
}

async fn place() -> Place {
    let home = Home::sqlite();
    let store = home.open().await;
    let session = store.sessions().open(&session("a")).await.unwrap();
    let folders = store.files().session(&session).unwrap();
    let shared = store
        .files()
        .sessions_path()
        .join(session.id.to_string())
        .join("shared");
    Place {
        home,
        store,
        number: session.number,
        folders,
        shared,
    }
}

#[tokio::test]
async fn what_is_written_reads_back() {
    let place = place().await;
    let shared = &place.folders.shared;
    let longest = "n".repeat(255);
    for name in ["a.txt", "报告 📎.txt", "-rf", "...", "a\\b", &longest] {
        shared.write_atomic(name, b"old").unwrap();
        shared.write_atomic(name, name.as_bytes()).unwrap();
        assert_eq!(shared.read(name, 1000).unwrap(), name.as_bytes());
        assert_eq!(fs::read(place.shared.join(name)).unwrap(), name.as_bytes());
        let entry = shared.metadata(name).unwrap();
        assert_eq!(
            (entry.kind, entry.size),
            (EntryKind::File, name.len() as u64)
        );
        shared.remove(name).unwrap();
        assert!(matches!(shared.read(name, 10), Err(FileError::NotFound(_))));
    }
    assert_eq!(shared.list("", 10).unwrap(), []);
}

#[tokio::test]
async fn folders_are_made_listed_and_counted() {
    let place = place().await;
    let shared = &place.folders.shared;
    shared.create_dirs("数据/a/b").unwrap();
    shared.create_dirs("数据/a/b").unwrap();
    shared
        .write_atomic("数据/a/b/c.bin", &[1; 100_000])
        .unwrap();
    shared.write_atomic("数据/z", b"").unwrap();
    let names = |folder: &str, limit| {
        let list = shared.list(folder, limit).unwrap();
        list.into_iter()
            .map(|e| (e.name, e.kind))
            .collect::<Vec<_>>()
    };
    let expected = [
        ("a".to_owned(), EntryKind::Folder),
        ("z".to_owned(), EntryKind::File),
    ];
    assert_eq!(names("数据", 10), expected);
    assert_eq!(names("数据", 1).len(), 1);
    let usage = shared.usage(100).unwrap();
    assert_eq!((usage.entries, usage.complete), (5, true));
    assert!((100_000..300_000).contains(&usage.bytes), "{usage:?}");
    let bounded = shared.usage(2).unwrap();
    assert_eq!((bounded.entries, bounded.complete), (2, false));
    assert!(shared.remove("数据/a").is_err(), "not empty");
    assert!(matches!(
        shared.create_dirs("数据/z/y"),
        Err(FileError::NotFolder(_))
    ));
}

#[tokio::test]
async fn what_is_no_name_is_refused_and_told_why() {
    let place = place().await;
    let shared = &place.folders.shared;
    let long = "n".repeat(256);
    let deep = vec!["d"; 33].join("/");
    let huge = vec!["d".repeat(200); 6].join("/");
    for (name, problem) in [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("..", "not allowed"),
        ("../data/x", "not allowed"),
        ("a/../../x", "not allowed"),
        ("./a", "not allowed"),
        ("a//b", "part of it is empty"),
        ("a/", "part of it is empty"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        (&*long, "255"),
        (&*deep, "32 parts"),
        (&*huge, "1024"),
    ] {
        for refused in [
            shared.read(name, 1).err(),
            shared.write_atomic(name, b"x").err(),
            shared.metadata(name).err(),
            shared.remove(name).err(),
            shared.create_dirs(name).err(),
        ] {
            let text = refused.unwrap().to_string();
            assert!(text.contains(problem), "{name:?}: {text}");
        }
    }
    assert_eq!(shared.list("", 10).unwrap(), []);
}

#[tokio::test]
async fn links_are_not_followed_anywhere() {
    let place = place().await;
    let shared = &place.folders.shared;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "bait").unwrap();
    shared.write_atomic("own", b"mine").unwrap();
    symlink(outside.path().join("secret"), place.shared.join("file")).unwrap();
    symlink(outside.path(), place.shared.join("folder")).unwrap();
    symlink("own", place.shared.join("inner")).unwrap();
    symlink("/proc/self/root", place.shared.join("magic")).unwrap();
    for name in ["file", "folder/secret", "inner", "magic/etc/passwd"] {
        let refused = shared.read(name, 100);
        assert!(
            matches!(refused, Err(FileError::Link(_))),
            "{name}: {refused:?}"
        );
        // A link itself can be looked at; nothing behind it.
        let seen = shared.metadata(name).map(|entry| entry.kind);
        if name.contains('/') {
            assert!(matches!(seen, Err(FileError::Link(_))), "{name}: {seen:?}")
        } else {
            assert_eq!(seen.unwrap(), EntryKind::Other)
        }
    }
    assert!(shared.list("folder", 10).is_err());
    assert!(shared.create_dirs("folder/new").is_err());
    assert!(shared.write_atomic("folder/new", b"x").is_err());
    assert!(shared.remove("folder/secret").is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);

    // Replacing or removing a link touches the link alone.
    shared.write_atomic("file", b"new").unwrap();
    assert_eq!(shared.read("file", 10).unwrap(), b"new");
    shared.remove("folder").unwrap();
    let bait = fs::read_to_string(outside.path().join("secret")).unwrap();
    assert_eq!(bait, "bait");
    let others = shared.list("", 10).unwrap();
    let kinds: Vec<_> = others.iter().map(|e| (&*e.name, e.kind)).collect();
    let expected = [
        ("file", EntryKind::File),
        ("inner", EntryKind::Other),
        ("magic", EntryKind::Other),
        ("own", EntryKind::File),
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn only_regular_files_are_opened_and_a_pipe_hangs_nobody() {
    let place = place().await;
    let shared = &place.folders.shared;
    shared.create_dirs("folder").unwrap();
    let pipe = place.shared.join("pipe");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let socket = place.shared.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for name in ["pipe", "socket", "folder"] {
        let refused = shared.read(name, 10);
        assert!(
            matches!(refused, Err(FileError::NotRegular(_))),
            "{name}: {refused:?}"
        );
    }
    assert_eq!(shared.metadata("pipe").unwrap().kind, EntryKind::Other);
}

#[tokio::test]
async fn reading_stops_at_the_limit() {
    let place = place().await;
    let shared = &place.folders.shared;
    shared.write_atomic("f", &[7; 100]).unwrap();
    assert_eq!(shared.read("f", 100).unwrap().len(), 100);
    let refused = shared.read("f", 99);
    assert!(matches!(
        refused,
        Err(FileError::TooLarge { limit: 99, .. })
    ));
    let mut start = [0; 10];
    shared
        .open_read("f")
        .unwrap()
        .read_exact(&mut start)
        .unwrap();
    assert_eq!(start, [7; 10]);
}

#[tokio::test]
async fn a_failed_write_leaves_nothing() {
    let place = place().await;
    let shared = &place.folders.shared;
    shared.create_dirs("folder/full").unwrap();
    assert!(shared.write_atomic("folder", b"x").is_err());
    assert!(shared.write_atomic("missing/f", b"x").is_err());
    let left = fs::read_dir(&place.shared).unwrap().count();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn counting_survives_a_very_deep_tree() {
    let place = place().await;
    fs::create_dir_all(place.shared.join("d/".repeat(300))).unwrap();
    let Usage {
        complete, entries, ..
    } = place.folders.shared.usage(10_000).unwrap();
    assert!(!complete && entries >= 64, "{entries}");
}

#[tokio::test]
async fn paths_that_code_writes_name_a_folder_or_are_refused() {
    let place = place().await;
    let folders = &place.folders;
    folders.shared.write_atomic("x.txt", b"shared").unwrap();
    folders.uploads.write_atomic("x.txt", b"uploads").unwrap();
    for (path, expected) in [
        ("/app/shared/x.txt", "shared"),
        ("shared/x.txt", "shared"),
        ("/app/uploads/x.txt", "uploads"),
        ("uploads/x.txt", "uploads"),
    ] {
        let (folder, name) = folders.resolve(path).unwrap();
        assert_eq!(
            folder.read(name, 10).unwrap(),
            expected.as_bytes(),
            "{path}"
        );
    }
    for path in [
        "",
        "x.txt",
        "/app/shared",
        "/app/data/x",
        "data/x",
        "/etc/passwd",
        "/app/app/shared/x",
        "/shared/x",
        "app/shared/x",
    ] {
        let refused = folders.resolve(path);
        assert!(matches!(refused, Err(FileError::Outside(_))), "{path}");
    }
    let (folder, name) = folders.resolve("/app/shared/../data/x").unwrap();
    assert!(matches!(folder.read(name, 10), Err(FileError::Name { .. })));
}

#[tokio::test]
async fn folders_are_closed_to_others_and_belong_to_their_session() {
    let place = place().await;
    place.folders.shared.create_dirs("a/b").unwrap();
    place.folders.shared.write_atomic("a/f", b"x").unwrap();
    place.folders.uploads.write_atomic("f", b"x").unwrap();
    let session = place.shared.parent().unwrap();
    let root = rustix::process::geteuid().is_root();
    let own = rustix::process::geteuid().as_raw();
    let jailed = if root { jail_uid(place.number) } else { own };
    let passage = if root { 0o711 } else { 0o700 };
    for (path, mode, owner) in [
        ("..", passage, own),
        (".", passage, own),
        ("data", 0o700, own),
        ("shared", 0o700, jailed),
        ("uploads", 0o700, jailed),
        ("shared/a/b", 0o700, jailed),
        ("shared/a/f", 0o600, jailed),
        ("uploads/f", 0o600, jailed),
    ] {
        let found = fs::metadata(session.join(path)).unwrap();
        let found = (found.permissions().mode() & 0o777, found.uid());
        assert_eq!(found, (mode, owner), "{path}");
    }
}

#[tokio::test]
async fn merges_of_one_document_lose_no_key() {
    let place = place().await;
    // A second store on the same directory, as another process would have.
    let other = place.home.open().await;
    let mut merging = tokio::task::JoinSet::new();
    for n in 0..40 {
        let files = if n % 2 == 0 { &place.store } else { &other }
            .files()
            .clone();
        let data = place.folders.data.clone();
        merging.spawn(async move {
            let change = json!({ format!("键{n}"): n, "last": n });
            let change = change.as_object().unwrap().clone();
            files
                .merge_json(&data, "状态/a.json", change)
                .await
                .unwrap();
        });
    }
    merging.join_all().await;
    let files = place.store.files();
    let document = files.read_json(&place.folders.data, "状态/a.json").unwrap();
    let document = document.unwrap();
    assert_eq!(document.len(), 41);
    assert_eq!(document["键39"], 39);
    assert_eq!(files.read_json(&place.folders.data, "none").unwrap(), None);
}

#[tokio::test]
async fn what_is_no_document_is_left_alone() {
    let place = place().await;
    let data = &place.folders.data;
    for text in ["[1]", "{\"a\":", ""] {
        data.write_atomic("f", text.as_bytes()).unwrap();
        let files = place.store.files();
        let change = json!({"a": 1}).as_object().unwrap().clone();
        let refused = files.merge_json(data, "f", change).await;
        assert!(matches!(refused, Err(FileError::NotJson { .. })));
        assert_eq!(data.read("f", 10).unwrap(), text.as_bytes());
    }
}

#[tokio::test]
async fn unfinished_files_of_the_dead_are_swept_and_those_of_the_living_are_not() {
    let place = place().await;
    let nested = place.shared.join("a/b");
    fs::create_dir_all(&nested).unwrap();
    let (dead, living) = (
        nested.join(".callgate-dead"),
        nested.join(".callgate-living"),
    );
    fs::write(&dead, "x").unwrap();
    let held = fs::File::create(&living).unwrap();
    held.lock().unwrap();
    fs::write(nested.join("own.txt"), "x").unwrap();
    // What lies behind a link is not ours to remove.
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join(".callgate-outside");
    fs::write(&outside, "x").unwrap();
    symlink(elsewhere.path(), place.shared.join("link")).unwrap();

    let _store = place.home.open().await;
    while dead.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    drop(held);
    let _store = place.home.open().await;
    while living.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(outside.exists());
    assert!(nested.join("own.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_sweep_disturbs_no_writer() {
    let place = place().await;
    let folder = place.folders.shared.clone();
    let writing = tokio::task::spawn_blocking(move || {
        for n in 0..2_000 {
            folder
                .write_atomic("f.txt", format!("{n}").as_bytes())
                .unwrap();
        }
    });
    while !writing.is_finished() {
        place.home.open().await;
    }
    writing.await.unwrap();
    assert_eq!(fs::read(place.shared.join("f.txt")).unwrap(), b"1999");
}

/// By when the system saw the last change, whatever time the file claims.
#[tokio::test]
async fn files_that_were_changed_before_a_day_go() {
    let place = place().await;
    let shared = &place.folders.shared;
    let day = Duration::from_secs(24 * 60 * 60);
    for (name, claimed) in [
        ("a", SystemTime::UNIX_EPOCH),
        ("b", SystemTime::now() + 9 * day),
    ] {
        shared.write_atomic(name, b"x").unwrap();
        let file = fs::File::options()
            .write(true)
            .open(place.shared.join(name));
        file.unwrap().set_modified(claimed).unwrap();
    }
    shared.create_dirs("kept").unwrap();
    let forget = |since| {
        let bounds = FileBounds {
            since: Some(since),
            bytes: None,
        };
        place.store.files().forget(bounds).unwrap()
    };
    assert_eq!(forget(SystemTime::now() - day), 0);
    assert_eq!(forget(SystemTime::now() + day), 2);
    assert_eq!(fs::read_dir(&place.shared).unwrap().count(), 1);
}

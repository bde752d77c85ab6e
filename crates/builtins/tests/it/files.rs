//! `read_file`.

use crate::scene::{Scene, caller};

#[tokio::test]
async fn text_is_shown_in_full_with_its_page() {
    let scene = Scene::new().await;
    let folders = scene.folders().await;
    folders
        .shared
        .write_atomic("a.txt", "héllo\n世界".as_bytes())
        .unwrap();
    folders
        .uploads
        .write_atomic("bom.txt", "\u{FEFF}x".as_bytes())
        .unwrap();
    folders.shared.write_atomic("empty.txt", b"").unwrap();
    for (path, expect) in [
        (
            "/app/shared/a.txt",
            "[/app/shared/a.txt, page 1 of 1]\nhéllo\n世界",
        ),
        ("uploads/bom.txt", "[uploads/bom.txt, page 1 of 1]\nx"),
        (
            "/app/shared/empty.txt",
            "[/app/shared/empty.txt, page 1 of 1]\n",
        ),
    ] {
        let outcome = scene.call("read_file", [path.into()]).await.unwrap();
        assert_eq!(outcome.text.as_deref(), Some(expect));
        assert!(outcome.kind.ends_script());
    }
}

#[tokio::test]
async fn a_long_file_is_read_page_by_page() {
    let scene = Scene::new().await;
    let text: String = (0..5000).map(|number| format!("line {number}\n")).collect();
    scene
        .folders()
        .await
        .shared
        .write_atomic("long.txt", text.as_bytes())
        .unwrap();
    let path = "/app/shared/long.txt";
    let mut read = String::new();
    for page in 1..=3 {
        let shown = scene
            .call("read_file", [path.into(), page.into()])
            .await
            .unwrap()
            .text
            .unwrap();
        let body = shown
            .strip_prefix(&format!("[{path}, page {page} of 3]\n"))
            .unwrap();
        let next = format!("\n[go on with read_file(\"{path}\", page={})]", page + 1);
        read += body.strip_suffix(&next).unwrap_or(body);
        assert_eq!(body.ends_with(&next), page < 3);
    }
    assert_eq!(read, text);
    let beyond = scene.refusal("read_file", [path.into(), 4.into()]).await;
    assert_eq!(beyond, format!("'{path}' has 3 pages: there is no page 4"));
    let zero = scene.refusal("read_file", [path.into(), 0.into()]).await;
    assert!(
        zero.ends_with("argument 'page' must be at least 1, not int 0"),
        "{zero}"
    );
}

#[tokio::test]
async fn what_is_not_text_says_what_to_do() {
    let scene = Scene::new().await;
    let shared = scene.folders().await.shared;
    shared.write_atomic("latin.txt", b"caf\xe9").unwrap();
    shared
        .write_atomic("image.txt", b"\x89PNG\r\n\x1a\n\xff\xfe")
        .unwrap();
    shared
        .write_atomic("big.txt", &vec![b'x'; (32 << 20) + 1])
        .unwrap();
    for (path, expect) in [
        (
            "/app/shared/latin.txt",
            "'/app/shared/latin.txt' is not UTF-8 text",
        ),
        (
            "/app/shared/image.txt",
            "call view_image(\"/app/shared/image.txt\")",
        ),
        ("/app/shared/big.txt", "is larger than"),
        ("/app/shared/none.txt", "no file 'none.txt'"),
        ("/app/shared", "is outside"),
        ("/etc/passwd", "is outside"),
        ("/app/shared/../data/x", "cannot be a file name"),
    ] {
        let refusal = scene.refusal("read_file", [path.into()]).await;
        assert!(refusal.contains(expect), "{refusal}");
    }
}

#[tokio::test]
async fn another_sessions_files_are_not_there() {
    let scene = Scene::new().await;
    scene
        .folders()
        .await
        .shared
        .write_atomic("mine.txt", b"x")
        .unwrap();
    let bob = caller("cli:FriendMessage:bob");
    let refused = scene
        .call_as(&bob, "read_file", ["/app/shared/mine.txt".into()])
        .await;
    assert_eq!(refused.unwrap_err().to_string(), "no file 'mine.txt'");
}

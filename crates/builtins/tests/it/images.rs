//! `view_image`.

use callgate_contract::Part;

use crate::scene::Scene;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

#[tokio::test]
async fn the_bytes_decide_what_an_image_is() {
    let scene = Scene::new().await;
    let shared = scene.folders().await.shared;
    for (bytes, expect) in [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0rest".as_slice(), "image/jpeg"),
        (b"GIF89arest", "image/gif"),
        (b"GIF87arest", "image/gif"),
        (b"RIFF\x01\x02\x03\x04WEBPrest", "image/webp"),
    ] {
        shared.write_atomic("wrong.name", bytes).unwrap();
        let outcome = scene
            .call("view_image", ["/app/shared/wrong.name".into()])
            .await
            .unwrap();
        let [Part::Text { text }, Part::Image { url }] = outcome.parts.as_slice() else {
            panic!("{:?}", outcome.parts)
        };
        assert_eq!(
            *text,
            format!("/app/shared/wrong.name ({expect}, {} bytes)", bytes.len())
        );
        assert!(url.starts_with(&format!("data:{expect};base64,")), "{url}");
    }
}

#[tokio::test]
async fn a_data_url_is_looked_at_and_not_believed() {
    let scene = Scene::new().await;
    let url = "data:image/jpeg;base64,iVBORw0KGgpyZXN0";
    let outcome = scene.call("view_image", [url.into()]).await.unwrap();
    let image = Part::Image {
        url: "data:image/png;base64,iVBORw0KGgpyZXN0".into(),
    };
    assert_eq!(
        outcome.parts,
        [Part::text("the image given (image/png, 12 bytes)"), image]
    );
}

#[tokio::test]
async fn what_is_no_image_is_refused() {
    let scene = Scene::new().await;
    let shared = scene.folders().await.shared;
    shared.write_atomic("text.png", b"hello").unwrap();
    let largest = 5 << 20;
    shared
        .write_atomic("large.png", &[PNG, &vec![0; largest]].concat())
        .unwrap();
    for (path, expect) in [
        (
            "/app/shared/text.png".to_owned(),
            "is not a PNG, JPEG, GIF or WebP image",
        ),
        ("/app/shared/large.png".to_owned(), "is larger than"),
        ("/app/shared/none.png".to_owned(), "no file"),
        ("/etc/logo.png".to_owned(), "is outside"),
        (
            "data:image/png,raw".to_owned(),
            "must be data:image/...;base64,...",
        ),
        (
            "data:image/png;base64,***".to_owned(),
            "must be data:image/...;base64,...",
        ),
        ("data:image/png;base64,aGVsbG8=".to_owned(), "is not a PNG"),
        (
            format!("data:image/png;base64,{}", "A".repeat(largest / 3 * 4 + 8)),
            "larger than 5 MB",
        ),
    ] {
        let refusal = scene.refusal("view_image", [path.into()]).await;
        assert!(refusal.contains(expect), "{refusal}");
    }
}

#[tokio::test]
async fn the_largest_image_passes() {
    let scene = Scene::new().await;
    let bytes = [PNG, &vec![0; (5 << 20) - PNG.len()]].concat();
    scene
        .folders()
        .await
        .shared
        .write_atomic("large.png", &bytes)
        .unwrap();
    let outcome = scene
        .call("view_image", ["/app/shared/large.png".into()])
        .await
        .unwrap();
    assert_eq!(outcome.parts.len(), 2);
}

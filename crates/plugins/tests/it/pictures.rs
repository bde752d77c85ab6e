//! Pages to pictures, by a real browser.

use std::net::TcpListener;

use callgate_contract::Value;
use serde_json::{Value as Json, json};

use crate::scene::Scene;

const ASKING: &str = "\
from callgate_worker import host
async def draw(html, options):
    return await host.call('html_render', html=html, options=options)
";

async fn draw(scene: &Scene, html: &str, options: Json) -> Result<Vec<u8>, String> {
    let options = callgate_contract::json::from_json(options).unwrap();
    let drawn = scene.call("draw", vec![html.into(), options]).await;
    match drawn.map_err(|error| error.to_string())?.value {
        Value::Bytes(bytes) => Ok(bytes),
        other => panic!("{other:?}"),
    }
}

/// Of a PNG.
fn size(picture: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!(&picture[1..4], b"PNG");
    (number(16), number(20))
}

#[tokio::test]
async fn a_page_is_drawn_whole_by_a_browser_that_reaches_nobody() {
    let scene = Scene::new().await;
    scene.load("asking", ASKING).await.unwrap();
    let witness = TcpListener::bind("127.0.0.1:0").unwrap();
    witness.set_nonblocking(true).unwrap();
    let port = witness.local_addr().unwrap().port();
    // The picture is taken when the page has settled: by then all of these have been tried.
    let page = format!(
        "<body style='margin:0'><div style='height:2000px'>{{}}</div>\
         <img src='http://127.0.0.1:{port}/a.png'><img src='file:///etc/hostname'>\
         <script src='http://localhost:{port}/b.js'></script></body>"
    );
    let drawn = draw(
        &scene,
        &page,
        json!({"viewport": {"width": 400, "height": 300}}),
    )
    .await;
    let (width, height) = size(&drawn.unwrap());
    assert_eq!(width, 400);
    assert!(height >= 2000, "{height}");
    assert!(witness.accept().is_err(), "the page reached the network");

    let clip = json!({"clip": {"x": 0, "y": 0, "width": 50, "height": 40}});
    assert_eq!(size(&draw(&scene, "hello", clip).await.unwrap()), (50, 40));
    let jpeg = json!({"type": "jpeg", "quality": 50, "full_page": false});
    let drawn = draw(&scene, "hello", jpeg).await.unwrap();
    assert_eq!(drawn[..3], [0xff, 0xd8, 0xff]);
}

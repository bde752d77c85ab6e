//! `now`.

use callgate_contract::Value;

use crate::scene::Scene;

#[tokio::test]
async fn the_time_has_the_offset_of_its_zone() {
    let scene = Scene::new().await;
    for (zone, offset) in [
        ("UTC", "+00:00"),
        ("Asia/Shanghai", "+08:00"),
        ("Asia/Kolkata", "+05:30"),
    ] {
        let Value::DateTime(text) = scene.value("now", [zone.into()]).await else {
            panic!("not a datetime")
        };
        assert!(text.ends_with(offset), "{text}");
    }
    for zone in [vec![], vec![Value::Null]] {
        let arguments = callgate_contract::Arguments {
            positional: zone,
            named: vec![],
        };
        let sequence = 100 + arguments.positional.len() as u64;
        let outcome = scene
            .gate
            .call(&scene.caller, sequence, "now", arguments)
            .await
            .unwrap();
        assert!(matches!(outcome.value, Value::DateTime(_)));
    }
}

#[tokio::test]
async fn an_unknown_zone_says_so() {
    let scene = Scene::new().await;
    let refusal = scene.refusal("now", ["Mars/Base".into()]).await;
    assert_eq!(
        refusal,
        "no time zone 'Mars/Base': use an IANA name such as Europe/Berlin"
    );
}

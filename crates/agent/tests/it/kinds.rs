//! What each kind does to its script: value back, system row, new round, parts.

use callgate_agent::{Observation, Task};
use callgate_contract::{Part, Stop};
use callgate_testkit::Home;

use crate::scene::{Ran, caller, coder};

async fn rows(store: &callgate_store::Store) -> Vec<String> {
    let rows = store.log().list(&caller().session, 10).await.unwrap();
    rows.iter().map(|row| format!("{:?}", row.parts)).collect()
}

#[tokio::test]
async fn each_kind_has_its_effect() {
    for (code, stop, stdout, row, observation) in [
        ("look x\nlook y", Stop::Finished, "saw x;saw y;", None, None),
        (
            "note x\nlook y",
            Stop::Finished,
            "noted x;saw y;",
            Some("noted x"),
            None,
        ),
        (
            "search x\nlook y",
            Stop::Agent,
            "",
            Some("found x"),
            Some(Observation::Text("found x".into())),
        ),
        (
            "show x\nlook y",
            Stop::Multimodal,
            "",
            None,
            Some(Observation::Parts(vec![Part::text("picture of x")])),
        ),
    ] {
        let home = Home::sqlite();
        let store = home.open().await;
        let coder = coder(store.clone(), Default::default(), &Ran::default());
        let report = coder.run(caller(), Task::new(code)).await.unwrap();
        assert_eq!(
            (report.stop, report.stdout.as_str()),
            (stop, stdout),
            "{code}"
        );
        assert_eq!(report.observation, observation, "{code}");
        let rows = rows(&store).await;
        match row {
            Some(text) => assert!(
                rows.len() == 1 && rows[0].contains(text),
                "{code}: {rows:?}"
            ),
            None => assert!(rows.is_empty(), "{code}: {rows:?}"),
        }
    }
}

#[tokio::test]
async fn the_report_names_arguments_and_answers() {
    let home = Home::sqlite();
    let coder = coder(home.open().await, Default::default(), &Ran::default());
    let report = coder
        .run(caller(), Task::new("look x\nlook fail\nlook y"))
        .await
        .unwrap();
    assert_eq!(report.stop, Stop::Error);
    assert_eq!(report.error.as_deref(), Some("it failed"));
    let json = serde_json::to_value(&report).unwrap();
    let calls = json["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["method"], "look");
    assert_eq!(calls[0]["kind"], "tool");
    assert_eq!(calls[0]["arguments"], serde_json::json!({"text": "x"}));
    assert_eq!(calls[0]["value"], "saw x");
    assert_eq!(calls[1]["error"], "it failed");
}
